"""Variance: the mean square distance of bounded values from their mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.rational import Number
from discreet.core.value import dataclass
from discreet.mechanisms.mean import check_rows
from discreet.mechanisms.parts.integer_noise import Noise, Whole
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.moments import CentredMoments
from discreet.mechanisms.parts.raw_values import Grid, column
from discreet.mechanisms.parts.statistic import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance(Statistic):
    """Releases the variance (divided by n) of values clamped to [low, high]; nulls are left out.

    The exact statistic is n, the sum of y = 2x - (low + high) in steps, and that of y^2. Half of the budget goes to the
    sum of y, half to that of y^2 and, with w = high - low, of w^2 - y^2, which together also tell n.

    Under replace the number of rows is public (`rows`), and nulls count as the middle of the bounds.

    Sensitivity, in steps: contributions * w for y and contributions * w^2 (l1) for the squares under add_remove; 2 w
    and w^2 under replace.
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise, over both parts.
    Error: stated for `rows` records, declared or bought; without them half the square of the range is certain.
    """

    low: Number
    high: Number
    step: Number | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        grid = Grid.between(self.low, self.high, self.step)
        self._set(low=grid.low * grid.step, high=grid.high * grid.step, step=grid.step)
        check_rows(self.rows, self.relation, self.contributions, self.groups)

    @property
    def grid(self) -> Grid:
        """The bounds, counted in steps."""
        return Grid.of(self.low, self.high, self.step)

    @property
    def moments(self) -> CentredMoments:
        """What gets noise."""
        return CentredMoments((self.grid,), self.relation, self.contributions, self.rows)

    @property
    def noises(self) -> tuple[tuple[Noise, int], ...]:
        """The noise on y, then on the squares."""
        return self.moments.noises(self._noise)

    def error(self, beta: float = 0.05) -> float:
        """Return the half-width for `rows` records."""
        return float(self.moments.error(self.noises, beta)[0, 0]) * self._square

    def exact(self, values: Iterable[Any]) -> tuple[int, ...]:
        """Return n, the sum of y and the sum of y^2."""
        return self.moments.exact([column(values)])

    def exact_from(self, above: Whole, products: Whole, count: Whole) -> tuple[Whole, ...]:
        """Return the exact statistic from sums over the `count` values that are not null, in steps.

        `above` is the sum of x - low, `products` that of y^2 + w^2: integers, or arrays with one for each group.
        """
        return self.moments.exact_from([above], [products], count)

    @property
    def _square(self) -> float:
        return self.grid.real(self.grid.width) ** 2

    def _inner(self, exact: Sequence[Whole]) -> Sequence[Whole]:
        return self.moments.inner(exact)

    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[np.float64]:
        return self.moments.covariances(noisy)[:, 0, 0] * self._square


def trials() -> Trials:
    """Yield the worst neighbours: a value at a bound added, and a bound exchanged for the middle."""
    yield Trial("a value at the top", Variance(low=0, high=2, epsilon=2), (2, 0, 8), (3, 2, 12))
    replace = Variance(low=0, high=2, epsilon=2, relation="replace", rows=3)
    yield Trial("a bound for the middle", replace, (3, -2, 4), (3, 0, 0))
    yield Trial("Gaussian", Variance(low=0, high=1, rho=0.5), (1, 1, 1), (2, 0, 2))
