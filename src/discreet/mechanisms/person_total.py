"""Person total: the sum of what each person adds up to, clamped person by person, in whole steps of a declared grid."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.core.value import dataclass
from discreet.mechanisms.parts.integer_noise import Noise, Sensitivity, calibrated
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.raw_values import Grid, whole_sum
from discreet.mechanisms.parts.statistic import Scalar, Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonTotal(Scalar):
    """Releases the sum of people's totals, each clamped to [low, high] and rounded to the step; no total adds zero.

    A person has one total in each of at most `groups` groups, however many rows it is made of.

    Sensitivity, in steps: max(|low|, |high|) in each group, so that l1 is groups * max(|low|, |high|) and l2 is
    sqrt(groups) * max(|low|, |high|); under replace a removal and an addition, wherever they happen.
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise; the loss is that of the integers drawn.
    Error: the exact tail of the noise, in units of the values. Clamping is not counted.
    """

    low: Number
    high: Number
    step: Number | None = None

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        if self.contributions != 1:
            why = "a person has one total in a group, whatever the number of rows"
            raise BadParameter("contributions", self.contributions, why=why, fix="leave it out, and bound the groups")
        grid = Grid.between(self.low, self.high, self.step)
        self._set(low=grid.low * grid.step, high=grid.high * grid.step, step=grid.step)

    @property
    def grid(self) -> Grid:
        """The bounds, counted in steps."""
        return Grid.of(self.low, self.high, self.step)

    @property
    def sensitivity(self) -> int:
        """How many steps one person who comes or goes moves the total of one group: not high - low."""
        return max(abs(self.grid.low), abs(self.grid.high))

    @property
    def noises(self) -> tuple[tuple[Noise, int], ...]:
        """One noise on the total of every group, for a person who has one in each of `groups` of them."""
        moved = Sensitivity.entries(self.groups, self.sensitivity)
        if self.relation == "replace":
            moved = moved.exchanged(self._one_sign)
        return ((calibrated(moved, self.epsilon, self.rho, self.relation), 1),)

    @property
    def unit(self) -> Fraction:
        """The step."""
        return self.grid.step

    def exact(self, values: Iterable[Any]) -> int:
        """Return the sum of people's totals in steps, as a Python integer that never wraps."""
        return whole_sum(self.grid.integers(values))

    @property
    def _moves_others(self) -> bool:
        """Whether the noise covers a replaced unit that leaves one group and joins another: always."""
        return True

    @property
    def _one_sign(self) -> bool:
        return self.grid.low >= 0 or self.grid.high <= 0


def trials() -> Trials:
    """Yield the worst neighbours: the largest total added, and the two bounds exchanged."""
    yield Trial("the largest total", PersonTotal(low=0, high=3, epsilon=1), 7, 10)
    yield Trial("a negative bound, the farther", PersonTotal(low=-5, high=2, epsilon=1), 0, -5)
    yield Trial("one sign, exchanged for nothing", PersonTotal(low=2, high=3, epsilon=1, relation="replace"), 3, 0)
    yield Trial("the bounds exchanged", PersonTotal(low=-1, high=2, epsilon=1, relation="replace"), -1, 2)
    yield Trial("a grid of tenths", PersonTotal(low=0, high=0.3, step=0.1, epsilon=2), 4, 1)
    yield Trial("Gaussian", PersonTotal(low=0, high=3, rho=0.5), 0, 3)
