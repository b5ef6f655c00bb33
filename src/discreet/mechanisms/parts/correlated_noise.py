"""Correlated Gaussian noise: any rational covariance, drawn as independent integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.zcdp import Zcdp
from discreet.account.numeric.checks import Number, finite, whole
from discreet.account.numeric.rounding import up
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import tails
from discreet.mechanisms.parts.calibration import root_up
from discreet.mechanisms.parts.grid import add, integers, scaled
from discreet.noise.gaussian import gaussian

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]


@dataclass(frozen=True, slots=True, init=False)
class CorrelatedGaussian:
    """Releases a vector of integers with Gaussian noise of (very nearly) the given covariance.

    The covariance is factored as L D L' in rationals, L with ones on its diagonal. With q the common denominator of L's
    inverse, q L^-1 times the exact vector is a vector of integers; discrete Gaussian noise of q sqrt(D_i), rounded
    up, is added to each; what is released is L/q times that, as floats.

    Guarantee: zCDP with rho = 1/2 of the largest *squared* Mahalanobis distance m' S^-1 m over `moves`; that is
    Renyi divergence alpha/2 times it, at every order alpha. It holds for every difference in the convex hull of the
    moves and their opposites, since the distance is convex; each coordinate's divergence is that of Canonne, Kamath,
    Steinke 2020, Theorem 14, the coordinates are independent, and what follows the noise is post-processing.
    """

    covariance: Matrix
    moves: tuple[tuple[int, ...], ...]
    relation: Relation

    def __init__(
        self,
        *,
        covariance: Sequence[Sequence[Number]],
        moves: Sequence[Sequence[int]],
        relation: Relation = "add_remove",
    ) -> None:
        matrix = tuple(tuple(Fraction(finite("covariance", entry)) for entry in row) for row in covariance)
        size = len(matrix)
        if not size or any(len(row) != size for row in matrix) or tuple(zip(*matrix, strict=True)) != matrix:
            why = "a covariance is a square, symmetric matrix"
            raise BadParameter("covariance", covariance, why=why, fix="give rows such as [[4, 2], [2, 3]]")
        steps = tuple(tuple(whole("moves", entry, least=-(1 << 62)) for entry in move) for move in moves)
        if not any(any(move) for move in steps) or any(len(move) != size for move in steps):
            why = f"moves are the differences, {size} numbers each, that one unit can make; one at least is not zero"
            raise BadParameter("moves", moves, why=why, fix="give the extreme ones, such as [(1, 0), (0, 1)]")
        object.__setattr__(self, "covariance", matrix)
        object.__setattr__(self, "moves", steps)
        object.__setattr__(self, "relation", check_relation(relation))
        if any(entry <= 0 for entry in self._factors()[1]):
            why = "it is not positive definite, so some direction would have no noise"
            raise BadParameter("covariance", covariance, why=why, fix="add to the diagonal")

    @property
    def distance_squared(self) -> Fraction:
        """The largest squared Mahalanobis distance of a move, exactly."""
        lower, diagonal = self._factors()
        return max(
            sum((u * u / d for u, d in zip(_solve(lower, move), diagonal, strict=True)), Fraction(0))
            for move in self.moves
        )

    @property
    def loss(self) -> Zcdp:
        """Half the largest squared Mahalanobis distance, as zCDP."""
        return Zcdp(self.distance_squared / 2, relation=self.relation)

    def error(self, beta: Number = 0.05) -> float:
        """Return a half-width that the largest error of all coordinates exceeds with probability at most beta.

        Each independent number stays within its tail except with probability beta / dimension; L propagates the bounds.
        """
        lower, sigmas, scale = self._noise()
        chance = tails.chance(beta) / len(sigmas)
        widths = [tails.gaussian(sigma, chance) for sigma in sigmas]
        return up(max(sum(abs(a) * w for a, w in zip(row, widths, strict=True)) / scale for row in lower))

    def release(self, exact: object) -> NDArray[np.float64]:
        """Return the noisy vector.

        Guarantee: `loss`, for answers that one unit moves as declared.
        """
        return self._mixed(self._whitened(opened(exact)), 1).reshape(-1)

    def releases(self, exact: object, count: int) -> NDArray[np.float64]:
        """Return `count` independent releases of one answer, for audits and simulations."""
        return self._mixed(self._whitened(exact), whole("count", count, least=0))

    def _factors(self) -> tuple[Matrix, Vector]:
        return _factored(self.covariance)

    def _noise(self) -> tuple[Matrix, Vector, int]:
        """Return L, the sigmas of the independent integers, and q."""
        lower, diagonal = self._factors()
        units = [[int(i == j) for j in range(len(lower))] for i in range(len(lower))]
        inverse = [_solve(lower, unit) for unit in units]
        scale = math.lcm(*(entry.denominator for column in inverse for entry in column))
        return lower, tuple(root_up(entry * scale**2) for entry in diagonal), scale

    def _whitened(self, exact: object) -> list[int]:
        counted = integers(exact)
        values = [counted] if isinstance(counted, int) else counted.ravel().tolist()
        lower, _, scale = self._noise()
        if len(values) != len(lower):
            why = f"the covariance is of {len(lower)} coordinates"
            raise BadParameter("exact", f"{len(values)} coordinates", why=why, fix="give one number for each")
        return [int(entry * scale) for entry in _solve(lower, values)]

    def _mixed(self, whitened: list[int], count: int) -> NDArray[np.float64]:
        lower, sigmas, scale = self._noise()
        noisy = np.stack([add(value, gaussian(sigma, count)) for value, sigma in zip(whitened, sigmas, strict=True)])
        unit = math.lcm(*(entry.denominator for row in lower for entry in row))
        mixing = np.array([[int(entry * unit) for entry in row] for row in lower], dtype=object)
        # Integers up to the last step, since large answers may cancel: in 64 bits where all fit, else as they are.
        furthest = max((abs(int(value)) for value in (noisy.min(initial=0), noisy.max(initial=0))), default=0)
        if noisy.dtype == np.int64 and furthest * int(abs(mixing).sum(axis=1).max()) < 1 << 53:
            mixed = (mixing.astype(np.int64) @ noisy).astype(np.float64)
        else:
            exact = mixing @ noisy.astype(object)
            step = Fraction(1, unit * scale)
            return np.array([[float(scaled(int(w), step)) for w in row] for row in exact.T]).reshape(count, -1)
        return np.asarray(mixed.T / float(unit * scale), dtype=np.float64)


def _factored(matrix: Matrix) -> tuple[Matrix, Vector]:
    """Return L, with ones on its diagonal, and D of the rational factorisation L D L'."""
    size = len(matrix)
    lower = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    diagonal: list[Fraction] = []
    for j in range(size):
        diagonal.append(matrix[j][j] - sum(lower[j][k] ** 2 * diagonal[k] for k in range(j)))
        if diagonal[j] <= 0:
            return tuple(map(tuple, lower)), tuple(diagonal)
        for i in range(j + 1, size):
            shared = sum(lower[i][k] * lower[j][k] * diagonal[k] for k in range(j))
            lower[i][j] = (matrix[i][j] - shared) / diagonal[j]
    return tuple(map(tuple, lower)), tuple(diagonal)


def _solve(lower: Matrix, values: Sequence[int]) -> Vector:
    """Return L^-1 times a vector, by substitution."""
    found: list[Fraction] = []
    for row, value in zip(lower, values, strict=True):
        found.append(value - sum((a * x for a, x in zip(row, found, strict=False)), Fraction(0)))
    return tuple(found)
