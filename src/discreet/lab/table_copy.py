"""Copies: a table taken out to be attacked, in memory, under no budget, and never what a vault holds."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter, UnknownName
from discreet.publish.code_table import columns_of

if TYPE_CHECKING:
    import duckdb

Bits = NDArray[np.int64]

_PARQUET = ("FROM read_parquet(?)",)
# A file that is not as its first lines promise (a word among numbers, lines that end in two ways) is read as text.
_PLAIN = "delim=',', quote='\"', escape='\"', header=true, all_varchar=true, strict_mode=false, parallel=false"
# Booleans stay as they are written, so `yes` is asked for as yes.
_KINDS = "auto_type_candidates=['BIGINT', 'HUGEINT', 'DOUBLE', 'TIME', 'DATE', 'TIMESTAMP', 'VARCHAR']"
# Types whose numbers DuckDB hands over as floats: those beyond 2^53 would be merged, and people with them.
_WIDE = re.compile(r"U?HUGEINT|DECIMAL\((1[6-9]|[23]\d),0\)").fullmatch
_EXACT = 1 << 53
_INTEGER = re.compile(r"\s*[-+]?\d+\s*").fullmatch
_CSV = (f"FROM read_csv(?, {_KINDS})", f"FROM read_csv(?, {_PLAIN})")


@dataclass(frozen=True, slots=True, eq=False)
class TableCopy:
    """A table as columns in memory; `identifier` names the column that says whose a row is, if there is one.

    Text is an array of objects and a missing value is None; numbers and dates are arrays of their own, or of objects
    where some are missing.
    """

    name: str
    columns: Mapping[str, NDArray[Any]]
    identifier: str | None = None

    @classmethod
    def read(cls, source: object, *, identifier: str | None = None, name: str | None = None) -> TableCopy:
        """Copy a CSV or Parquet file, a data frame, an Arrow table or a dict of columns."""
        if isinstance(source, str | Path):
            found, called = _file(Path(source)), Path(source).name.partition(".")[0]
        else:
            found, called = {key: _array(values) for key, values in columns_of(source).items()}, "table"
        copied = cls(name or called, found, identifier)
        if not found or len({len(values) for values in found.values()}) > 1:
            why = "a table has columns, all of the same length"
            raise BadParameter("table", str(name or called), why=why, fix="give each row all its values")
        if identifier is not None and copied.column(identifier).dtype.kind == "f" and _large(copied.column(identifier)):
            why = "its numbers are floats beyond 2^53, each of which may stand for several people"
            raise BadParameter("identifier", identifier, why=why, fix="store it as text or as integers")
        return copied

    @property
    def rows(self) -> int:
        """How many rows there are: a copy has no secrets from the one who made it."""
        return len(next(iter(self.columns.values())))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the columns, without the identifier."""
        return tuple(name for name in self.columns if name != self.identifier)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column; an unknown one is refused with the nearest that exist."""
        if name not in self.columns:
            raise UnknownName("column", name, self.columns)
        return self.columns[name]

    def codes(self, names: Sequence[str]) -> Bits:
        """Return an integer for every row, 0, 1, ...: equal where the rows agree in all these columns."""
        total: Bits = np.zeros(self.rows, np.int64)
        for place, name in enumerate(names):
            codes = _coded(self.column(name))
            total = total * (int(codes.max(initial=0)) + 1) + codes
            if place:  # stays small, however many columns
                total = np.unique(total, return_inverse=True)[1].astype(np.int64)
        return total

    def bits(self, column: str, value: object = None) -> Bits:
        """Return a secret bit for every row: whether the column has the value (as text), or its most common value."""
        codes = self.codes([column])
        if value is None:
            return np.asarray(codes == int(np.bincount(codes).argmax()), np.int64)
        found = np.array([str(each) == str(value) for each in self.column(column)], np.int64)
        if not found.any():
            known = sorted({str(each) for each in self.column(column)})
            raise UnknownName(f"value of {column}", str(value), known)
        return found

    def taken(self, rows: NDArray[Any]) -> TableCopy:
        """Return the copy with some of its rows alone, by a mask or by places."""
        return TableCopy(self.name, {name: values[rows] for name, values in self.columns.items()}, self.identifier)

    def people(self) -> TableCopy:
        """Return the copy with the first row of each person, or all of it where no column identifies people."""
        if self.identifier is None:
            return self
        first = np.unique(self.codes([self.identifier]), return_index=True)[1]
        return self.taken(np.sort(first))


def _file(path: Path) -> dict[str, NDArray[Any]]:
    """Read a file by its ending; here, unlike behind a vault, types may be guessed from what it says."""
    import duckdb

    if not path.exists():
        raise BadParameter("table", str(path), why="there is no such file", fix="give a .csv or a .parquet file")
    with duckdb.connect() as engine:
        for sql in _PARQUET if path.suffix.lower() in (".parquet", ".pq") else _CSV:
            with suppress(duckdb.Error):
                return _columns(engine, sql, path)
    fix = "give a .csv file with a line of names, or a .parquet file"
    raise BadParameter("table", str(path), why="it cannot be read as a table", fix=fix)


def _columns(engine: duckdb.DuckDBPyConnection, sql: str, path: Path) -> dict[str, NDArray[Any]]:
    """Return the columns of a file, integers of any size as they are written."""
    types = {str(row[0]): str(row[1]) for row in engine.execute(f"DESCRIBE {sql}", [str(path)]).fetchall()}
    found = {str(name): _array(values) for name, values in engine.execute(sql, [str(path)]).fetchnumpy().items()}
    for name, kind in types.items():
        quoted = '"' + name.replace('"', '""') + '"'
        if _WIDE(kind):
            texts = engine.execute(f"SELECT CAST({quoted} AS VARCHAR) {sql}", [str(path)]).fetchall()
        elif kind == "DOUBLE" and "read_csv" in sql and _large(found[name]):
            # Integers that fit no type became floats; as texts they are themselves.
            written = "{'" + name.replace("'", "''") + "': 'VARCHAR'}"
            texts = engine.execute(f"SELECT {quoted} {sql[:-1]}, types={written})", [str(path)]).fetchall()
        else:
            continue
        if all(text is None or _INTEGER(text) for (text,) in texts):
            found[name] = _objects([None if text is None else int(text) for (text,) in texts])
    return found


def _large(values: NDArray[Any]) -> bool:
    """Whether a column of floats has one that may stand for several integers."""
    return any(each is not None and abs(each) >= _EXACT for each in values.tolist())


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _array(values: object) -> NDArray[Any]:
    """Return a column as an array whose missing values are None."""
    if isinstance(values, np.ma.MaskedArray):
        values = _without(np.asarray(values.data), np.ma.getmaskarray(values))
    if hasattr(values, "to_pylist"):  # Arrow
        values = values.to_pylist()
    if isinstance(values, list | tuple) and any(type(each) is int and abs(each) >= _EXACT for each in values):
        # NumPy makes floats of integers too large for 64 bits, or beside a missing value, and so merges them.
        values = _objects([None if isinstance(each, float) and math.isnan(each) else each for each in values])
    array = np.asarray(values)
    if array.dtype.kind == "O" and any(isinstance(each, list | dict | np.ndarray) for each in array):
        return np.array([None if each is None else str(each) for each in array], object)  # compared as it is written
    if array.dtype.kind in "US":
        return array.astype(object)
    return _without(array, np.isnan(array)) if array.dtype.kind == "f" else array


def _without(values: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    if not missing.any():
        return values.astype(object) if values.dtype.kind in "US" else values
    found = values.astype(object)
    found[missing] = None
    return found


def _coded(values: NDArray[Any]) -> Bits:
    if values.dtype.kind != "O":
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    seen: dict[object, int] = {}
    return np.fromiter((seen.setdefault(each, len(seen)) for each in values), np.int64, len(values))
