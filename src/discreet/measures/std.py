"""Std: the standard deviation, the root of the variance."""

from __future__ import annotations

from discreet.account.budgets.price import Price
from discreet.measures.pool import Pool, shared
from discreet.measures.reach import Reach
from discreet.measures.sums import SumMeasure
from discreet.plan import aggregates as words


def measure(name: str, aggregate: words.Std, price: Price, reach: Reach) -> SumMeasure:
    """Return the root of what the sums of a variance say."""
    return shared(name, aggregate, price, reach, Pool.of_members([(name, aggregate)], reach))
