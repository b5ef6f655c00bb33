"""Quantile: values below which a share of the others lies, each with an interval."""

from __future__ import annotations

from discreet.account.budgets.price import Price
from discreet.measures.nested_quantiles import NestedQuantiles, nested
from discreet.measures.reach import Reach
from discreet.plan import aggregates as words


def measure(name: str, aggregate: words.Quantile, price: Price, reach: Reach) -> NestedQuantiles:
    """Return one column for each quantile; the median is the one of a half."""
    return nested(name, aggregate, price, reach)
