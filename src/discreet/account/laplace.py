"""Laplace losses: continuous Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from discreet.account.checks import Number, positive, whole
from discreet.account.loss import PrivacyLoss
from discreet.account.pair import Array, Pair, two_sided
from discreet.account.upward import DIGITS, decimal, precise, raised, up, zeros


@dataclass(frozen=True, slots=True)
class LaplaceProfile:
    """delta(e) = 1 - e^((e - epsilon)/2) for e from 0 to epsilon: the profile of one draw of continuous noise."""

    peak: float

    def epsilon(self, delta: float) -> float:
        """Return epsilon + 2 ln(1 - delta), rounded up."""
        return max(0.0, (self.peak + 2 * math.log1p(-delta)) + 2.0**-51 * (self.peak + abs(math.log1p(-delta))))

    def delta(self, epsilon: float) -> float:
        """Return 1 - e^((e - epsilon)/2), rounded up."""
        return max(0.0, -math.expm1((epsilon - self.peak) / 2)) * (1 + 2.0**-50) + 2.0**-52 * self.peak


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
        """Return the divergences in closed form (Mironov 2017, Proposition 6), rounded up."""
        epsilon = up(self.peak)
        near = np.log(alphas / (2 * alphas - 1)) + (alphas - 1) * epsilon
        with np.errstate(divide="ignore"):
            far = np.log((alphas - 1) / (2 * alphas - 1)) - alphas * epsilon
        moments = np.maximum(np.logaddexp(near, far), 0.0) + 2.0**-50 * (2 + np.abs(near))
        return np.asarray(np.minimum(moments / (alphas - 1), epsilon))

    def group(self, k: int) -> Laplace:
        """Return the loss at sensitivity k.

        Guarantee: a group of k moves the answer by at most k.
        """
        return Laplace(Fraction(self.scale) / whole("k", k), relation=self.relation)
