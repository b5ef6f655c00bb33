"""Rank order: quantiles of one column, bought apart, put into their order; free, because it reads answers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.answers.quantity import BracketedValue, Quantity
from discreet.measures.measure import Measure
from discreet.measures.quantiles import QuantileMeasure

Columns = Mapping[str, Sequence[Quantity]]


def in_order(measures: Sequence[Measure], columns: Columns) -> Columns:
    """Return the columns with the quantiles of each expression in order, row by row: no minimum is above a maximum.

    A bracket that is all of the declared range loses its value: it says nothing. The values of the others are sorted,
    which brings none farther from the truth than the farthest was; an interval is widened where it has to be to hold
    its value, and so covers no less often.
    """
    found = dict(columns)
    ranked: dict[tuple[object, ...], list[tuple[Fraction, str]]] = {}
    for each in measures:
        if isinstance(each, QuantileMeasure):
            grid = each.middle.grid
            whole = each.written(grid.low), each.written(grid.high)
            listed = ranked.setdefault(each.of.signature, [])
            for q, name in zip(_ranks(each), each.names, strict=True):
                found[name] = [_pointless(quantity, whole) for quantity in found[name]]
                listed.append((q, name))
    for listed in ranked.values():
        names = [name for _, name in sorted(listed, key=lambda pair: pair[0])]
        if len(names) > 1:
            rows = [sorted_brackets(row) for row in zip(*(found[name] for name in names), strict=True)]
            found |= {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return found


def _ranks(measure: QuantileMeasure) -> tuple[Fraction, ...]:
    ranks = measure.middle.q
    return tuple(Fraction(q) for q in (ranks if isinstance(ranks, tuple) else (ranks,)))


def _pointless(quantity: Quantity, whole: tuple[object, object]) -> Quantity:
    if isinstance(quantity, BracketedValue) and (quantity.low, quantity.high) == whole and whole[0] != whole[1]:
        return BracketedValue(None, quantity.low, quantity.high, quantity.level)
    return quantity


def sorted_brackets(row: Sequence[Quantity]) -> list[Quantity]:
    """Return brackets with their values in rising order, each within its ends; those without a value stay."""
    out = list(row)
    places = [place for place, each in enumerate(row) if isinstance(each, BracketedValue) and each.value is not None]
    values = sorted(each.value for place in places if isinstance(each := row[place], BracketedValue))  # type: ignore[type-var]
    for place, value in zip(places, values, strict=True):
        each = row[place]
        assert isinstance(each, BracketedValue)
        assert value is not None
        low = None if each.low is None else min(each.low, value)
        high = None if each.high is None else max(each.high, value)
        out[place] = BracketedValue(value, low, high, each.level)
    return out
