"""Values that people name, of a declared column: as its own keys, or as runs of its steps."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.plan.nodes import Datum, stored

_FIX = "use one value, a list of them, or a range of numbers such as range(0, 18)"
Run = tuple[int, int]  # the first and the last step


def places_of(column: Column, wanted: object) -> tuple[list[Datum], bool]:
    """Return the stored values that are named, null apart; of numbers and dates only whether null is among them."""
    listed = _listed(wanted)
    nulls = not isinstance(listed, range) and any(value is None for value in listed)
    if column.kind in ("number", "date"):
        return [], nulls
    return [*dict.fromkeys(_stored(column, value) for value in listed if value is not None)], nulls


def steps_of(column: Column, wanted: object) -> list[Run]:
    """Return the runs of steps that are named, apart from one another and within the bounds.

    A range of integers stands for all of the column's numbers from its start up to, and not including, its end.
    """
    low, high = column.steps
    if isinstance(wanted, range) and column.kind == "number":
        if wanted.step != 1:
            raise BadParameter(column.name or "", wanted, why="a range has no gaps", fix="use range(0, 18)")
        step = column.step or Fraction(1)
        first, after = math.ceil(wanted.start / step), math.ceil(wanted.stop / step)
        begin, end = max(low, first), min(high, after - 1)
        return [(begin, end)] if begin <= end else []
    steps: set[int] = set()
    for value in _listed(wanted):
        if value is None:
            continue
        found = _stored(column, value)
        if isinstance(found, bool) or not isinstance(found, int) or not low <= found <= high:
            raise BadParameter(column.name or "", value, why="it lies outside the column's bounds", fix=_FIX)
        steps.add(found)
    runs: list[Run] = []
    for each in sorted(steps):
        if runs and runs[-1][1] == each - 1:
            runs[-1] = runs[-1][0], each
        else:
            runs.append((each, each))
    return runs


def cuts_of(column: Column, wanted: object) -> list[int]:
    """Return the steps at which bins have to begin, so none is named in part."""
    if column.kind not in ("number", "date"):
        return []
    return [cut for first, last in steps_of(column, wanted) for cut in (first, last + 1)]


def _stored(column: Column, value: object) -> Datum:
    if column.kind == "date" and isinstance(value, str):
        try:
            dt.date.fromisoformat(value)
        except ValueError as error:
            name, fix = column.name or "", "write it like 2024-02-29, or use a date"
            raise BadParameter(name, value, why="it is not a date", fix=fix) from error
    return stored(column, value)


def _listed(wanted: object) -> Sequence[object]:
    if isinstance(wanted, range):  # a range may be far too long to be written out
        return wanted
    if wanted is None or isinstance(wanted, str | int | float | Fraction | dt.date):
        return [wanted]
    if not isinstance(wanted, Iterable):
        raise BadParameter("values", wanted, why="these are not values of a column", fix=_FIX)
    return [*wanted]
