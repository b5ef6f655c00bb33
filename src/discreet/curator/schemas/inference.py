"""Inference: the columns of a public table, read off its rows, which need no protection.

Nothing of this is ever done to a private table, whose bounds and keys are declared or bought.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.column import Column
from discreet.core.errors import BadParameter, Refusal
from discreet.core.schema import between, date, flag, one_of, text
from discreet.core.value import dataclass
from discreet.engines.dialect import Dialect, select
from discreet.engines.engine import Engine
from discreet.engines.physical import Physical
from discreet.plan.to_sql.dimension_join import read_sql
from discreet.plan.to_sql.scalar import is_readable, raw_sql

if TYPE_CHECKING:
    from discreet.ask.public_table import PublicTable

# Texts with more values than this are free text.
MOST_VALUES = 1_000
_MOST_NUMBER = 10**18
_EPOCH = dt.date(1970, 1, 1)
_FIRST, _LAST = dt.date(1, 1, 1), dt.date(9999, 12, 31)
# Of numbers in texts the whole ones, then those with one decimal place, with two, and so on: no digit is lost.
_NUMBERS = ("-?(0|[1-9][0-9]{0,16})", *(f"-?(0|[1-9][0-9]{{0,9}})([.][0-9]{{1,{places}}})?" for places in range(1, 7)))
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_VALUE, _TIMES = '"~value"', '"~times"'


@dataclass(frozen=True, slots=True)
class PublicLook:
    """A look at public rows: an engine, and how a source is read there.

    Of an `untyped` source, a CSV file or rows from Python, all values are texts; those of a column that spell numbers
    or days throughout, without zeros before them, are that.
    """

    engine: Engine
    dialect: Dialect
    source: str
    physical: Mapping[str, str]
    untyped: bool = False

    def columns(self) -> dict[str, Column]:
        """Return a declaration of every column that can be read, the narrowest that holds all of its values.

        Columns without a value are left out. Floats have no resolution of their own, so that one has to be declared.
        """
        found = {name: column for name in self.physical if (column := self._column(name)) is not None}
        if not found:
            why = "none of its columns can be read, or none has a value"
            raise BadParameter("columns", [*self.physical], why=why, fix="declare the columns: columns={...}")
        return found

    def reuse(self, table: PublicTable, columns: Sequence[str], most: int) -> tuple[int, int, int]:
        """Return how many keys are in more rows than that, in how many the most frequent is, and rows without one."""
        relation, keys = table.relation(), [self.dialect.quote(name) for name in columns]
        declared = [column for column in table.dimension.columns if column.name in columns]
        read = select([read_sql(column, relation, self.dialect) for column in declared], self.source)
        there = " AND ".join(f"{key} IS NOT NULL" for key in keys)
        times = select((f"count(*) AS {_TIMES}",), read, where=there, by=keys)
        counted = select((f"count(CASE WHEN {_TIMES} > {most} THEN 1 END)", f"max({_TIMES})"), times)
        ((more, largest),) = self.engine.rows(counted)
        ((without,),) = self.engine.rows(select("count(*)", read, where=f"NOT ({there})"))
        return int(more or 0), int(largest or 0), int(without or 0)

    def check_bounds(self, table: PublicTable, columns: Sequence[str]) -> None:
        """Refuse declared bounds that keys lie outside of: clamped they would be other keys."""
        for column in table.dimension.columns:
            physical = Physical.parse(self.physical[column.name or ""])
            if column.name not in columns or column.kind != "number" or physical.family not in ("integer", "decimal"):
                continue
            step = Fraction(1, 10**physical.places)
            low, high = self._ends_of_number(column.name or "", step)
            first, last = (steps * (column.step or 1) for steps in column.steps)
            if low is not None and high is not None and not first <= low * step <= high * step <= last:
                why = f"its values go from {low * step} to {high * step}, and clamped they would be other keys"
                fix = f"declare between({low * step}, {high * step}), or leave columns= out"
                raise BadParameter("columns", column.name, why=why, fix=fix)

    def _column(self, name: str) -> Column | None:
        kind = self.physical[name]
        physical = Physical.parse(kind)
        match physical.family:
            case "boolean":
                return flag()
            case "integer" | "decimal":
                return self._number(name, physical.places)
            case "date" | "timestamp" | "instant":
                return self._days(name)
            case "text":
                return (self._spelled(name) if self.untyped else None) or self._text(name)
            case "double" | "numeric":
                why = f"its numbers, of the type {kind}, have no resolution of their own"
                fix = f"declare the columns that are to be used: columns={{{name!r}: dp.between(0, 1, step=0.01), ...}}"
                raise BadParameter("columns", name, why=why, fix=fix)
        return None

    def _number(self, name: str, places: int) -> Column | None:
        step = Fraction(1, 10**places)
        low, high = self._ends_of_number(name, step)
        return None if low is None or high is None else between(low * step, high * step, step=step)

    def _days(self, name: str) -> Column | None:
        widest = date(_FIRST, _LAST).named(name)
        if not is_readable(widest, self.physical[name], self.dialect):
            return None
        low, high = self._ends(widest)
        if low is None or high is None:
            return None
        return date(_EPOCH + dt.timedelta(low), _EPOCH + dt.timedelta(high))

    def _spelled(self, name: str) -> Column | None:
        """Return the column of numbers or days that all texts of a column spell; None where one spells neither."""
        read = select(f"{self._read(text().named(name))} AS {_VALUE}", self.source)
        asked = [
            f"count(CASE WHEN NOT {self.dialect.matches(_VALUE, pattern)} THEN 1 END)" for pattern in (*_NUMBERS, _DAY)
        ]
        ((there, *others),) = self.engine.rows(select((f"count({_VALUE})", *asked), read))
        if not there:
            return None
        *numbers, days = (not other for other in others)
        if any(numbers):
            return self._number(name, numbers.index(True))
        return self._days(name) if days else None

    def _ends_of_number(self, name: str, step: Fraction) -> tuple[int | None, int | None]:
        """Return the least and the largest value of a column of numbers, in steps; None where it has none."""
        low, high = self._ends(between(-_MOST_NUMBER * step, _MOST_NUMBER * step, step=step).named(name))
        if low is not None and high is not None and max(-low, high) >= _MOST_NUMBER:
            why = "its values are too large to be counted in steps"
            raise BadParameter("columns", name, why=why, fix="declare the columns, and leave this one out")
        return low, high

    def _ends(self, widest: Column) -> tuple[int | None, int | None]:
        read = select(f"{self._read(widest)} AS {_VALUE}", self.source)
        ((low, high),) = self.engine.rows(select((f"min({_VALUE})", f"max({_VALUE})"), read))
        return (None, None) if low is None or high is None else (int(low), int(high))

    def _text(self, name: str) -> Column | None:
        read = select(f"{self._read(text().named(name))} AS {_VALUE}", self.source)
        values = select(_VALUE, read, where=f"{_VALUE} IS NOT NULL", by=(_VALUE,))
        found = sorted(str(value) for (value,) in self.engine.rows(f"{values} LIMIT {MOST_VALUES + 1}"))
        if not found:
            return None
        if len(found) <= MOST_VALUES:
            with suppress(Refusal):  # of what cannot be a key of a category, free text is made
                return one_of(*found)
        return text()

    def _read(self, column: Column) -> str:
        return raw_sql(column, self.physical[column.name or ""], self.dialect)
