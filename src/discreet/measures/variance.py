"""Variance: the mean squared distance from the mean, of the values that are not null."""

from __future__ import annotations

from discreet.account.budgets.price import Price
from discreet.measures.pool import Pool, shared
from discreet.measures.reach import Reach
from discreet.measures.sums import SumMeasure
from discreet.plan import aggregates as words


def measure(name: str, aggregate: words.Variance, price: Price, reach: Reach) -> SumMeasure:
    """Return a variance, from the sums of u^2, 2 u (w - u) and (w - u)^2."""
    return shared(name, aggregate, price, reach, Pool.of_members([(name, aggregate)], reach))
