"""Approximate differential privacy: epsilon, except for an event of probability delta."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.account.losses.loss import PrivacyLoss, settle
from discreet.account.losses.pure import response_divergence, response_rho
from discreet.account.numeric.checks import Number, failure, nonnegative, whole
from discreet.account.numeric.pair import Array, Pair, response
from discreet.account.numeric.rounding import DIGITS, decimal, precise, raised, up, zeros
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation
from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Approx(PrivacyLoss):
    """Any mechanism that is (epsilon, delta)-differentially private.

    Guarantee: as stated, for all events. It is a post-processing of the four-point mechanism (U, V): all is told with
    probability delta, else randomized response at epsilon (Kairouz, Oh, Viswanath 2015).
    """

    epsilon0: Number
    delta0: Number

    def __init__(self, epsilon: Number, delta: Number, *, relation: Relation = "add_remove") -> None:
        settle(self, relation, epsilon0=nonnegative("epsilon", epsilon), delta0=failure("delta", delta))

    @property
    def slack(self) -> Number:
        """The delta."""
        return self.delta0

    @property
    def peak(self) -> Number:
        """The epsilon."""
        return self.epsilon0

    @property
    def rho(self) -> Number:
        """That of randomized response."""
        return response_rho(self.epsilon0)

    @property
    def response(self) -> float:
        """The epsilon."""
        return up(self.epsilon0)

    @property
    def dominated(self) -> bool:
        """By the four-point mechanism."""
        return True

    def pair(self, _tail: float) -> Pair:
        """Return the pair of the four-point mechanism."""
        return response(up(self.epsilon0), up(self.delta0))

    def divergence(self, alphas: Array) -> Array:
        """Return the divergences of randomized response."""
        return response_divergence(up(self.epsilon0), alphas)

    def group(self, k: int) -> Approx:
        """Return (k epsilon, delta (e^(k epsilon) - 1)/(e^epsilon - 1)), which is at most k e^((k-1) epsilon) delta.

        Guarantee: k steps, of which step i is seen through i - 1 factors e^epsilon: delta sum_{i<k} e^(i epsilon).
        """
        delta = group_delta(whole("k", k), self.epsilon0, self.delta0)
        if delta >= 1:
            why = f"a group of {k} has no guarantee: its delta would be {float(delta):g}"
            raise BadParameter("k", k, why=why, fix="use a smaller group, epsilon or delta")
        return Approx(Fraction(self.epsilon0) * k, delta, relation=self.relation)


def group_delta(k: int, epsilon: Number, delta: Number) -> Number:
    """Return the delta of a group of k, rounded up."""
    if k == 1 or delta == 0:
        return delta
    if epsilon == 0:
        return Fraction(delta) * k
    if k * Fraction(epsilon) > 700:
        return math.inf
    with precise(DIGITS + zeros(epsilon)):
        growth = decimal(epsilon).exp()
        return raised(decimal(delta) * (growth**k - 1) / (growth - 1))
