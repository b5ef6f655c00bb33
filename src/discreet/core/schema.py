"""Schemas: the constructors of columns, and the table that puts them behind a unit."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from discreet.core import record as records
from discreet.core.column import Column, Key, check_name
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import Number, as_written
from discreet.core.unit import Unit
from discreet.core.value import dataclass, fields


def between(low: Number, high: Number, *, step: Number | None = None, nullable: bool = True) -> Column:
    """Declare numbers from `low` to `high`, rounded to multiples of `step` (1, where both bounds are whole).

    Values outside are clamped. Bounds are exact, a float meaning the decimal it prints, and are snapped inwards
    to multiples of the step: between(0, 0.25, step=0.1) has the steps 0, 1 and 2, and never reaches 0.3.
    """
    lowest, highest = as_written("low", low), as_written("high", high)
    if lowest > highest:
        raise BadParameter("low", low, why=f"it lies above high={high!r}", fix="give the smaller bound first")
    if step is None:
        for name, given, bound in (("low", low, lowest), ("high", high, highest)):
            if bound.denominator != 1:
                why = "bounds that are not integers need a resolution"
                raise BadParameter(name, given, why=why, fix="add a step, for example step=0.01")
    resolution = as_written("step", 1 if step is None else step)
    if resolution <= 0:
        why = "numbers are rounded to multiples of it"
        raise BadParameter("step", step, why=why, fix="use the finest difference that matters, for example 0.01")
    first, last = math.ceil(lowest / resolution), math.floor(highest / resolution)
    if first > last:
        why = f"no multiple of it lies between {low!r} and {high!r}"
        raise BadParameter("step", step, why=why, fix="use a smaller step or wider bounds")
    return Column(None, "number", bounds=(first * resolution, last * resolution), step=resolution, nullable=nullable)


def one_of(*keys: Key, nullable: bool = True) -> Column:
    """Declare a category by all keys it may take; each appears in every answer, even when nobody has it."""
    return Column(None, "category", keys=keys, nullable=nullable)


def text(*, nullable: bool = True) -> Column:
    """Declare free text: its values are never shown, except by private selection."""
    return Column(None, "text", nullable=nullable)


def date(first: dt.date | str, last: dt.date | str, *, nullable: bool = True) -> Column:
    """Declare days from `first` to `last`, both included; text such as "2024-02-29" will do."""
    start, end = _day("first", first), _day("last", last)
    if start > end:
        raise BadParameter("first", first, why=f"it lies after last={last!r}", fix="give the earlier day first")
    return Column(None, "date", bounds=(start, end), nullable=nullable)


def flag(*, nullable: bool = True) -> Column:
    """Declare booleans."""
    return Column(None, "flag", nullable=nullable)


@dataclass(frozen=True, slots=True, init=False)
class Table:
    """A sensitive table as declared: its name, its unit, its columns and, if it is public, its number of rows.

    `source` says where the rows are, in the words of an engine; the declaration does not look there.
    """

    name: str
    unit: Unit
    columns: tuple[Column, ...]
    rows: int | None
    source: str | None

    def __init__(
        self,
        name: str,
        unit: Unit,
        columns: Mapping[str, Column] | Iterable[Column],
        rows: int | None = None,
        source: str | None = None,
    ) -> None:
        check_name("name", name)
        if not isinstance(unit, Unit):
            why, fix = "the protected unit has to be said", "use row() or person('id', max_rows=...)"
            raise BadParameter("unit", unit, why=why, fix=fix)
        if rows is not None and (not isinstance(rows, int) or isinstance(rows, bool) or rows < 1):
            why, fix = "a declared size is a positive integer", "leave it out unless the size is public"
            raise BadParameter("rows", rows, why=why, fix=fix)
        if source is not None:
            check_name("source", source)
        for field, value in (
            ("name", name),
            ("unit", unit),
            ("columns", _named(columns)),
            ("rows", rows),
            ("source", source),
        ):
            object.__setattr__(self, field, value)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownName("column", name, self)

    def __iter__(self) -> Iterator[str]:
        return (column.name for column in self.columns if column.name is not None)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {
            "name": self.name,
            "unit": self.unit.record(),
            "columns": [column.record() for column in self.columns],
            "rows": self.rows,
            "source": self.source,
        }

    @classmethod
    def from_record(cls, record: object) -> Table:
        """Read what `record` returned, checking it again."""
        found = records.fields("table", record, (field.name for field in fields(cls)))
        if not isinstance(found["columns"], list):
            why, fix = "it must be a list", "pass the text that to_json returned, unchanged"
            raise BadParameter("columns", found["columns"], why=why, fix=fix)
        columns = [Column.from_record(column) for column in found["columns"]]
        return cls(**{**found, "unit": Unit.from_record(found["unit"]), "columns": columns})

    def to_json(self) -> str:
        """Write the table as versioned JSON."""
        return records.write("table", self.record())

    @classmethod
    def from_json(cls, text: str) -> Table:
        """Read what `to_json` wrote."""
        return cls.from_record(records.read("table", text))


def _named(columns: object) -> tuple[Column, ...]:
    if isinstance(columns, Mapping):
        found = tuple(_column(column, f"columns[{name!r}]").named(name) for name, column in columns.items())
    elif isinstance(columns, Iterable) and not isinstance(columns, str):
        found = tuple(_column(column, "columns") for column in columns)
        for column in found:
            check_name("columns", column.name)
    else:
        why, fix = "columns are declared under their names", "write columns={'age': between(0, 110)}"
        raise BadParameter("columns", columns, why=why, fix=fix)
    if not found:
        raise BadParameter("columns", columns, why="there is nothing to ask about", fix="declare at least one column")
    names = [column.name for column in found]
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    if twice:
        raise BadParameter("columns", twice[0], why="the name is used twice", fix="name each column once")
    return found


def _column(value: object, where: str) -> Column:
    if isinstance(value, Column):
        return value
    why, fix = "it is not a column", "use between, one_of, text, date or flag: {'age': between(0, 110)}"
    raise BadParameter(where, value, why=why, fix=fix)


def _day(name: str, value: object) -> dt.date:
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value
    try:
        return dt.date.fromisoformat(value)  # type: ignore[arg-type]  # what is not text lands in the refusal
    except (TypeError, ValueError) as error:
        why, fix = "it is not a day", "use a datetime.date, or text such as '2024-02-29'"
        raise BadParameter(name, value, why=why, fix=fix) from error
