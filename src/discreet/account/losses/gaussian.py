"""Gaussian losses: continuous Gaussian noise, and Gaussian differential privacy (Dong, Roth, Su 2022)."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction

from discreet.account.losses.loss import PrivacyLoss, settle
from discreet.account.numeric.checks import Number, nonnegative, positive, whole
from discreet.account.numeric.pair import Array, Pair, normal
from discreet.account.numeric.rounding import sloped, up
from discreet.core.unit import Relation
from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Normal(PrivacyLoss):
    """What both kinds share: the loss of N(mu, 1) against N(0, 1), itself normal with mean mu^2/2 and variance mu^2."""

    @property
    @abstractmethod
    def exact_mu(self) -> Fraction:
        """The mu, exactly."""

    @property
    def mu(self) -> float:
        """The mu, rounded up."""
        return up(self.exact_mu)

    @property
    def mu_squared(self) -> Number:
        """mu^2, exactly."""
        return self.exact_mu**2

    @property
    def peak(self) -> Number:
        """Unbounded, unless there is no loss at all."""
        return math.inf if self.exact_mu else 0

    @property
    def rho(self) -> Number:
        """mu^2/2 (Bun and Steinke 2016, Proposition 1.6)."""
        return self.exact_mu**2 / 2

    @property
    def dominated(self) -> bool:
        """By the pair of normals."""
        return True

    def pair(self, tail: float) -> Pair:
        """Return N(mu, 1), N(0, 1)."""
        return normal(self.mu, tail)

    def divergence(self, alphas: Array) -> Array:
        """Return alpha mu^2/2, exactly the divergence of every order (Mironov 2017, Proposition 7)."""
        return sloped(self.rho, alphas)


@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(Normal):
    """Continuous Gaussian noise of standard deviation sigma, for l2-sensitivity 1.

    For a vector and noise of covariance S, 1/sigma^2 is the largest squared Mahalanobis distance (x - y)' S^-1 (x - y).

    Guarantee: (1/sigma)-Gaussian differential privacy, and all that follows from it.
    """

    sigma: Number

    def __post_init__(self) -> None:
        PrivacyLoss.__post_init__(self)
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))

    @property
    def exact_mu(self) -> Fraction:
        """Sensitivity over sigma."""
        return 1 / Fraction(self.sigma)

    def group(self, k: int) -> Gaussian:
        """Return the loss at sensitivity k.

        Guarantee: a group of k moves the answer by at most k.
        """
        return Gaussian(Fraction(self.sigma) / whole("k", k), relation=self.relation)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class GaussianDP(Normal):
    """Telling neighbours apart is at least as hard as telling N(mu, 1) from N(0, 1).

    Guarantee: mu-Gaussian differential privacy, as stated.
    """

    mu0: Number

    def __init__(self, mu: Number, *, relation: Relation = "add_remove") -> None:
        settle(self, relation, mu0=nonnegative("mu", mu))

    @property
    def exact_mu(self) -> Fraction:
        """The mu as stated."""
        return Fraction(self.mu0)

    def group(self, k: int) -> GaussianDP:
        """Return k mu (Dong, Roth, Su 2022, Theorem 2.14).

        Guarantee: holds for any k steps of the relation.
        """
        return GaussianDP(Fraction(self.mu0) * whole("k", k), relation=self.relation)
