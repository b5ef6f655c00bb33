"""Sums: measures that add noise to integers which the engine sums up, several of them in one scan."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from discreet.account.budgets.price import Price
from discreet.account.losses.composition import under
from discreet.account.losses.loss import PrivacyLoss
from discreet.answers.column import figure
from discreet.answers.functions import value_of
from discreet.answers.interval import interval
from discreet.answers.quantity import NoisyInteger, Quantity, linear, redrawn
from discreet.core.exact import Exact
from discreet.core.unit import Relation
from discreet.core.value import dataclass
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.measures.measure import ExpectedError, Measure
from discreet.measures.reach import Reach, about_of, word_of
from discreet.measures.request import Integers, from_tallies
from discreet.mechanisms.parts.noisy import Noisy
from discreet.mechanisms.parts.statistic import Statistic
from discreet.plan.aggregates import Aggregate
from discreet.plan.expressions import Expression
from discreet.plan.keys import Tally
from discreet.plan.to_sql.statement import Sums


@dataclass(frozen=True, slots=True)
class SumMeasure(Measure):
    """One aggregate answered by noise on integers: which tallies, which statistic, which quantity of the result.

    Guarantee: the loss of the statistic, for units that reach as far as `reach` says, under its relation.
    """

    name: str
    kind: str
    about: str
    statistic: Statistic
    wanted: tuple[Tally, ...]
    price: Price
    relation: Relation
    exact: Callable[[Sequence[int]], Integers]
    quantity: Callable[[Sequence[NoisyInteger]], Quantity]
    supposed: Callable[[int], list[tuple[int, ...]]]
    grain: int = 1  # in how many parts the integers count a row
    times: int = 1  # in how many groups one unit meets the statistic, where that is not the statistic's own matter
    row: int = 1  # what a row adds to the integers, of a count that is computed from other sums than its own
    pool: tuple[str, ...] = ()  # the names of all that are computed from the same noisy integers, where there are more

    @classmethod
    def of(
        cls,
        name: str,
        aggregate: Aggregate,
        price: Price,
        reach: Reach,
        statistic: Statistic,
        tallies: tuple[Tally, ...],
        **others: Any,  # noqa: ANN401  (the fields that say what becomes of the tallies)
    ) -> SumMeasure:
        """Return the measure of an aggregate, refusing what is too wide to be added up exactly before it is paid."""
        made = {"exact": first, "quantity": whole, "supposed": as_rows, "grain": reach.grain, **others}
        Sums.of(tallies, reach.columns, DUCKDB, made["grain"])
        return cls(name, word_of(aggregate), about_of(aggregate), statistic, tallies, price, reach.relation, **made)

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """What is wanted of the scan that measures share."""
        return self.wanted

    @property
    def label(self) -> str:
        """Where its noise is drawn: once for all measures of a pool."""
        return f"column {self.drawn}/noise"

    @property
    def drawn(self) -> str:
        """Under whose name its noisy integers go: no name is in two pools."""
        return min(self.pool, default=self.name)

    @property
    def loss(self) -> PrivacyLoss:
        """What all groups together cost."""
        loss = self.statistic.loss
        if self.times == 1 and loss.relation == self.relation:
            return loss
        return under(loss * self.times, self.relation)

    @property
    def word(self) -> str:
        """The mechanism's name."""
        return type(self.statistic).__name__.lower()

    def noisy(self, found: Exact[Sequence[Sequence[int]]], groups: int, mark: str) -> list[list[Quantity]]:  # noqa: ARG002
        """Return one column: what the noisy integers of every group say, given the exact tallies of each.

        Guarantee: `loss`, by the statistic's noise.
        """
        return [self.quantities(self.statistic.measured(found.map(from_tallies, self.exact)), mark)]

    def noisy_together(
        self,
        pool: Sequence[Measure],
        found: Exact[Sequence[Sequence[int]]],
        groups: int,
        mark: str,
    ) -> dict[str, list[Quantity]]:
        """Return the columns of all measures of a pool, from integers that are made noisy once.

        Guarantee: `loss`, which is that of one statistic: all of them compute from what it drew.
        """
        if len(pool) == 1:
            return Measure.noisy_together(self, pool, found, groups, mark)
        noisy = self.statistic.measured(found.map(from_tallies, self.exact))
        named = self.integers(noisy, mark)
        columns: dict[str, list[Quantity]] = {}
        for each in pool:
            assert isinstance(each, SumMeasure)
            assert each.statistic == self.statistic
            assert each.drawn == self.drawn
            columns[each.name] = each.computed(named)
        return columns

    def quantities(self, noisy: Noisy, mark: str) -> list[Quantity]:
        """Return what the noisy integers say, group by group; `mark` tells these draws from all others."""
        return self.computed(self.integers(noisy, mark))

    def integers(self, noisy: Noisy, mark: str) -> list[list[NoisyInteger]]:
        """Name the noisy integers of every group: those of a pool are the same for all of its members."""
        drawn = f"{mark}.{self.drawn}"
        return [
            [
                NoisyInteger(f"{drawn}.{group}.{part}", value, law, scale)
                for part, (value, (law, scale)) in enumerate(zip(row, noisy.laws, strict=True))
            ]
            for group, row in enumerate(noisy.values)
        ]

    def computed(self, groups: Sequence[Sequence[NoisyInteger]]) -> list[Quantity]:
        """Return what the noisy integers say, group by group.

        Weights follow from declarations alone, so they are worked out for the first group and serve all of them.
        """
        if not groups:
            return []
        one = self.quantity(groups[0])
        names = [each.id for each in groups[0]]
        return [one, *(redrawn(one, dict(zip(names, group, strict=True))) for group in groups[1:])]

    @property
    def sensitivity(self) -> str:
        """How far one unit moves the sums, in steps, or a count, in rows, for people to read."""
        moved = max(noise.sensitivity.l1 for noise, _ in self.statistic.noises)
        return f"{moved // (self.grain * self.row) * self.times:,}"

    @property
    def shared(self) -> str:
        """How its price is shared, for people to read; empty where it is its own."""
        others = ", ".join(name for name in self.pool if name != self.name)
        return f" with {others}" if others else ""

    @property
    def noise(self) -> str:
        """The noise, for people to read."""
        noise = max((noise for noise, _ in self.statistic.noises), key=lambda each: each.scale)
        word = "Laplace, scale" if noise.law == "laplace" else "Gaussian, sigma"
        return f"{word} {figure(float(noise.scale / (self.grain * self.row)))}"

    def half_width(self, beta: float = 0.05, rows: int = 1) -> float:
        """Return how far an end of the interval lies from the value, in the worst of some supposed groups of such size.

        Values at the bounds are the worst for a mean: one of its two sums then has all of the noise. There the interval
        is cut at the bound, so that its length would say too little.
        """
        widest = 0.0
        for tallied in self.supposed(rows):
            inner = self.statistic.inner(self.exact([each * self.grain for each in tallied]))
            (quantity,) = self.quantities(self.statistic.supposed([inner]), "supposed")
            low, high = interval(quantity, 1 - beta)
            value = value_of(quantity)
            assert isinstance(low, int | float)
            assert isinstance(high, int | float)
            assert isinstance(value, int | float)
            widest = max(widest, high - value, value - low)
        return widest

    def expected(self, rows: int | None) -> ExpectedError:
        """Return the half-width, or the formula it follows where nobody said how many rows there are."""
        if not self.sized:
            half = self.half_width()
            return ExpectedError(half, figure(half))
        if rows is not None:
            half = self.half_width(rows=rows)
            if self.kind == "correlation":
                return ExpectedError(half, f"{figure(half)} for {rows:,} rows that fill their bounds")
            return ExpectedError(half, f"at most {figure(half)} for {rows:,} rows")
        # The noise of a mean is that of its sums over n, once n is far larger than the noise.
        far = self.large
        return ExpectedError(None, f"{figure(self.half_width(rows=far) * far)} / n")

    @property
    def large(self) -> int:
        """So many rows that the noise is little beside them."""
        noisiest = max(noise.half_width(0.05) / noise.sensitivity.linf for noise, _ in self.statistic.noises)
        return 10_000 * math.ceil(noisiest * self.statistic.contributions / self.grain)

    @property
    def sized(self) -> bool:
        """Whether the error depends on how many rows there are."""
        return self.kind in _SIZED

    @property
    def least_beta(self) -> float:
        """The least chance that half-widths are right for: those of variances are simulated."""
        return 1e-3 if self.kind in _SIZED and self.kind != "mean" else 0.0

    @property
    def spread(self) -> float:
        """The half-width by which mechanisms are compared: that of the noise alone."""
        return max(float(noise.half_width(0.05)) for noise, _ in self.statistic.noises) / self.grain

    def weight(self, tallied: Sequence[int]) -> float:
        """Return how far a row with such tallies moves all noisy integers, in units of their noise."""
        row = [each * self.grain for each in tallied]
        without, with_it = (self.statistic.inner(self.exact(each)) for each in ([0] * len(tallied), row))
        scales = [float(noise.scale) for noise, size in self.statistic.noises for _ in range(size)]
        return sum(abs(b - a) / scale for a, b, scale in zip(without, with_it, scales, strict=True))


_SIZED = ("mean", "variance", "std", "covariance", "correlation")


def first(found: Sequence[int]) -> Integers:
    """Return the only tally there is."""
    return found[0]


def whole(noisy: Sequence[NoisyInteger]) -> Quantity:
    """Return the only noisy integer there is, as it is."""
    return linear(noisy[0])


def rows_of(reach: Reach) -> Callable[[Sequence[NoisyInteger]], Quantity]:
    """Return what makes a number of rows of the only noisy integer there is."""
    return lambda noisy: linear(noisy[0], Fraction(1, reach.grain))


def as_rows(rows: int) -> list[tuple[int, ...]]:
    """Suppose a group of so many rows."""
    return [(rows,)]


def sum_of(what: Expression) -> Tally:
    """Ask for the sum of an expression, above its lower bound."""
    return Tally("sum", (what,))


def present(what: Expression) -> Tally:
    """Ask in how many rows an expression is not null."""
    return Tally("present", (what,))
