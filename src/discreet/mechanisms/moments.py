"""Moments: count, sum, mean and variance of bounded values at once, all from the same few noisy integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from discreet.core.errors import BadParameter
from discreet.core.rational import Number
from discreet.core.value import dataclass, replace
from discreet.mechanisms.parts.integer_noise import Noise, Sensitivity, Whole, floats, whole_numbers
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.raw_values import Grid, column, whole_sum
from discreet.mechanisms.parts.statistic import Statistic
from discreet.noise.arrays import NDArray, np


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments(Statistic):
    """Releases the count, the sum, the mean and the variance of values clamped to [low, high], from one measurement.

    With u = x - low in steps and w = high - low, a value adds to the `order` + 1 terms of (u + (w - u))^order:

    - order 2: u^2, 2 u (w - u) and (w - u)^2, which tell all four;
    - order 1: u and w - u, which tell count, sum and mean;
    - order 0: 1, which tells the count.

    The terms of a value are never negative and add up to w^order, wherever in its bounds it lies. With `nulls` a row
    that is null adds w^order to an integer of its own, so that the number of all rows is told as well. Then the answer
    starts with the number of rows; it goes on with count, sum, mean and variance, as far as the order goes.

    Sensitivity, in steps^order: a row adds a vector without a negative entry whose entries add up to w^order, so its
    l1 norm is w^order, and its l2 norm is at most that, which values at the bounds reach. By the triangle inequality
    `contributions` rows move the integers by contributions * w^order in either norm under add_remove. Under replace two
    such vectors are subtracted: twice as much in l1, the root of two in l2, since no entry is negative.
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise, for all of the answers together.
    Error: of the number of rows, which is the sum of all noisy integers over w^order.
    """

    low: Number
    high: Number
    step: Number | None = None
    order: Literal[0, 1, 2] = 2
    nulls: bool = False

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        grid = Grid.between(self.low, self.high, self.step)
        self._set(low=grid.low * grid.step, high=grid.high * grid.step, step=grid.step)
        if self.order not in (0, 1, 2) or isinstance(self.order, bool):
            why, fix = "it is the highest power of a value that is added up: 0, 1 or 2", "use 2 for a variance"
            raise BadParameter("order", self.order, why=why, fix=fix)

    @property
    def grid(self) -> Grid:
        """The bounds, counted in steps."""
        return Grid.of(self.low, self.high, self.step)

    @property
    def whole(self) -> int:
        """What one row adds to all integers together."""
        return int(self.grid.width**self.order)

    @property
    def noises(self) -> tuple[tuple[Noise, int], ...]:
        """One noise, on every integer."""
        entries, moved = self.order + 1 + self.nulls, self.contributions * self.whole
        found = Sensitivity.entries(1, moved) if entries == 1 else Sensitivity(entries, moved, moved, moved * moved)
        if self.relation == "replace" and self.groups == 1:
            found = replace(found.exchanged(one_sign=True), l0=min(entries, 2 * found.l0))
            if entries == 1:  # one integer moves by one of the two vectors at most
                found = Sensitivity.entries(1, moved)
        return ((self._noise(found), entries),)

    def error(self, beta: float = 0.05) -> float:
        """Return the half-width of the number of rows."""
        ((noise, entries),) = self.noises
        return entries * noise.half_width(beta, entries) / self.whole

    def exact(self, values: Iterable[Any]) -> tuple[int, ...]:
        """Return the number of rows, that of values, and the sums of u and of u^2, as far as the order goes."""
        array, present = column(values)
        if self.order == 0:
            return len(array), int(present.sum())
        steps, known = self.grid.place(array, present)
        above = steps - self.grid.low
        sums = (whole_sum(above), sum(each * each for each in above.tolist()))
        return len(array), int(known.sum()), *sums[: self.order]

    def exact_from(self, rows: Whole, count: Whole, above: Whole = 0, products: Whole = 0) -> tuple[Whole, ...]:
        """Return the exact statistic from sums over the `count` values that are not null, in steps.

        `above` is the sum of u, `products` that of y^2 + w^2 with y = 2u - w, which is 4 u^2 - 4 u w + 2 w^2.
        """
        width = self.grid.width
        squares = (products - 2 * width * width * count) // 4 + width * above
        return (rows, count, above, squares)[: 2 + self.order]

    def _inner(self, exact: Sequence[Whole]) -> Sequence[Whole]:
        rows, count, *sums = (whole_numbers(each) for each in exact)
        width = self.grid.width
        terms: list[Whole] = [count]
        if self.order == 1:
            (above,) = sums
            terms = [above, width * count - above]
        elif self.order == 2:
            above, squares = sums
            mixed = width * above - squares
            terms = [squares, 2 * mixed, width * (width * count - above) - mixed]
        return [*terms, (rows - count) * self.whole] if self.nulls else terms

    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[np.float64]:
        terms = np.stack([floats(each) for each in noisy], axis=-1) / float(self.whole)
        shares = terms[..., : self.order + 1]
        count = shares.sum(-1)
        found = [terms.sum(-1)] if self.nulls else []
        found.append(count)
        if self.order:
            grid = self.grid
            low, high = grid.real(grid.low), grid.real(grid.high)
            places = np.linspace(1.0, 0.0, self.order + 1)  # of u / w in the terms: 1, 1/2 and 0 for squares
            some = np.where(count > 0, count, 1.0)
            # Nothing is known where the noise hides that anyone is there: then the middle is as good as any.
            mean = np.where(count > 0, np.clip((shares * places).sum(-1) / some, 0.0, 1.0), 0.5)
            found += [(shares * (low + (high - low) * places)).sum(-1), np.clip(low + mean * (high - low), low, high)]
            if self.order == 2:
                second = np.where(count > 0, shares[..., 0] / some, 0.5)
                found.append(np.clip(second - mean**2, 0.0, 0.25) * (high - low) ** 2)
        return np.stack(found, axis=-1)


def trials() -> Trials:
    """Yield the worst neighbours: a value at a bound, a null, the middle, and one bound for the other."""
    yield Trial("a value at the top", Moments(low=0, high=2, epsilon=1), (3, 3, 2, 2), (4, 4, 4, 6))
    yield Trial("a null", Moments(low=0, high=2, epsilon=1, nulls=True), (2, 2, 1, 1), (3, 2, 1, 1))
    yield Trial("the middle", Moments(low=0, high=2, epsilon=2), (1, 1, 0, 0), (2, 2, 1, 1))
    yield Trial("order 1", Moments(low=0, high=3, epsilon=1, order=1, nulls=True), (0, 0, 0), (1, 1, 3))
    replaced = Moments(low=0, high=2, epsilon=1, relation="replace")
    yield Trial("one bound for the other", replaced, (2, 2, 2, 4), (2, 2, 0, 0))
    yield Trial("Gaussian", Moments(low=0, high=2, rho=0.5), (1, 1, 0, 0), (2, 2, 2, 4))
