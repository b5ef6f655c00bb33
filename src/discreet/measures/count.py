"""Count: how many rows there are; or in how many of them something is not null."""

from __future__ import annotations

from discreet.account.budgets.price import Price
from discreet.measures.reach import Reach
from discreet.measures.sums import SumMeasure, present, rows_of
from discreet.mechanisms.count import Count
from discreet.plan import aggregates as words
from discreet.plan.keys import Tally
from discreet.plan.types import type_of


def measure(name: str, aggregate: words.Count, price: Price, reach: Reach) -> SumMeasure:
    """Return a count with noise for as many rows as a unit has."""
    statistic = Count(**price.noise(), **reach.contributions())
    if aggregate.of is not None:
        type_of(aggregate.of, reach.columns)
    tally = Tally("rows", ()) if aggregate.of is None else present(aggregate.of)
    return SumMeasure.of(name, aggregate, price, reach, statistic, (tally,), quantity=rows_of(reach))
