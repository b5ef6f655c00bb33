"""Quantile: values below which a share of the others lies, each with a bracket."""

from __future__ import annotations

from discreet.account.budgets.price import Price
from discreet.measures.quantiles import QuantileMeasure, ranked
from discreet.measures.reach import Reach
from discreet.plan import aggregates as words


def measure(name: str, aggregate: words.Quantile, price: Price, reach: Reach) -> QuantileMeasure:
    """Return one column for each quantile; the median is the one of a half."""
    return ranked(name, aggregate, aggregate.q, price, reach)
