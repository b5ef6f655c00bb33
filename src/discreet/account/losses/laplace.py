"""Laplace losses: continuous Laplace noise."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, positive, whole
from discreet.account.numeric.pair import Array, Pair, two_sided
from discreet.account.numeric.rounding import CALL, DIGITS, decimal, excess, precise, raised, up, zeros
from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True)
class LaplaceProfile:
    """delta(e) = 1 - e^((e - epsilon)/2) for e from 0 to epsilon: the profile of one draw of continuous noise."""

    peak: float

    def epsilon(self, delta: float) -> float:
        """Return epsilon + 2 ln(1 - delta), rounded up."""
        return max(0.0, (self.peak + 2 * math.log1p(-delta)) + CALL * (self.peak + abs(math.log1p(-delta))))

    def delta(self, epsilon: float) -> float:
        """Return 1 - e^((e - epsilon)/2), rounded up."""
        below = self.peak - epsilon  # rounded, relative to itself
        return max(0.0, -math.expm1(-below / 2)) * (1 + CALL)


@dataclass(frozen=True, slots=True, repr=False)
class Laplace(PrivacyLoss):
    """Continuous Laplace noise of the given scale, for l1-sensitivity 1.

    With epsilon = 1/scale the loss is epsilon with probability 1/2, -epsilon with probability e^-epsilon/2, and in
    between it has density e^((loss - epsilon)/2)/4.

    Guarantee: epsilon-differential privacy with epsilon = 1/scale, and all that follows from the loss above.
    """

    scale: Number

    def __post_init__(self) -> None:
        PrivacyLoss.__post_init__(self)
        object.__setattr__(self, "scale", positive("scale", self.scale))

    @property
    def peak(self) -> Number:
        """1/scale."""
        return 1 / Fraction(self.scale)

    @property
    def rho(self) -> Number:
        """The divergence of order 1, epsilon + e^-epsilon - 1.

        The moment of order alpha = u + 1/2 is proportional to 2 cosh(u epsilon) + sinh(u epsilon)/u, an even entire
        function whose zeros are all imaginary (u = iy with y cot(y epsilon) = -1/2, a Sturm-Liouville problem). Hence
        its logarithm is concave in u^2, and divergence/alpha, the slope of a chord, falls with alpha.
        """
        epsilon = Fraction(self.peak)
        with precise(DIGITS + 2 * zeros(epsilon)):
            each = decimal(epsilon)
            return raised(each + (-each).exp() - 1, each * each if each < 1 else Decimal(1) * each)

    @property
    def closed(self) -> LaplaceProfile:
        """The profile of one draw."""
        return LaplaceProfile(up(self.peak))

    @property
    def dominated(self) -> bool:
        """By the noise around 0 and around 1."""
        return True

    def pair(self, tail: float) -> Pair:
        """Return the pair of the noise around 0 and around 1."""
        epsilon = up(self.peak)
        ends, half = np.array([epsilon, -epsilon]), np.array([0.5, 0.5 * math.exp(-epsilon)])
        return two_sided(epsilon, 0.25, tail).with_lumps(ends, ends, half, half[::-1])

    def divergence(self, alphas: Array) -> Array:
        """Return the divergences in closed form (Mironov 2017, Proposition 6), rounded up.

        The moment, (alpha e^((alpha - 1) epsilon) + (alpha - 1) e^(-alpha epsilon)) / (2 alpha - 1), exceeds 1 by the
        same mean of e^x - 1 - x, in which the two first-order terms have cancelled and all are positive.
        """
        epsilon = up(self.peak)
        rise, fall = (alphas - 1) * epsilon, alphas * epsilon
        more = alphas * excess(np.minimum(rise, 100.0)) + (alphas - 1) * excess(-np.minimum(fall, 700.0))
        near = np.log1p(more / (2 * alphas - 1)) * (1 + 8 * CALL)
        # Far out the second term is nothing: (alpha - 1)/alpha e^-100.
        far = rise + np.log(alphas / (2 * alphas - 1)) + CALL * (2 + rise)
        return np.asarray(np.minimum(np.where(rise < 100, near, far) / (alphas - 1) * (1 + CALL), epsilon))

    def group(self, k: int) -> Laplace:
        """Return the loss at sensitivity k.

        Guarantee: a group of k moves the answer by at most k.
        """
        return Laplace(Fraction(self.scale) / whole("k", k), relation=self.relation)
