"""Clipped sum: the sum of people's clipped integer vectors, plus exact integer noise on every coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.gaussian import GaussianDP
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, positive, whole
from discreet.account.numeric.rounding import up
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation, check_relation
from discreet.mechanisms.parts import calibration, tails
from discreet.mechanisms.parts.grid import add, integers
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.noise.gaussian import gaussian
from discreet.noise.inversion import Integers
from discreet.noise.laplace import laplace

# The theorem about discrete Gaussian noise holds from this squared sigma on.
_LEAST_SQUARE = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedSum:
    """Releases the sum of vectors of whole numbers, one for each person, each clipped by the same norm.

    Exactly one of `l1` (Laplace noise of that `scale`) and `l2_squared` (Gaussian noise of sigma `scale`) says how long
    a person's vector may be. Under replace one vector goes and another comes, which moves the sum twice as far.

    Guarantee: with Laplace noise pure epsilon = l1 / scale, the loss of one discrete Laplace number moved by all of it.
    With Gaussian noise mu-Gaussian privacy, mu^2 = l2^2/sigma^2 (1 + 1/(6 sigma^2)): the theorem at
    `DiscreteGaussian.mu_squared` for each coordinate, composed over coordinates (Dong, Roth, Su 2022, Corollary 3.3),
    whose squared moves add up to l2^2 at most.
    Error: `error(beta)` is exceeded by any of the coordinates with probability at most beta.
    """

    scale: Number
    l1: int | None = None
    l2_squared: int | None = None
    dimension: int = 1
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        if (self.l1 is None) == (self.l2_squared is None):
            why = "a person's vector is clipped by one norm, which says the noise"
            raise BadParameter("l1, l2_squared", (self.l1, self.l2_squared), why=why, fix="give one of the two")
        name = "l1" if self.l1 is not None else "l2_squared"
        whole(name, getattr(self, name))
        whole("dimension", self.dimension)
        check_relation(self.relation)
        wide = Fraction(positive("scale", self.scale))
        object.__setattr__(self, "scale", wide)
        if self.l1 is None and wide**2 < _LEAST_SQUARE:
            why = "nothing is proved about Gaussian noise of so small a sigma"
            raise BadParameter("scale", float(wide), why=why, fix="use sigma=0.75 or more, or a finer grid")

    @classmethod
    def by_mu(
        cls, mu_squared: Fraction, *, l2_squared: int, dimension: int, relation: Relation = "add_remove", times: int = 1
    ) -> ClippedSum:
        """Return the Gaussian mechanism that costs at most mu when it is used so many times.

        With A = times l2^2/mu^2, sigma^2 = A + 1/6 gives A/sigma^2 (1 + 1/(6 sigma^2)) <= 1.
        """
        moved = l2_squared * (4 if relation == "replace" else 1)
        square = max(times * moved / Fraction(positive("mu_squared", mu_squared)) + Fraction(1, 6), _LEAST_SQUARE)
        return cls(scale=calibration.root_up(square), l2_squared=l2_squared, dimension=dimension, relation=relation)

    @classmethod
    def by_epsilon(
        cls, epsilon: Fraction, *, l1: int, dimension: int, relation: Relation = "add_remove", times: int = 1
    ) -> ClippedSum:
        """Return the Laplace mechanism that costs epsilon when it is used so many times."""
        moved = l1 * (2 if relation == "replace" else 1)
        wide = times * moved / Fraction(positive("epsilon", epsilon))
        return cls(scale=wide, l1=l1, dimension=dimension, relation=relation)

    @property
    def moved(self) -> int:
        """How far a neighbour moves the sum: its L1 norm, or the square of its L2 norm."""
        if self.l1 is not None:
            return self.l1 * (2 if self.relation == "replace" else 1)
        assert self.l2_squared is not None
        return self.l2_squared * (4 if self.relation == "replace" else 1)

    @property
    def loss(self) -> PrivacyLoss:
        """What one release costs."""
        if self.l1 is not None:
            return DiscreteLaplace(self.scale, sensitivity=self.moved, relation=self.relation)
        narrow = 1 / Fraction(self.scale) ** 2
        return GaussianDP(calibration.root_up(self.moved * narrow * (1 + narrow / 6)), relation=self.relation)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of a coordinate, about."""
        return float(self.scale) * (2**0.5 if self.l1 is not None else 1)

    def error(self, beta: Number = 0.05) -> float:
        """Return a half-width that any coordinate's noise exceeds with probability at most beta."""
        chance = tails.chance(beta) / self.dimension
        tail = tails.laplace if self.l1 is not None else tails.gaussian
        return up(Fraction(tail(Fraction(self.scale), chance)))

    def release(self, exact: object) -> Integers:
        """Return the noisy sum.

        Guarantee: `loss`, for sums of vectors that were clipped as declared.
        """
        counted = integers(np.asarray(opened(exact)))
        size = 1 if isinstance(counted, int) else counted.size
        if size != self.dimension:
            why = f"the noise was made for {self.dimension} coordinates"
            raise BadParameter("exact", f"{size} coordinates", why=why, fix=f"declare dimension={size}")
        drawn = (laplace if self.l1 is not None else gaussian)(Fraction(self.scale), self.dimension)
        return np.asarray(add(counted, drawn))


def trials() -> Trials:
    """Yield neighbours as far apart as the norm allows: in one coordinate, and spread over several."""
    one = ClippedSum.by_mu(Fraction(1), l2_squared=25, dimension=2)
    yield Trial("in one coordinate", one, (0, 0), (5, 0))
    yield Trial("spread over two", one, (0, 0), (3, 4))
    yield Trial("Laplace, spread", ClippedSum.by_epsilon(Fraction(1), l1=4, dimension=2), (0, 0), (3, -1))
    both = ClippedSum.by_epsilon(Fraction(2), l1=2, dimension=2, relation="replace")
    yield Trial("one comes for another", both, (2, 0), (0, 2))
