"""Sum: the total of bounded values, in whole steps of a declared grid."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from discreet.core.rational import Number
from discreet.core.value import dataclass
from discreet.mechanisms.parts.integer_noise import Whole
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.raw_values import Grid, whole_sum
from discreet.mechanisms.parts.statistic import Scalar, Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum(Scalar):
    """Releases the sum of values clamped to [low, high] and rounded to the step; nulls count as zero.

    Sensitivity, in steps: contributions * max(|low|, |high|) under add_remove; contributions * (max(high, 0) -
    min(low, 0)) under replace, which is high - low where zero lies between the bounds (a replaced row may become null).
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise; the loss is that of the integers drawn.
    Error: the exact tail of the noise, in units of the values. Clamping is not counted.
    """

    low: Number
    high: Number
    step: Number | None = None

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        grid = Grid.between(self.low, self.high, self.step)
        self._set(low=grid.low * grid.step, high=grid.high * grid.step, step=grid.step)

    @property
    def grid(self) -> Grid:
        """The bounds, counted in steps."""
        return Grid.of(self.low, self.high, self.step)

    @property
    def sensitivity(self) -> int:
        """How many steps one unit moves the sum."""
        grid = self.grid
        if self._within == "add_remove":
            return self.contributions * max(abs(grid.low), abs(grid.high))
        return self.contributions * (max(grid.high, 0) - min(grid.low, 0))

    @property
    def unit(self) -> Fraction:
        """The step."""
        return self.grid.step

    def exact(self, values: Iterable[Any]) -> int:
        """Return the sum in steps, as a Python integer that never wraps."""
        return whole_sum(self.grid.integers(values))

    def exact_from(self, above: Whole, count: Whole) -> Whole:
        """Return the exact sum from that of x - low, in steps, over the `count` values that are not null.

        All are integers, or arrays with one for each group.
        """
        return above + self.grid.low * count

    @property
    def _one_sign(self) -> bool:
        return self.grid.low >= 0 or self.grid.high <= 0


def trials() -> Trials:
    """Yield the worst neighbours: the largest value added, and the two bounds exchanged."""
    yield Trial("the largest value", Sum(low=0, high=3, epsilon=1), 7, 10)
    yield Trial("a negative bound", Sum(low=-5, high=2, epsilon=1), 0, -5)
    yield Trial("the bounds exchanged", Sum(low=-1, high=2, epsilon=1, relation="replace"), -1, 2)
    yield Trial("a grid of tenths", Sum(low=0, high=0.3, step=0.1, epsilon=2), 4, 1)
    yield Trial("Gaussian", Sum(low=0, high=3, rho=0.5), 0, 3)
