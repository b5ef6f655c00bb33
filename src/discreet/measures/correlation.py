"""Correlation: the covariance over both standard deviations, over rows in which neither value is null."""

from __future__ import annotations

from functools import partial

from discreet.account.budgets.price import Price
from discreet.measures import moments
from discreet.measures.covariance import pair, spreads
from discreet.measures.reach import Reach
from discreet.measures.sums import SumMeasure
from discreet.plan import aggregates as words


def measure(name: str, aggregate: words.Correlation, price: Price, reach: Reach) -> SumMeasure:
    """Return a correlation.

    What does not vary has no correlation, whose error has no bound therefore: values that fill their bounds are
    supposed.
    """
    both = aggregate.of, aggregate.other
    return pair(name, aggregate, both, price, reach, partial(moments.correlation, grain=reach.grain), spreads)
