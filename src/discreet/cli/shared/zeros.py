"""Combinations that no row can have, as typed on a command line: age=0:12,married=true."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import parse_written

_FIX = "write column=value,column=value; several values as 1|2|3, a range as 0:12 (12 not included), null as null"
_FLAGS = {"true": True, "false": False}
_MOST = 1 << 20  # values of one range


def zeros_of(texts: Iterable[str], columns: Mapping[str, Column]) -> list[dict[str, object]]:
    """Read combinations of values; each of them is impossible as a whole."""
    return [_zero(text, columns) for text in texts]


def _zero(text: str, columns: Mapping[str, Column]) -> dict[str, object]:
    found: dict[str, object] = {}
    for part in text.split(","):
        name, equals, values = (each.strip() for each in part.partition("="))
        if not equals or not values:
            raise BadParameter("zero", text, why=f"{part.strip()!r} gives no column a value", fix=_FIX)
        if name not in columns:
            raise UnknownName("column", name, columns)
        if name in found:
            raise BadParameter("zero", text, why=f"{name} is named twice", fix="list its values once, as in 1|2|3")
        found[name] = _values(columns[name].named(name), values)
    return found


def _values(column: Column, text: str) -> object:
    first, colon, after = text.partition(":")
    if colon and column.kind in ("number", "date"):
        return _range(column, first.strip(), after.strip())
    return [_value(column, each.strip()) for each in text.split("|")]


def _value(column: Column, text: str) -> object:
    if text == "null" and text not in (column.keys or ()):
        return None
    match column.kind:
        case "number":
            number = parse_written(column.name or "zero", text)
            return int(number) if number.denominator == 1 else number
        case "date":
            return _day(column, text)
        case "flag":
            if text.lower() not in _FLAGS:
                raise BadParameter("zero", text, why=f"{column.name} is true or false", fix="write true or false")
            return _FLAGS[text.lower()]
    # A key is what prints like the text; text that is none is refused where values are read.
    return next((key for key in column.keys or () if str(key) == text), text)


def _range(column: Column, first: str, after: str) -> object:
    if column.kind == "date":
        begin, end = _day(column, first), _day(column, after)
        days = (end - begin).days
        return [begin + dt.timedelta(day) for day in range(_few(column, days))]
    low, high = (parse_written(column.name or "zero", each) for each in (first, after))
    if low.denominator == high.denominator == 1:
        return range(int(low), int(high))
    step = column.step or Fraction(1)
    start = math.ceil(low / step)
    return [(start + each) * step for each in range(_few(column, math.ceil(high / step) - start))]


def _few(column: Column, many: int) -> int:
    if not 0 < many <= _MOST:
        why = f"a range has 1 to {_MOST:,} values, and its end is not among them"
        raise BadParameter("zero", column.name, why=why, fix="write the smaller end first, as in 0:12")
    return many


def _day(column: Column, text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise BadParameter(
            column.name or "zero", text, why="it is not a date", fix="write it like 2024-02-29"
        ) from None
