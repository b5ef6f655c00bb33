"""Made-up rows: values that a declared column may contain, must hold back, or cannot be read as; never anyone's."""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from itertools import islice, product
from math import prod
from pathlib import Path

from discreet.core.column import Column
from discreet.core.schema import Table
from discreet.noise import uniform

Cell = str | None  # as it stands in a file; None is a null
Row = Mapping[str, Cell]

OWNER = "~person"  # beside a row of a table without an identifier of its own: whose it is

_WORDS = tuple(f"made-up-{place}" for place in range(1, 9))
_KEYS = 12  # of more, the first will do
_EPOCH = dt.date(1970, 1, 1)
_BEYOND = ("1e300", "-1e300", "inf", "-inf", "99999999999999999999999999", "1e-300")
_BROKEN = (None, "NaN", "no number", "", "-0", "0x10", "9999-99-99")


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The rows of every table of a made-up world; two of them are neighbours, or not."""

    tables: Mapping[str, Sequence[Row]]

    def write(self, name: str, columns: Sequence[str], path: Path) -> None:
        """Write one table as a CSV file, in which anything may stand."""
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows([[row.get(column) for column in columns] for row in self.tables.get(name, ())])


def header(table: Table, keys: Sequence[str] = ()) -> list[str]:
    """Return the columns of a table's file: what tells whose a row is, the `keys` of links to it, what was declared."""
    via = table.unit.via
    told = (table.unit.identifier, None if via is None else via.column, *keys)
    return [*dict.fromkeys(each for each in told if each is not None and each not in table), *table]


def constants(thing: object) -> Iterator[object]:
    """Yield every constant and every name in a plan or an expression, whatever it is made of."""
    if is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            yield from constants(getattr(thing, field.name))
    elif isinstance(thing, tuple | list | frozenset):
        for each in thing:
            yield from constants(each)
    elif isinstance(thing, str | int | Fraction | dt.date):
        yield thing


def cells(column: Column, near: Sequence[object]) -> list[str]:
    """Return telling values of a column: its bounds, its middle, and what lies about the constants of a question."""
    match column.kind:
        case "flag":
            return ["true", "false"]
        case "category":
            keys = [str(key) for key in column.keys or ()]
            named = [key for key in keys if key in {str(each) for each in near}]
            return [*dict.fromkeys([*named, *keys])][:_KEYS]
        case "text":
            return [*dict.fromkeys([*(each for each in near if isinstance(each, str)), *_WORDS])][: 2 * _KEYS]
    low, high = column.steps
    about = {step + by for each in near if (step := _steps(column, each)) is not None for by in (-1, 0, 1)}
    # The constants of a question are few; where they are many, those that come first cut as well as the rest.
    inner = islice(sorted(step for step in about if low < step < high), _KEYS)
    return [written_step(column, step) for step in dict.fromkeys([high, low, (low + high) // 2, *inner])]


def rows(table: Table, near: Sequence[object], most: int) -> list[Row]:
    """Return rows of telling values: all there are of those a question speaks of, or so many drawn at random."""
    spoken = {each for each in near if isinstance(each, str)}
    choices = {}
    for name in table:
        found = cells(table[name], near)
        choices[name] = found if name in spoken else found[:1]
    names = list(choices)
    if prod(len(each) for each in choices.values()) <= most:
        return [dict(zip(names, row, strict=True)) for row in product(*choices.values())]
    corners: list[Row] = [{name: found[min(at, len(found) - 1)] for name, found in choices.items()} for at in (0, 1)]
    drawn = [{name: found[int(uniform(len(found)))] for name, found in choices.items()} for _ in range(most)]
    return [*corners, *drawn]


def scattered(table: Table, row: Row) -> Row:
    """Return the same row with its numbers drawn anywhere between their bounds."""
    drawn = {}
    for name in table:
        if table[name].kind == "number":
            low, high = table[name].steps
            drawn[name] = written_step(table[name], low + int(uniform(high - low + 1)))
    return {**row, **drawn}


def beyond(table: Table, row: Row, turn: int) -> Row:
    """Return a row whose numbers lie far outside of what was declared."""
    numbers = [name for name in table if table[name].kind == "number"]
    return {**row, **{name: _BEYOND[(turn + place) % len(_BEYOND)] for place, name in enumerate(numbers)}}


def missing(table: Table, row: Row) -> list[Row]:
    """Return a row so often as it has columns, each time with nothing in another one."""
    return [{**row, name: None} for name in table]


def broken(table: Table, turn: int) -> Row:
    """Return a row in which hardly anything can be read as what it was declared to be."""
    return {name: _BROKEN[(turn + place) % len(_BROKEN)] for place, name in enumerate(table)}


def _steps(column: Column, value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if column.kind == "date":
        return (value - _EPOCH).days if isinstance(value, dt.date) else None
    if isinstance(value, int | Fraction):
        return int(Fraction(value) / (column.step or 1))
    return None


def written_step(column: Column, step: int) -> str:
    """Return so many steps as a column's values are written."""
    if column.kind == "date":
        return (_EPOCH + dt.timedelta(step)).isoformat()
    number = step * (column.step or Fraction(1))
    return str(number.numerator) if number.denominator == 1 else repr(float(number))
