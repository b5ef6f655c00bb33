"""Dummy tables: rows made up from a declaration alone, to write code with before anything is spent."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.core.schema import Table

MOST_ROWS = 1_000_000
# Every so many values of a column that may be missing is.
_MISSING = 20
_MIX = 0x9E3779B97F4A7C15
_WORDS = 2**64


@dataclass(frozen=True, slots=True, repr=False)
class DummyTable:
    """Made-up rows by column.

    Guarantee: a function of the declaration, the number of rows and the seed: no row of the table was read.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __repr__(self) -> str:
        return f"DummyTable({self.name!r}, rows={len(self)}, columns={[*self.columns]})"

    def record(self) -> dict[str, list[Any]]:
        """Return the columns as plain JSON values; days are text."""
        return {name: [_plain(each) for each in values] for name, values in self.columns.items()}

    def to_csv(self) -> str:
        """Write the rows as CSV with a header."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(
            ["" if each is None else _flag(each) for each in row] for row in zip(*self.columns.values(), strict=True)
        )
        return file.getvalue()

    def to_pandas(self) -> Any:  # noqa: ANN401  (pandas is not needed to install Discreet)
        """Return a pandas DataFrame."""
        from discreet.core.errors import MissingExtra

        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtra("a data frame of a dummy table", "pandas", "pandas") from error
        return pd.DataFrame({name: list(values) for name, values in self.columns.items()})

    def to_arrow_bytes(self) -> bytes:
        """Write the rows as an Arrow stream."""
        from discreet.core.errors import MissingExtra

        try:
            import pyarrow as pa
        except ImportError as error:
            raise MissingExtra("an Arrow stream of a dummy table", "arrow", "pyarrow") from error
        table = pa.table({name: list(values) for name, values in self.columns.items()})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        content: bytes = sink.getvalue().to_pybytes()
        return content


def dummy(table: Table, rows: int = 1000, seed: int = 0) -> DummyTable:
    """Make up rows: values all over the declared ranges, each key about as often, some nulls where they are allowed.

    People have up to as many rows as the unit allows, at most five. The same seed gives the same rows.
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= MOST_ROWS:
        why = f"a dummy table has 1 to {MOST_ROWS:,} rows"
        raise BadParameter("rows", rows, why=why, fix="use 1000, or leave it out")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BadParameter("seed", seed, why="a seed is a whole number from 0 on", fix="leave it out")
    made: dict[str, Sequence[Any]] = {}
    unit = table.unit
    if unit.identifier is not None and unit.identifier not in [*table]:
        each = min(5, max(1, unit.max_rows))
        made[unit.identifier] = [f"p{number // each + 1}" for number in range(rows)]
    for place, column in enumerate(table.columns):
        words = _Words(seed * 1_000_003 + place + 1)
        identifies = column.name == unit.identifier
        made[column.name or ""] = [_value(column, words, nulls=not identifies) for _ in range(rows)]
    return DummyTable(table.name, made)


class _Words:
    """A fixed stream of numbers that mean nothing: no secret is behind it, and nothing protects anyone."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed % _WORDS

    def below(self, many: int) -> int:
        """Return the next number below so many (splitmix64)."""
        self._state = (self._state + _MIX) % _WORDS
        word = self._state
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % _WORDS
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % _WORDS
        return (word ^ (word >> 31)) * many >> 64 if many <= _WORDS else (word ^ (word >> 31)) % many


def _value(column: Column, words: _Words, *, nulls: bool) -> Any:  # noqa: ANN401  (a value of the column's kind)
    if column.nullable and nulls and words.below(_MISSING) == 0:
        return None
    match column.bounds:
        case (Fraction() as low, Fraction() as high):
            assert column.step is not None
            found = low + column.step * words.below(int((high - low) / column.step) + 1)
            return int(found) if found.denominator == 1 and column.step.denominator == 1 else float(found)
        case (dt.date() as first, dt.date() as last):
            return first + dt.timedelta(days=words.below((last - first).days + 1))
    if column.keys is not None:
        return column.keys[words.below(len(column.keys))]
    if column.kind == "flag":
        return words.below(2) == 1
    return f"text {words.below(1000)}"


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, dt.date) else value


def _flag(value: object) -> object:
    return ("true" if value else "false") if isinstance(value, bool) else value
