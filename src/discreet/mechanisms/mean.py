"""Mean: the average of bounded values, from how far they lie above the low bound and below the high one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.core.unit import Relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts.integer_noise import Noise, Sensitivity, Whole, floats, whole_numbers
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.raw_values import Grid, whole_sum
from discreet.mechanisms.parts.statistic import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Statistic):
    """Releases the mean of values clamped to [low, high] and rounded to the step; nulls are left out.

    The exact statistic is C, the sum of 2x - (low + high) in steps (centred at the middle of the bounds), and n. With
    w = high - low, the noise goes to A = (w n + C) / 2 and B = (w n - C) / 2, how far all values lie above low and
    below high: one record adds (a, b) with a + b = w, so both are paid by the whole budget, with no split between sum
    and count. The answer is low + w A / (A + B), clamped to the bounds.

    Under replace the number of rows is public (`rows`): nulls count as the middle, and noise goes to C alone.

    Sensitivity, in steps: l1 and l2 of (A, B) contributions * w under add_remove; 2 w for C (one w for the sum) under
    replace.
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise.
    Error: stated for `rows` records, declared or bought; without them the bounds' distance is all that is certain.
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
    def noises(self) -> tuple[tuple[Noise, int], ...]:
        """The noise on A and B, or on C."""
        width = self.grid.width
        if self.relation == "replace":
            return ((self._noise(Sensitivity.entries(1, 2 * width)), 1),)
        moved = self.contributions * width
        return ((self._noise(Sensitivity(2, moved, moved, moved * moved)), 2),)

    def error(self, beta: float = 0.05) -> float:
        """Return the half-width for `rows` records.

        If the noise on A and B is at most h, A / (A + B) is off by at most h / (w n - 2 h).
        """
        noise, entries = self.noises[0]
        width, half = self.grid.width, noise.half_width(beta, entries)
        if self.relation == "replace":
            assert self.rows is not None
            return self._capped(half / (2 * self.rows))
        room = 0 if self.rows is None else width * self.rows - 2 * half
        return self._capped(width * half / room if room > 0 else width)

    def exact(self, values: Iterable[Any]) -> tuple[int, int]:
        """Return the centred sum C, in steps, and the number of values that are not null."""
        grid = self.grid
        steps = grid.integers(values)
        return 2 * whole_sum(steps) - (grid.low + grid.high) * len(steps), len(steps)

    def exact_from(self, above: Whole, count: Whole) -> tuple[Whole, Whole]:
        """Return the exact statistic from the sum of x - low, in steps, over the `count` values that are not null.

        Both are integers, or arrays with one for each group.
        """
        return 2 * above - self.grid.width * count, count

    def _capped(self, steps: float) -> float:
        return min(steps, self.grid.width) * float(self.grid.step)

    def _inner(self, exact: Sequence[Whole]) -> Sequence[Whole]:
        centred, count = (whole_numbers(each) for each in exact)
        if self.relation == "replace":
            return (centred,)
        # Integers: w n and C have one parity, since every w - (2x - low - high) is even.
        whole_width = self.grid.width * count
        return (whole_width + centred) // 2, (whole_width - centred) // 2

    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[np.float64]:
        grid = self.grid
        if self.relation == "replace":
            assert self.rows is not None
            share = 0.5 + floats(noisy[0]) / (2.0 * grid.width * self.rows)
        else:
            above, below = floats(noisy[0]), floats(noisy[1])
            # Nothing is known where the noise hides that anyone is there: then the middle is as good as any.
            known = above + below > 0
            share = np.where(known, above / np.where(known, above + below, 1.0), 0.5)
        low, high = grid.real(grid.low), grid.real(grid.high)
        return np.clip(low + np.clip(share, 0.0, 1.0) * (high - low), low, high)


def check_rows(rows: object, relation: Relation, contributions: int, groups: int) -> None:
    """Refuse a missing size under replace, and one that is not public."""
    if rows is not None:
        whole("rows", rows)
    if relation == "add_remove":
        return
    if rows is None:
        why = "under replace the number of rows is public, and an average divides by it"
        raise BadParameter("rows", rows, why=why, fix="declare rows=, or use relation='add_remove'")
    if contributions > 1:
        why = "a replaced person may have another number of rows, so it is not public"
        raise BadParameter("contributions", contributions, why=why, fix="use relation='add_remove'")
    if groups > 1:
        why = "a replaced unit may leave one group and join another, so the rows of a group are not public"
        raise BadParameter("groups", groups, why=why, fix="use relation='add_remove'")


def trials() -> Trials:
    """Yield the worst neighbours: a value at a bound added, and one bound exchanged for the other."""
    yield Trial("a value at the top", Mean(low=0, high=2, epsilon=1), (0, 2), (2, 3))
    yield Trial("the only value", Mean(low=0, high=4, epsilon=2), (0, 0), (-4, 1))
    yield Trial("one bound for the other", Mean(low=0, high=2, epsilon=1, relation="replace", rows=3), (2, 3), (-2, 3))
    yield Trial("Gaussian", Mean(low=0, high=3, rho=0.5), (0, 4), (3, 5))
