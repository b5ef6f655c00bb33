"""Histogram: how many values lie in each bin, or how often each key occurs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from discreet.account.budgets.price import Price
from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.measures.bins import (
    BinMeasure,
    binned_column,
    distinct,
    first_step,
    made_bins,
    plain,
    step_above,
)
from discreet.measures.reach import Reach
from discreet.mechanisms.count import Count
from discreet.plan import aggregates as words
from discreet.plan.aggregates import Cut
from discreet.plan.keys import Key, bins, declared, shown
from discreet.plan.nodes import stored

Table = tuple[Key, tuple[int, ...], tuple[object, ...], str]


def measure(name: str, aggregate: words.Histogram, price: Price, reach: Reach) -> BinMeasure:
    """Return a count of every bin."""
    column = binned_column(aggregate, reach)
    edges = aggregate.edges
    table = _by_key(column, aggregate.keys) if edges is None else _between(column, edges)
    cells = len(table[0].values or ())
    return made_bins(name, aggregate, price, reach, Count(**price.noise(), **reach.contributions(cells)), table)


def _by_key(column: Column, keys: tuple[Any, ...] | None) -> Table:
    """Return a bin for each of these keys, or for those that were declared."""
    values = keys if keys is not None else declared(column)
    if values is None:
        why = "its keys were not declared"
        raise BadParameter("keys", column.name, why=why, fix="pass keys=[...], or group by it and give a delta")
    # Given keys are read as the column keeps them: numbers in steps, dates in days.
    values = values if keys is None else tuple(stored(column, value) for value in keys)
    labels = tuple(shown(column, value) for value in values)
    return Key("key", column, tuple(values)), tuple(range(len(values))), labels, "key"


def _between(column: Column, edges: tuple[Cut, ...]) -> Table:
    """Return a bin between every two edges; the last one is closed: what equals the last edge is in it."""
    cuts = [first_step(column, edge) for edge in edges[:-1]] + [step_above(column, edges[-1])]
    labels = [f"[{plain(low)}, {plain(high)})" for low, high in pairwise(edges)]
    labels[-1] = labels[-1][:-1] + "]"
    return bins("bin", column, distinct(cuts, edges)), tuple(range(1, len(edges))), tuple(labels), "bin"
