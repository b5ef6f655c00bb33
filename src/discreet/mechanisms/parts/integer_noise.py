"""Integer noise for a vector of statistics: how far one unit moves it, which noise covers that, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add
from typing import Any, Literal

from discreet import noise
from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.zcdp import Zcdp
from discreet.account.numeric.checks import Number, positive
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation
from discreet.core.value import dataclass, replace
from discreet.mechanisms.parts import calibration, tails
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts.grid import add as add_to
from discreet.mechanisms.parts.mechanism import Chance
from discreet.noise.arrays import NDArray, np
from discreet.noise.sampling import pack

_FEW = 256  # numbers that are drawn one by one

Law = Literal["laplace", "gaussian"]
Whole = Any  # an exact integer, or a column of them with one for each group


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far one neighbour step moves an integer vector: l0 entries at most, each by linf; l1, squared l2 in all."""

    l0: int
    linf: int
    l1: int
    l2_squared: int

    @classmethod
    def entries(cls, count: int, each: int) -> Sensitivity:
        """At most `count` entries move, each by at most `each`."""
        return cls(count, each, count * each, count * each * each)

    def over(self, groups: int) -> Sensitivity:
        """Spread the rows of one unit over several groups, each of which has such a vector.

        What moves in all is at most what moves when all rows are in one group, since l1 is linear in the rows and l2^2
        grows with their square; but so many times as many entries may move.
        """
        return replace(self, l0=self.l0 * groups)

    def exchanged(self, one_sign: bool) -> Sensitivity:
        """Take one unit out, which moves the vector by u, and put another in, which moves it by v.

        |u - v| is at most |u| + |v| in every norm. Where no entry of u or v is negative, an entry moves by at most the
        larger of the two, and |u - v|^2 = |u|^2 + |v|^2 - 2 u v is at most |u|^2 + |v|^2.
        """
        if one_sign:
            return Sensitivity(2 * self.l0, self.linf, 2 * self.l1, 2 * self.l2_squared)
        return Sensitivity(2 * self.l0, 2 * self.linf, 2 * self.l1, 4 * self.l2_squared)


@dataclass(frozen=True, slots=True)
class Noise:
    """Independent noise of one law and scale on every entry of a vector.

    Guarantee: the loss is that of the integers drawn. Where one entry moves it is that entry's own loss; where several
    move by at most linf each, so that l1 = l0 linf, it is that loss composed l0 times (the other entries have the same
    distribution on both neighbours); otherwise that of one entry moved by all of l1, which no vector exceeds (the proof
    stands in `discreet.mechanisms.laplace`), or Zcdp(l2^2 / (2 sigma^2)).
    """

    law: Law
    scale: Fraction
    sensitivity: Sensitivity
    relation: Relation

    @property
    def loss(self) -> PrivacyLoss:
        """What drawing it once for every entry costs."""
        moved = self.sensitivity
        if moved.l1 == moved.l0 * moved.linf:
            kind = DiscreteLaplace if self.law == "laplace" else DiscreteGaussian
            return kind(self.scale, moved.linf, relation=self.relation) * moved.l0
        if self.law == "laplace":
            return DiscreteLaplace(self.scale, moved.l1, relation=self.relation)
        return Zcdp(moved.l2_squared / (2 * self.scale**2), relation=self.relation)

    def draw(self, size: tuple[int, int]) -> NDArray[Any] | list[list[int]]:
        """Draw a table of noise: int64, or Python integers where those could overflow; a small one as lists.

        No array is made of those. A debit's stream is the same for both, since no table of draws is built for so few.
        """
        sampler = noise.laplace if self.law == "laplace" else noise.gaussian
        rows, columns = size
        if rows * columns > _FEW:
            return sampler(self.scale, size)
        return [[sampler(self.scale) for _ in range(columns)] for _ in range(rows)]

    def half_width(self, beta: Number, entries: int = 1) -> int:
        """Return an h that the noise of any of so many entries exceeds with probability at most beta, in all."""
        tail = tails.laplace if self.law == "laplace" else tails.gaussian
        return tail(self.scale, tails.chance(beta) / entries)

    def chances(self) -> dict[int, Chance]:
        """Return rational bounds on the probability of every value; those left out weigh less than 2**-60 together."""
        law = _chances.laplace(self.scale) if self.law == "laplace" else _chances.gaussian(self.scale)
        return {
            k: (Fraction(low, 1 << _chances.BITS), Fraction(high, 1 << _chances.BITS)) for k, (low, high) in law.items()
        }


@lru_cache(maxsize=256, typed=True)
def calibrated(
    sensitivity: Sensitivity, epsilon: Number | None, rho: Number | None, relation: Relation, share: Fraction | int = 1
) -> Noise:
    """Return the least noise that costs a share of epsilon, Laplace, or of rho, Gaussian (sigma is rounded up)."""
    if epsilon is not None:
        return Noise("laplace", sensitivity.l1 / (Fraction(epsilon) * share), sensitivity, relation)
    assert rho is not None
    return Noise("gaussian", calibration.by_rho(Fraction(sensitivity.l2_squared), rho * share), sensitivity, relation)


def total(losses: Iterable[PrivacyLoss]) -> PrivacyLoss:
    """Return the loss of all, one after the other."""
    return reduce(add, losses)


def check_price(epsilon: object, rho: object) -> tuple[Fraction | None, Fraction | None]:
    """Return the one of epsilon and rho that was given, as an exact rational."""
    if (epsilon is None) == (rho is None):
        given = None if epsilon is None else (epsilon, rho)
        why = "the noise is set by exactly one of epsilon (Laplace, pure) and rho (Gaussian, zCDP)"
        raise BadParameter("epsilon", given, why=why, fix="pass epsilon=1 or rho=0.1")
    if epsilon is not None:
        return Fraction(positive("epsilon", epsilon)), None
    return None, Fraction(positive("rho", rho))


def plus(exact: int | NDArray[Any], drawn: NDArray[Any] | list[int]) -> NDArray[Any]:
    """Add noise to exact integers without wrapping; the type of the result tells no more than its values do."""
    return np.asarray(add_to(exact, pack(drawn, narrow=True) if isinstance(drawn, list) else drawn))


def whole_numbers(exact: Whole) -> Whole:
    """Return one exact integer as a Python integer; a column of them, one for each group, is left as it is."""
    return exact if not isinstance(exact, int) and isinstance(exact, np.ndarray) else int(exact)


def saturated(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return integers as int64; what does not fit becomes the nearest that does (post-processing)."""
    if values.dtype != object:
        return values.astype(np.int64)
    kept: NDArray[np.int64] = np.clip(values, -(1 << 63), (1 << 63) - 1).astype(np.int64)
    return kept


def floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return integers as floats; what no float can hold becomes the largest one (post-processing)."""
    if values.dtype == object:
        values = np.clip(values, -(10**308), 10**308)
    return values.astype(np.float64)
