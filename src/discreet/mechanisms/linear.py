"""Linear queries: a matrix times a histogram."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written
from discreet.core.unit import Relation
from discreet.core.value import dataclass
from discreet.mechanisms.histogram import counts_of
from discreet.mechanisms.parts.integer_noise import Noise, Sensitivity, floats
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.statistic import Statistic

_PAIRS = 1024  # columns up to which all pairs are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear(Statistic):
    """Releases matrix @ counts, where counts is the histogram over as many cells as the matrix has columns.

    Entries are exact (a float means the decimal it prints); answers are whole multiples of one over their common
    denominator. A row in none of the cells counts nowhere.

    Sensitivity: the largest l1 norm (Laplace) or l2 norm (Gaussian) of a column, times contributions, under add_remove;
    of a column or of the difference of two columns under replace.
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise.
    Error: of the worst answer, by the union bound.
    """

    matrix: tuple[tuple[Number, ...], ...]

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        self._set(matrix=check_matrix(self.matrix))

    @property
    def unit(self) -> Fraction:
        """What one step of an answer means."""
        return Fraction(1, math.lcm(*(Fraction(entry).denominator for row in self.matrix for entry in row)))

    @property
    def steps(self) -> tuple[tuple[int, ...], ...]:
        """The matrix in whole steps."""
        unit = self.unit
        return tuple(tuple(int(Fraction(entry) / unit) for entry in row) for row in self.matrix)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the answers, in steps."""
        return of_matrix(self.steps, self.relation, self.contributions)

    @property
    def noises(self) -> tuple[tuple[Noise, int], ...]:
        """One noise for all answers."""
        return ((self._noise(self.sensitivity), len(self.matrix)),)

    def error(self, beta: float = 0.05) -> float:
        """Return the half-width of the worst answer."""
        return float(self.noises[0][0].half_width(beta, len(self.matrix)) * self.unit)

    def exact(self, values: Iterable[int]) -> tuple[int, ...]:
        """Return the answers in steps, for the exact counts of all cells."""
        counts = counts_of(list(values), len(self.matrix[0]))
        return tuple(sum(entry * count for entry, count in zip(row, counts, strict=True)) for row in self.steps)

    def _inner(self, exact: Sequence[int]) -> Sequence[int]:
        return counts_of(exact, len(self.matrix))

    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[np.float64]:
        # One division by an integer, so answers of 1/10 print as such.
        return np.stack([floats(answer) for answer in noisy], axis=-1) / self.unit.denominator


def check_matrix(matrix: object) -> tuple[tuple[Fraction, ...], ...]:
    """Return a matrix of exact numbers with at least one that is not zero."""
    try:
        rows = tuple(tuple(_entry(each) for each in row) for row in matrix)  # type: ignore[attr-defined]
    except TypeError as error:
        why, fix = "it is not a list of rows of numbers", "use ((1, 0), (1, 1)), for example"
        raise BadParameter("matrix", matrix, why=why, fix=fix) from error
    if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
        raise BadParameter(
            "matrix", matrix, why="all rows have the same number of cells, at least one", fix="fill it up"
        )
    if not any(entry for row in rows for entry in row):
        raise BadParameter("matrix", matrix, why="it is zero, and so is every answer", fix="ask for something")
    return rows


def _entry(value: object) -> Fraction:
    return as_written("matrix", value.item() if isinstance(value, np.generic) else value)


def of_matrix(steps: Sequence[Sequence[int]], relation: Relation, contributions: int = 1) -> Sensitivity:
    """Return the sensitivity of an integer matrix: what one column, or an exchange of two, moves."""
    columns = np.array(steps, dtype=object).T
    columns = np.concatenate([columns, np.zeros((1, columns.shape[1]), dtype=object)])  # a row in no cell
    if relation == "add_remove":
        found = _norms(columns)
    elif len(columns) <= _PAIRS:
        each = [_norms(columns[place + 1 :] - columns[place]) for place in range(len(columns) - 1)]
        found = tuple(max(norm) for norm in zip(*each, strict=True))
    else:  # the triangle inequality; all pairs of so many columns would take too long
        l0, linf, l1, l2_squared = _norms(columns)
        found = (min(2 * l0, columns.shape[1]), 2 * linf, 2 * l1, 4 * l2_squared)
    l0, linf, l1, l2_squared = found
    k = contributions
    return Sensitivity(min(l0 * k, columns.shape[1]), linf * k, l1 * k, l2_squared * k * k)


def _norms(moves: NDArray[Any]) -> tuple[int, ...]:
    """Return the largest l0, linf, l1 and squared l2 norm of the rows."""
    sizes = np.abs(moves)
    norms = ((sizes != 0).sum(1), sizes.max(1), sizes.sum(1), (sizes * sizes).sum(1))
    return tuple(int(norm.max()) for norm in norms)


def trials() -> Trials:
    """Yield the worst neighbours: a record in the heaviest column, and one moved between the farthest two."""
    prefix = ((1, 0, 0), (1, 1, 0), (1, 1, 1))
    yield Trial("the heaviest column", Linear(matrix=prefix, epsilon=1), (2, 3, 4), (3, 4, 5))
    signs = ((1, -1), (1, 1))
    yield Trial("opposite columns", Linear(matrix=signs, epsilon=1, relation="replace"), (1, 3), (-1, 3))
    yield Trial("tenths", Linear(matrix=((0.1, 0.5),), epsilon=1), (3,), (8,))
    yield Trial("Gaussian", Linear(matrix=prefix, rho=0.5), (2, 3, 4), (3, 4, 5))
