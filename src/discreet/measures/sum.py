"""Sum: the sum of the values that are not null."""

from __future__ import annotations

from discreet.account.budgets.price import Price
from discreet.answers.quantity import linear
from discreet.measures.reach import Reach
from discreet.measures.sums import SumMeasure, present, sum_of
from discreet.measures.totals import total_measure
from discreet.mechanisms.sum import Sum
from discreet.plan import aggregates as words


def measure(name: str, aggregate: words.Sum, price: Price, reach: Reach) -> SumMeasure:
    """Return a sum in steps, with noise for as many rows at the farther bound as a unit has, or for a clamped total."""
    if aggregate.per_person is not None:
        return total_measure(name, aggregate, price, reach)
    low, _, step = reach.grid(aggregate.of)
    return SumMeasure.of(
        name,
        aggregate,
        price,
        reach,
        Sum(**reach.bounds(aggregate.of), **price.noise(), **reach.contributions()),
        (sum_of(aggregate.of), present(aggregate.of)),
        exact=lambda found: found[0] + low * found[1],
        quantity=lambda noisy: linear(noisy[0], step / reach.grain),
        supposed=lambda rows: [(0, rows)],
    )
