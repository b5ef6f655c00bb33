"""Covariance: how two columns vary together, over rows in which neither is null."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from discreet.account.budgets.price import Price
from discreet.answers.quantity import NoisyInteger, Quantity
from discreet.measures import moments
from discreet.measures.reach import Reach
from discreet.measures.sums import SumMeasure
from discreet.mechanisms.covariance import Covariance
from discreet.plan import aggregates as words
from discreet.plan.expressions import Expression, when
from discreet.plan.keys import Tally

Widths = tuple[int, int]


def measure(name: str, aggregate: words.Covariance, price: Price, reach: Reach) -> SumMeasure:
    """Return a covariance; values that do not vary are supposed too."""
    steps = reach.grid(aggregate.of)[2], reach.grid(aggregate.other)[2]

    def said(noisy: Sequence[NoisyInteger], widths: Widths) -> Quantity:
        return moments.covariance(noisy, widths, steps=steps, grain=reach.grain)

    def supposed(rows: int, widths: Widths) -> list[tuple[int, ...]]:
        wide, tall = widths
        squares, others = 2 * rows * wide * wide, 2 * rows * tall * tall
        return [*spreads(rows, widths), (0, 0, rows, squares, 2 * rows * wide * tall, others)]

    return pair(name, aggregate, (aggregate.of, aggregate.other), price, reach, said, supposed)


def pair(
    name: str,
    aggregate: words.Covariance | words.Correlation,
    both: tuple[Expression, Expression],
    price: Price,
    reach: Reach,
    said: Callable[[Sequence[NoisyInteger], Widths], Quantity],
    supposed: Callable[[int, Widths], list[tuple[int, ...]]],
) -> SumMeasure:
    """Return the measure of two columns together: what is `said` of their sums and the sums of their products."""
    grids = [reach.grid(each) for each in both]
    bounds = tuple((low * step, high * step, step) for low, high, step in grids)
    made: dict[str, Any] = {**price.noise(), **reach.contributions()}
    statistic = Covariance(bounds=bounds, rows=reach.size, **made)
    (low, high, _), (floor, ceiling, _) = grids
    widths = high - low, ceiling - floor
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
    return SumMeasure.of(
        name,
        aggregate,
        price,
        reach,
        statistic,
        tallies,
        exact=lambda found: statistic.exact_from(found[:2], found[3:], found[2]),
        quantity=lambda noisy: said(noisy, widths),
        supposed=lambda rows: supposed(rows, widths),
    )


def spreads(rows: int, widths: Widths) -> list[tuple[int, ...]]:
    """Suppose values at both ends, half of them each, in step with each other or not."""
    wide, tall = widths
    sums = wide * rows // 2, tall * rows // 2
    squares, others = 2 * rows * wide * wide, 2 * rows * tall * tall
    return [(*sums, rows, squares, both * rows * wide * tall, others) for both in (0, 1, 2)]
