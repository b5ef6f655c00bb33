"""Declarations as people type them: columns, units, budgets and expiries in a few words, on a line or in a file."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction
from typing import Any

from discreet.account.budgets.budget import Budget
from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.link import Link
from discreet.core.rational import parse_written
from discreet.core.schema import between, date, flag, one_of, text
from discreet.core.unit import Unit, person, row

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WHOLE = re.compile(r"[+-]?\d+")
_SPAN = re.compile(r"(\d+)([hdw])")
# A key as CSV has it, with blanks around its quotes; a quote inside a plain key is a character like others.
_KEY = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^",][^,]*|))\s*(?:,|\Z)')
_HOURS = {"h": 1, "d": 24, "w": 168}
_COLUMNS = "write 0..110, 0..50000:0.01, 2020-01-01..2024-12-31, A,B,C, flag or text"


def column_of(words: str) -> Column:
    """Read a column: `0..110`, `0..50000:0.01` (step), `2020-01-01..2024-12-31`, `A,B,C`, `flag` or `text`.

    A `!` at the end promises that no null occurs. A category of one key is written with a comma: `A,`. A key that has
    a comma in it stands in double quotes, as in a CSV file.
    """
    stripped = words.strip()
    nullable = not stripped.endswith("!")
    spec = stripped.removesuffix("!").strip()
    if spec in ("flag", "text"):
        return flag(nullable=nullable) if spec == "flag" else text(nullable=nullable)
    if ".." in spec and '"' not in spec:
        low, _, high = spec.partition("..")
        if _DAY.fullmatch(low.strip()) and _DAY.fullmatch(high.strip()):
            return date(low.strip(), high.strip(), nullable=nullable)
        high, colon, step = high.partition(":")
        resolution = _number("step", step) if colon else None
        return between(_number("low", low), _number("high", high), step=resolution, nullable=nullable)
    if "," in spec or '"' in spec:
        keys = listed(spec)
        if all(_WHOLE.fullmatch(key) for key in keys):
            return one_of(*(int(_number("key", key)) for key in keys), nullable=nullable)
        return one_of(*keys, nullable=nullable)
    raise BadParameter("column", words, why="it has neither bounds nor keys", fix=_COLUMNS)


def listed(words: str) -> list[str]:
    """Read keys, separated by commas; one that has a comma in it stands in double quotes: `A,"Intensive, Care"`."""
    found, place = list[str](), 0
    while place < len(words):
        key = _KEY.match(words, place)
        if key is None:
            why = "a double quote opens a key that no other closes before the next comma"
            fix = 'write A,"Intensive, Care", and "" for a quote inside a quoted key'
            raise BadParameter("keys", words, why=why, fix=fix)
        found.append(key["plain"].strip() if key["quoted"] is None else key["quoted"].replace('""', '"'))
        place = key.end()
    return [key for key in found if key]


def _number(name: str, text: str) -> int | Fraction:
    """Read a number exactly; whole ones as int, which reads better in a refusal."""
    number = parse_written(name, text)
    return number.numerator if number.denominator == 1 else number


def unit_of(words: str, **limits: Any) -> Unit:  # noqa: ANN401  (what `person` takes, checked there)
    """Read a unit: `row`, or `person:patient_id` with its limits (`max_rows`, `max_groups`, ...).

    `via:l_orderkey=orders.o_orderkey` are the people of the rows that a column refers to.
    """
    kind, colon, identifier = words.partition(":")
    given = {name: value for name, value in limits.items() if value is not None}
    if kind == "row" and not colon:
        if set(given) - {"relation"}:
            name = min(set(given) - {"relation"})
            why = "a row unit protects single rows, so there is nothing to bound"
            raise BadParameter(name, given[name], why=why, fix="leave it out, or use person:ID")
        return row(**given)
    if kind in ("person", "via") and identifier.strip():
        if "max_rows" not in given:
            why = "the number of rows of one person has to be bounded"
            raise BadParameter(
                "max_rows", None, why=why, fix="use the most one person should count for, for example 20"
            )
        return person(via=link_of_words(identifier), **given) if kind == "via" else person(identifier.strip(), **given)
    why = "a guarantee protects single rows, or all rows that share an identifier"
    raise BadParameter("unit", words, why=why, fix="write row, person:patient_id or via:COLUMN=orders.key")


def link_of_words(words: str) -> Link:
    """Read a link: `l_orderkey = orders.o_orderkey`."""
    column, equals, referred = words.partition("=")
    table, point, key = referred.partition(".")
    if not equals or not point or not all(each.strip() for each in (column, table, key)):
        why = "a link is a column, and the table and the key that it refers to"
        raise BadParameter("via", words, why=why, fix="write l_orderkey = orders.o_orderkey")
    return Link(column.strip(), table.strip(), key.strip())


def budget_of(epsilon: str | None, delta: str | None, rho: str | None) -> Budget | None:
    """Read a budget from text, exactly as written; None where nothing is given."""
    if epsilon is None and delta is None and rho is None:
        return None
    given = {"epsilon": epsilon, "delta": delta, "rho": rho}
    return Budget(**{name: parse_written(name, value) for name, value in given.items() if value is not None})


def expiry_of(words: str, *, now: dt.datetime | None = None) -> dt.datetime:
    """Read when a grant ends: a span such as `30d`, `12h` or `8w` from now, or the first moment of a day, in UTC."""
    span, day = _SPAN.fullmatch(words.strip()), _DAY.fullmatch(words.strip())
    try:
        if span:
            return (now or dt.datetime.now(dt.UTC)) + dt.timedelta(hours=int(span[1]) * _HOURS[span[2]])
        if day:
            return dt.datetime.combine(dt.date.fromisoformat(words.strip()), dt.time(), dt.UTC)
    except (ValueError, OverflowError):
        pass
    why = "it is neither a duration nor a date"
    raise BadParameter("expires", words, why=why, fix="write 30d, 12h, 8w or 2027-01-31")
