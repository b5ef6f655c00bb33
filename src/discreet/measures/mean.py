"""Mean: the mean of the values that are not null."""

from __future__ import annotations

from discreet.account.budgets.price import Price
from discreet.measures import moments
from discreet.measures.reach import Reach
from discreet.measures.sums import SumMeasure, present, sum_of
from discreet.mechanisms.mean import Mean
from discreet.plan import aggregates as words


def measure(name: str, aggregate: words.Mean, price: Price, reach: Reach) -> SumMeasure:
    """Return a mean, from how far the values lie above one bound and below the other."""
    low, high, step = reach.grid(aggregate.of)
    mean = Mean(**reach.bounds(aggregate.of), rows=reach.size, **price.noise(), **reach.contributions())
    return SumMeasure.of(
        name,
        aggregate,
        price,
        reach,
        mean,
        (sum_of(aggregate.of), present(aggregate.of)),
        exact=lambda found: mean.exact_from(found[0], found[1]),
        quantity=lambda noisy: moments.mean(noisy, low * step, high * step, step=step, grain=reach.grain),
        supposed=lambda rows: [(0, rows), ((high - low) * rows // 2, rows), ((high - low) * rows, rows)],
    )
