"""Cdf: how many values lie at or below each threshold, and how many there are."""

from __future__ import annotations

from discreet.account.budgets.price import Price
from discreet.measures.bins import BinMeasure, binned_column, distinct, made_bins, plain, spread_rows, step_above
from discreet.measures.reach import Reach
from discreet.mechanisms.cdf import Cdf
from discreet.plan import aggregates as words
from discreet.plan.keys import bins


def measure(name: str, aggregate: words.Cdf, price: Price, reach: Reach) -> BinMeasure:
    """Return a distribution function: noise on a tree of the bins between thresholds."""
    column = binned_column(aggregate, reach)
    cuts = [step_above(column, cut) for cut in aggregate.thresholds]
    key = bins("at_most", column, distinct(cuts, aggregate.thresholds))
    labels = (*(plain(cut) for cut in aggregate.thresholds), "all")
    mechanism = Cdf(thresholds=tuple(range(len(cuts))), **spread_rows(price, reach))
    table = key, tuple(range(len(cuts) + 1)), labels, "at_most"
    return made_bins(name, aggregate, price, reach, mechanism, table)
