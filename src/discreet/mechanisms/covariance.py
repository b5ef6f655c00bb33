"""Covariance: the covariance matrix of bounded columns, positive semidefinite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.core.value import dataclass
from discreet.mechanisms.mean import check_rows
from discreet.mechanisms.parts.integer_noise import Noise, Whole
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.moments import CentredMoments, root
from discreet.mechanisms.parts.raw_values import Grid, tables
from discreet.mechanisms.parts.statistic import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class Covariance(Statistic):
    """Releases the covariance matrix (divided by n) of d columns, each clamped to its own bounds.

    `bounds` holds (low, high) or (low, high, step) for every column. Values are an array of shape (rows, d) or a list
    of d columns; a row with a null is left out. The exact statistic is n, the sums of y_i = 2 x_i - (low_i + high_i) in
    steps and those of y_i y_j, i <= j, row by row. Each of the d + d(d+1)/2 sums gets an equal share of the budget. The
    noisy matrix is replaced by the nearest positive semidefinite one, measured in units of the ranges.

    Under replace the number of rows is public (`rows`), and rows with a null count as the middle of all bounds.

    Sensitivity, in steps, with w = high - low: contributions * w_i and contributions * w_i w_j under add_remove; 2 w_i,
    2 w_i w_j and w_i^2 under replace.
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise, over all parts.
    Error: of the whole matrix, in Frobenius norm, every entry in units of its two ranges (high - low); stated for
    `rows` records, declared or bought.
    """

    bounds: tuple[tuple[Number, ...], ...]
    rows: int | None = None

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        given = tuple(tuple(each) for each in self.bounds)
        if not given or any(len(each) not in (2, 3) for each in given):
            why = "every column has a low and a high bound, and a step where they are not whole"
            raise BadParameter("bounds", self.bounds, why=why, fix="use ((0, 110), (0, 2.5, 0.1)), for example")
        grids = [Grid.between(*each) for each in given]
        self._set(bounds=tuple((grid.low * grid.step, grid.high * grid.step, grid.step) for grid in grids))
        check_rows(self.rows, self.relation, self.contributions, self.groups)

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The bounds of every column, counted in steps."""
        return tuple(Grid.of(*each) for each in self.bounds)

    @property
    def moments(self) -> CentredMoments:
        """What gets noise."""
        return CentredMoments(self.grids, self.relation, self.contributions, self.rows)

    @property
    def noises(self) -> tuple[tuple[Noise, int], ...]:
        """The noise on the sums, then on the products."""
        return self.moments.noises(self._noise)

    def error(self, beta: float = 0.05) -> float:
        """Return the half-width for `rows` records: the root of the sum of squares over all entries."""
        return root(self.moments.error(self.noises, beta))

    def exact(self, values: Iterable[Any]) -> tuple[int, ...]:
        """Return n, the sums and the sums of products of the rows without a null."""
        return self.moments.exact(tables(values, len(self.bounds)))

    def exact_from(self, above: Sequence[Whole], products: Sequence[Whole], count: Whole) -> tuple[Whole, ...]:
        """Return the exact statistic from sums over the `count` rows without a null, in steps.

        `above` holds the sum of x_i - low_i for every column, `products` that of y_i y_j + w_i w_j for all i <= j, row
        by row; all are integers, or arrays with one for each group.
        """
        return self.moments.exact_from(above, products, count)

    def _inner(self, exact: Sequence[Whole]) -> Sequence[Whole]:
        return self.moments.inner(exact)

    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[np.float64]:
        ranges = np.array([float(Fraction(grid.width) * grid.step) for grid in self.grids])
        return self.moments.covariances(noisy) * np.outer(ranges, ranges)


def trials() -> Trials:
    """Yield the worst neighbours: a row at the corner of all bounds added, and one exchanged for its opposite."""
    two = ((0, 1), (0, 2))
    yield Trial("a row at the corner", Covariance(bounds=two, epsilon=5), (1, 1, 0, 1, 0, 0), (2, 2, 2, 2, 2, 4))
    replace = Covariance(bounds=two, epsilon=5, relation="replace", rows=2)
    yield Trial("opposite corners", replace, (2, 1, 2, 1, 2, 4), (2, -1, 2, 1, -2, 4))
