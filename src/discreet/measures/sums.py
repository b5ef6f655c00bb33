"""Measures: the mechanism that answers one aggregate, what it needs from the engine, and what becomes of its noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.account.budgets.price import Price
from discreet.account.losses.loss import PrivacyLoss
from discreet.answers.figures import figure
from discreet.answers.functions import value_of
from discreet.answers.interval import interval
from discreet.answers.quantity import NoisyInteger, Quantity, linear
from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.measures import moments
from discreet.mechanisms.count import Count
from discreet.mechanisms.covariance import Covariance
from discreet.mechanisms.mean import Mean
from discreet.mechanisms.parts.relabel import under
from discreet.mechanisms.parts.statistic import Statistic
from discreet.mechanisms.sum import Sum
from discreet.mechanisms.variance import Variance
from discreet.plan import aggregates as words
from discreet.plan.aggregates import Aggregate
from discreet.plan.expressions import Expression, when
from discreet.plan.refusals import IllTyped
from discreet.plan.tallies import Tally
from discreet.plan.to_sql.statement import Sums
from discreet.plan.types import type_of

# The largest value, and the inverse of the finest step, of what is averaged, added up or ranked.
LARGEST = 10**100

Exact = Any  # the exact integers of one group, as the statistic wants them


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one unit reaches into a question: rows and groups, under which relation, and the declared size.

    Under replace, `rows` and `groups` are those of a removal and an addition: twice as many.
    """

    columns: Mapping[str, Column]
    rows: int
    groups: int
    relation: Relation
    size: int | None
    people: bool = True  # whether units are people, who count once in a group; rows may come several times by joins

    def contributions(self) -> dict[str, Any]:
        """Return what a statistic has to cover; a removal and an addition are covered as twice the rows."""
        return {"contributions": self.rows, "groups": min(self.groups, self.rows)}


@dataclass(frozen=True, slots=True)
class SumMeasure:
    """One aggregate answered by noise on integers: which tallies, which statistic, which quantity of the result.

    Guarantee: the loss of the statistic, for units that reach as far as `reach` says, under its relation.
    """

    name: str
    kind: str
    about: str
    statistic: Statistic
    tallies: tuple[Tally, ...]
    price: Price
    relation: Relation
    exact: Callable[[Sequence[int]], Exact]
    quantity: Callable[[Sequence[NoisyInteger]], Quantity]
    supposed: Callable[[int], list[tuple[int, ...]]]
    times: int = 1  # in how many groups one unit meets the statistic, where that is not the statistic's own matter

    @property
    def loss(self) -> PrivacyLoss:
        """What all groups together cost."""
        return under(self.statistic.loss * self.times, self.relation)

    @property
    def word(self) -> str:
        """The mechanism's name."""
        return type(self.statistic).__name__.lower()

    def noisy(self, tallied: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the noisy integers of every group, given the exact tallies of each."""
        drawn = self.statistic.noisy([self.exact(each) for each in tallied])
        return [[int(each) for each in row] for row in drawn]

    def quantities(self, noisy: Sequence[Sequence[int]], mark: str) -> list[Quantity]:
        """Return what the noisy integers say, group by group; `mark` tells these draws from all others."""
        laws = [(noise.law, noise.scale) for noise, size in self.statistic.noises for _ in range(size)]
        return [
            self.quantity(
                [
                    NoisyInteger(f"{mark}.{self.name}.{group}.{part}", value, law, scale)
                    for part, (value, (law, scale)) in enumerate(zip(row, laws, strict=True))
                ]
            )
            for group, row in enumerate(noisy)
        ]

    @property
    def sensitivity(self) -> str:
        """How far one unit moves the integers, for people to read."""
        moved = max(noise.sensitivity.l1 for noise, _ in self.statistic.noises)
        return f"{moved * self.times:,}"

    @property
    def noise(self) -> str:
        """The noise, for people to read."""
        noise = max((noise for noise, _ in self.statistic.noises), key=lambda each: each.scale)
        word = "Laplace, scale" if noise.law == "laplace" else "Gaussian, sigma"
        return f"{word} {figure(float(noise.scale))}"

    def half_width(self, rows: int, beta: float = 0.05) -> float:
        """Return how far an end of the interval lies from the value, in the worst of some supposed groups of such size.

        Values at the bounds are the worst for a mean: one of its two sums then has all of the noise. There the interval
        is cut at the bound, so that its length would say too little.
        """
        widest = 0.0
        for tallied in self.supposed(rows):
            inner = self.statistic.inner(self.exact(tallied))
            (quantity,) = self.quantities([inner], "supposed")
            low, high = interval(quantity, 1 - beta)
            value = value_of(quantity)
            assert isinstance(low, int | float)
            assert isinstance(high, int | float)
            assert isinstance(value, int | float)
            widest = max(widest, high - value, value - low)
        return widest

    @property
    def large(self) -> int:
        """So many rows that the noise is little beside them."""
        noisiest = max(noise.half_width(0.05) / noise.sensitivity.linf for noise, _ in self.statistic.noises)
        return 10_000 * math.ceil(noisiest * self.statistic.contributions)

    @property
    def sized(self) -> bool:
        """Whether the error depends on how many rows there are."""
        return isinstance(self.statistic, Mean | Variance | Covariance)

    @property
    def spread(self) -> float:
        """The half-width by which mechanisms are compared: that of the noise alone."""
        return max(float(noise.half_width(0.05)) for noise, _ in self.statistic.noises)


def measure(name: str, aggregate: Aggregate, price: Price, reach: Reach) -> SumMeasure:
    """Return the measure of an aggregate that adds noise to sums: count, people, sum, mean, variance, covariance."""
    about = about_of(aggregate)
    made = {**price.noise(), **reach.contributions()}

    def of(
        statistic: Statistic,
        tallies: tuple[Tally, ...],
        exact: Callable[[Sequence[int]], Exact],
        quantity: Callable[[Sequence[NoisyInteger]], Quantity],
        supposed: Callable[[int], list[tuple[int, ...]]],
        times: int = 1,
    ) -> SumMeasure:
        # What is too wide to be added up exactly is refused here, and not by the engine's part once it is paid.
        Sums.of(tallies, reach.columns, DUCKDB)
        word = word_of(aggregate)
        return SumMeasure(
            name, word, about, statistic, tallies, price, reach.relation, exact, quantity, supposed, times
        )

    match aggregate:
        case words.Count(None):
            return of(Count(**made), (Tally("rows", ()),), _first, _whole, _rows)
        case words.Count(Expression() as what):
            type_of(what, reach.columns)
            return of(Count(**made), (Tally("present", (what,)),), _first, _whole, _rows)
        case words.People() if reach.people:
            # A person counts once in each group: so many counts of one each, at equal shares of the price.
            each = Count(**price.share(Fraction(1, reach.groups)).noise())
            return of(each, (Tally("people", ()),), _first, _whole, _rows, reach.groups)
        case words.People():
            return of(Count(**made), (Tally("people", ()),), _first, _whole, _rows)
        case words.Sum(what):
            low, _, step = _grid(what, reach)
            total = Sum(**_bounds(what, reach), **made)
            return of(
                total,
                (_sum(what), _present(what)),
                lambda found: found[0] + low * found[1],
                lambda noisy: linear(noisy[0], step),
                lambda rows: [(0, rows)],
            )
        case words.Mean(what):
            low, high, step = _grid(what, reach)
            mean = Mean(**_bounds(what, reach), rows=reach.size, **made)
            return of(
                mean,
                (_sum(what), _present(what)),
                lambda found: mean.exact_from(found[0], found[1]),
                lambda noisy: moments.mean(noisy, low * step, high * step, step=step),
                lambda rows: [(0, rows), ((high - low) * rows // 2, rows), ((high - low) * rows, rows)],
            )
        case words.Variance(what) | words.Std(what):
            low, high, step = _grid(what, reach)
            variance = Variance(**_bounds(what, reach), rows=reach.size, **made)
            said = moments.variance if isinstance(aggregate, words.Variance) else moments.std
            return of(
                variance,
                (_sum(what), _present(what), Tally("product", (what, what))),
                lambda found: variance.exact_from(found[0], found[2], found[1]),
                lambda noisy: said(noisy, high - low, step=step),
                lambda rows: _spreads(rows, high - low),
            )
        case words.Covariance(one, other) | words.Correlation(one, other):
            return of(*_pair(aggregate, (one, other), made, reach))
    raise BadParameter("aggregate", about, why="it is not answered by sums", fix="ask for it alone")


def _pair(
    aggregate: Aggregate, both: tuple[Expression, Expression], made: dict[str, Any], reach: Reach
) -> tuple[Any, ...]:
    grids = [_grid(each, reach) for each in both]
    bounds = tuple((low * step, high * step, step) for low, high, step in grids)
    statistic = Covariance(bounds=bounds, rows=reach.size, **made)
    (low, high, step), (floor, ceiling, other_step) = grids
    widths, steps = (high - low, ceiling - floor), (step, other_step)
    # Rows where either is null count for neither: each is null where the other is.
    one, other = when(~both[1].is_null()).then(both[0]), when(~both[0].is_null()).then(both[1])
    tallies = (
        Tally("sum", (one,)),
        Tally("sum", (other,)),
        Tally("present", both),
        Tally("product", (one, one)),
        Tally("product", (one, other)),
        Tally("product", (other, other)),
    )

    def quantity(noisy: Sequence[NoisyInteger]) -> Quantity:
        if isinstance(aggregate, words.Covariance):
            return moments.covariance(noisy, widths, steps=steps)
        return moments.correlation(noisy, widths)

    def exact(found: Sequence[int]) -> Exact:
        return statistic.exact_from(found[:2], found[3:], found[2])

    def supposed(rows: int) -> list[tuple[int, ...]]:
        """Suppose values at both ends, half of them each, in step with each other or not; or all at one end.

        What does not vary has no correlation, whose error has no bound therefore: values that fill their bounds.
        """
        wide, tall = widths
        sums = wide * rows // 2, tall * rows // 2
        squares, others = 2 * rows * wide * wide, 2 * rows * tall * tall
        spread: list[tuple[int, ...]] = [
            (*sums, rows, squares, both * rows * wide * tall, others) for both in (0, 1, 2)
        ]
        if isinstance(aggregate, words.Correlation):
            return spread
        return [*spread, (0, 0, rows, squares, 2 * rows * wide * tall, others)]

    return statistic, tallies, exact, quantity, supposed


def _spreads(rows: int, width: int) -> list[tuple[int, ...]]:
    """Suppose all values in the middle, at one end, or half of them at each end."""
    middle, far = rows * width * width, 2 * rows * width * width
    return [(width * rows // 2, rows, middle), (0, rows, far), (width * rows // 2, rows, far)]


def _first(found: Sequence[int]) -> Exact:
    return found[0]


def _rows(rows: int) -> list[tuple[int, ...]]:
    return [(rows,)]


def word_of(aggregate: Aggregate) -> str:
    """Return the aggregate's word, as it is asked for: count, mean, median, quantile, ..."""
    if isinstance(aggregate, words.Quantile) and aggregate.q == (Fraction(1, 2),):
        return "median"
    return str(aggregate.record()["aggregate"])


def about_of(aggregate: Aggregate) -> str:
    """Say what an aggregate is, for people to read: mean of cost."""
    of = ", ".join(repr(each) for each in aggregate.expressions)
    return (
        f"{word_of(aggregate)} of {of}"
        if of
        else {"count": "number of rows", "people": "number of people"}[word_of(aggregate)]
    )


def _sum(what: Expression) -> Tally:
    return Tally("sum", (what,))


def _present(what: Expression) -> Tally:
    return Tally("present", (what,))


def _whole(noisy: Sequence[NoisyInteger]) -> Quantity:
    return linear(noisy[0])


def number(what: Expression, reach: Reach) -> Column:
    """Return the type of an expression that is averaged, added up or ranked: a number."""
    found = type_of(what, reach.columns)
    if found.kind != "number":
        fix = (
            "convert it with as_number()"
            if found.kind == "flag"
            else "count it, group by it, or derive a number from it"
        )
        raise IllTyped(what, why=f"it is a {found.kind}, and this takes a number", fix=fix)
    low, high = found.steps
    step = found.step or Fraction(1)
    if max(abs(low), abs(high)) * step > LARGEST or step.denominator > LARGEST:
        # Its square, as of a variance, times the noise of a low price still has to be a float.
        why = (
            "its values are larger, or finer, than can be written with the error of an answer (up to 1e100, by 1e-100)"
        )
        raise IllTyped(what, why=why, fix="ask for it in other units: divide it, or round it")
    return found


def number_or_none(what: Expression, reach: Reach) -> Column | None:
    """Return the type of an expression if it is a number."""
    found = type_of(what, reach.columns)
    return found if found.kind == "number" else None


def _grid(what: Expression, reach: Reach) -> tuple[int, int, Fraction]:
    found = number(what, reach)
    low, high = found.steps
    return low, high, found.step or Fraction(1)


def _bounds(what: Expression, reach: Reach) -> dict[str, Any]:
    low, high, step = _grid(what, reach)
    return {"low": low * step, "high": high * step, "step": step}
