"""Pure differential privacy, and randomized response, the worst mechanism that is pure."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from discreet.account.losses.loss import PrivacyLoss, settle
from discreet.account.numeric.checks import Number, nonnegative, whole
from discreet.account.numeric.pair import Array, Pair, response
from discreet.account.numeric.rounding import CALL, DIGITS, decimal, precise, raised, up, zeros
from discreet.core.unit import Relation
from discreet.core.value import dataclass
from discreet.noise.arrays import np


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Pure(PrivacyLoss):
    """Any mechanism whose privacy loss never exceeds epsilon.

    Guarantee: epsilon-differential privacy. All the rest follows from randomized response at epsilon, of which every
    such mechanism is a post-processing on each pair of neighbours (Kairouz, Oh, Viswanath 2015).
    """

    epsilon0: Number

    def __init__(self, epsilon: Number, *, relation: Relation = "add_remove") -> None:
        settle(self, relation, epsilon0=nonnegative("epsilon", epsilon))

    @property
    def peak(self) -> Number:
        """The epsilon."""
        return self.epsilon0

    @property
    def rho(self) -> Number:
        """That of randomized response, epsilon tanh(epsilon/2); see `response_divergence`."""
        return response_rho(self.epsilon0)

    @property
    def response(self) -> float:
        """The epsilon."""
        return up(self.epsilon0)

    @property
    def dominated(self) -> bool:
        """By randomized response."""
        return True

    def pair(self, _tail: float) -> Pair:
        """Return the pair of randomized response."""
        return response(up(self.epsilon0))

    def divergence(self, alphas: Array) -> Array:
        """Return the divergences of randomized response."""
        return response_divergence(up(self.epsilon0), alphas)

    def group(self, k: int) -> PrivacyLoss:
        """Return k epsilon.

        Guarantee: k steps of at most epsilon each.
        """
        return Pure(Fraction(self.epsilon0) * whole("k", k), relation=self.relation)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RandomizedResponse(Pure):
    """The truth with odds e^epsilon : 1; for Bernoulli(1/2 + bias b) answers, epsilon is 2 artanh(2 bias).

    Guarantee: epsilon-differential privacy, attained.
    """

    def __init__(self, epsilon: Number, *, relation: Relation = "add_remove") -> None:
        settle(self, relation, epsilon0=nonnegative("epsilon", epsilon))


def response_rho(epsilon: Number) -> Number:
    """Return epsilon tanh(epsilon/2), rounded up."""
    if epsilon == 0:
        return 0
    with precise(DIGITS + zeros(epsilon)):
        each = decimal(epsilon)
        decay = (-each).exp()
        return raised(each * (1 - decay) / (1 + decay), each * each if each < 1 else Decimal(1))


def response_divergence(epsilon: float, alphas: Array) -> Array:
    """Return the divergences of randomized response, rounded up.

    With u = alpha - 1/2, the moment of order alpha is cosh(u epsilon)/cosh(epsilon/2), so divergence/alpha is the
    slope of a chord of s -> ln cosh sqrt(s), which is concave: it falls with alpha, from its limit at order 1.
    """
    if epsilon == 0:
        return np.zeros(len(alphas))
    # cosh x - cosh y = 2 sinh((x + y)/2) sinh((x - y)/2): a product, so orders near 1 do not cancel. Where that
    # would overflow, ln cosh x - ln cosh y = (x - y) + ln(1 + e^-2x) - ln(1 + e^-2y).
    x, y, above = (alphas - 0.5) * epsilon, epsilon / 2, (alphas - 1) * epsilon
    some = np.minimum(alphas * epsilon / 2, 100.0)
    near = np.log1p(2 * np.sinh(some) * np.sinh(np.minimum(above / 2, 100.0)) / math.cosh(min(y, 100.0))) * (
        1 + 8 * CALL
    )
    far = above + np.log1p(np.exp(-2 * x)) - math.log1p(math.exp(-2 * y)) + CALL * (1 + x)
    return np.asarray(np.minimum(np.where(x < 100, near, far) / (alphas - 1) * (1 + CALL), epsilon))
