"""Typed table: a caller's own CSV or Parquet file, its columns read as they are declared."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from discreet.core.column import Column
from discreet.core.errors import BadParameter

_READERS = {".csv": "read_csv(?, all_varchar = true, header = true)", ".parquet": "read_parquet(?)"}


def typed_table(path: Path, columns: Sequence[Column]) -> dict[str, list[Any]]:
    """Return declared columns of a file; what is no value of its column is None."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise BadParameter(
            "data", str(path), why="it is neither CSV nor Parquet", fix="end its name in .csv or .parquet"
        )
    if not path.is_file():
        raise BadParameter("data", str(path), why="there is no such file", fix="check the path")
    import duckdb

    try:
        with duckdb.connect() as connection:
            found = connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {reader}", [str(path)])  # noqa: S608
            names = [each[0] for each in found.description]
            rows = found.fetchall()
    except duckdb.Error:
        raise BadParameter("data", str(path), why="it cannot be read as a table", fix="check the file") from None
    missing = [str(column.name) for column in columns if column.name not in names]
    if missing:
        why = "the model needs this column, and the file has none of that name"
        raise BadParameter("data", missing[0], why=why, fix="name the columns as the table does")
    places = {str(column.name): (names.index(str(column.name)), reading(column)) for column in columns}
    return {name: [_read(row[place], read) for row in rows] for name, (place, read) in places.items()}


def reading(column: Column) -> Callable[[str], Any]:
    """Return how a text becomes a value of a column."""
    if column.kind == "flag":
        return lambda text: {"true": True, "1": True, "false": False, "0": False}[text.lower()]
    if column.kind == "date":
        return dt.date.fromisoformat
    if column.kind == "number":
        return float
    return int if isinstance((column.keys or ("",))[0], int) else str


def _read(text: str | None, read: Callable[[str], Any]) -> Any:  # noqa: ANN401
    if text is None:
        return None
    with suppress(ValueError, KeyError):
        return read(text)
    return None
