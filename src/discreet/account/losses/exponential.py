"""The exponential mechanism and its like: losses of bounded range."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.account.losses.loss import PrivacyLoss, settle
from discreet.account.numeric.checks import Number, nonnegative, whole
from discreet.account.numeric.pair import Array, Pair, lumps, two_sided
from discreet.account.numeric.rounding import sloped, up
from discreet.core.unit import Relation
from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Exponential(PrivacyLoss):
    """The exponential mechanism (or Gumbel noisy maximum) with weights e^(epsilon score / (2 sensitivity)).

    On any two neighbours the loss lies in an interval [t - epsilon, t] (Durfee and Rogers 2019), so delta at e is
    at most that of the worst t, (1 - e^((e - epsilon)/2))^2 / (1 - e^-epsilon) (Dong, Durfee, Rogers 2020). One pair
    has this curve: losses of density e^((loss - epsilon)/2) / (2 (1 - e^-epsilon)). It dominates every t at once and
    so adaptive composition, which costs more than composition fixed in advance (ibid.). It is not attained by one
    t, so in long compositions rho = epsilon^2/8 says more: both are asked, and the smaller answer is given.

    Guarantee: epsilon-differential privacy and epsilon^2/8-zCDP (Cesar and Rogers 2021), adaptively.
    """

    epsilon0: Number

    def __init__(self, epsilon: Number, *, relation: Relation = "add_remove") -> None:
        settle(self, relation, epsilon0=nonnegative("epsilon", epsilon))

    @property
    def exact(self) -> bool:
        """Not attained: every t alone is better than all of them at once."""
        return False

    @property
    def peak(self) -> Number:
        """The epsilon."""
        return self.epsilon0

    @property
    def rho(self) -> Number:
        """epsilon^2/8."""
        return Fraction(self.epsilon0) ** 2 / 8

    @property
    def dominated(self) -> bool:
        """By the pair above."""
        return True

    def pair(self, tail: float) -> Pair:
        """Return the pair that dominates every interval."""
        epsilon = up(self.epsilon0)
        if epsilon == 0:
            return lumps((0.0, 0.0, 1.0, 1.0))
        return two_sided(epsilon, -0.5 / math.expm1(-epsilon), tail)

    def divergence(self, alphas: Array) -> Array:
        """Return rho alpha, or epsilon where that is smaller."""
        return np.minimum(sloped(self.rho, alphas), up(self.epsilon0))

    def group(self, k: int) -> Exponential:
        """Return k epsilon.

        Guarantee: the ranges of k steps add up.
        """
        return Exponential(Fraction(self.epsilon0) * whole("k", k), relation=self.relation)
