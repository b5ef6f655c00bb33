"""Answers elsewhere: Arrow, pandas, Polars, CSV and Parquet, all through one DuckDB relation."""

from __future__ import annotations

import csv
import datetime as dt
from pathlib import Path
from typing import Any

from discreet.core.errors import BadParameter, MissingExtra
from discreet.core.file import new_file
from discreet.core.printable import spreadsheet_cell

# An answer, and what another library makes of it; named so because answers import this module.
Shown = Any
Table = Any


def relation(answer: Shown) -> Any:  # noqa: ANN401  (duckdb has no types)
    """Return the answer as a DuckDB relation: keys, then every column with its low and high."""
    import duckdb

    names, values = answer._plain()  # noqa: SLF001  (one table, for all ways out)
    kinds = [_kind(column) for column in values]
    places = [
        f"unnest(${at}::{kind}[]) AS {_quoted(name)}"
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True), 1)
    ]
    return duckdb.connect().sql("SELECT " + ", ".join(places), params=[_fit(column) for column in values])


def capsule(answer: Shown, requested_schema: object) -> object:
    """Return an Arrow stream (the PyCapsule protocol)."""
    return relation(answer).__arrow_c_stream__(requested_schema)


def pandas(answer: Shown) -> Table:
    """Return a pandas DataFrame; integers with gaps are pandas' own nullable ones, so they stay integers."""
    try:
        import pandas as pd
    except ImportError as error:
        raise _missing("pandas") from error
    names, values = answer._plain()  # noqa: SLF001  (one table, for all ways out)
    kinds = [_PANDAS[_kind(column)][None in column] for column in values]
    return pd.DataFrame(
        {name: pd.array(column, dtype=kind) for name, column, kind in zip(names, values, kinds, strict=True)}
    )


def polars(answer: Shown) -> Table:
    """Return a Polars DataFrame."""
    try:
        import polars as pl
    except ImportError as error:
        raise _missing("polars") from error
    return pl.DataFrame(answer)


def arrow(answer: Shown) -> Table:
    """Return a pyarrow Table."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise _missing("pyarrow") from error
    return pa.table(answer)


def csv_file(answer: Shown, path: Path) -> None:
    """Write a CSV file; texts that a spreadsheet would run get an apostrophe in front."""
    with new_file(path, force=True) as place, place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        names, values = answer._plain()  # noqa: SLF001  (one table, for all ways out)
        writer.writerow([spreadsheet_cell(name) for name in names])
        writer.writerows([_cell(value) for value in row] for row in zip(*values, strict=True))


def _cell(value: object) -> object:
    """Write a cell as DuckDB does: true and false in small letters, nothing for what is missing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return spreadsheet_cell(value)


def parquet_file(answer: Shown, path: Path) -> None:
    """Write a Parquet file; texts are as they are."""
    import duckdb

    table = relation(answer)
    try:
        with new_file(path, force=True) as place:
            target = "'" + str(place).replace("'", "''") + "'"
            table.query("answer", f"COPY answer TO {target} (FORMAT parquet)")
    except duckdb.Error as error:
        why = "the file could not be written"
        raise BadParameter("path", str(path), why=why, fix="use a folder that exists and may be written to") from error


# Without gaps, and with them.
_PANDAS = {
    "BIGINT": ("int64", "Int64"),
    "BOOLEAN": ("bool", "boolean"),
    "DOUBLE": ("float64", "Float64"),
    "DATE": ("object", "object"),
    "HUGEINT": ("object", "object"),
    "VARCHAR": ("object", "object"),
}


def _kind(values: list[Any]) -> str:
    """Return the type of a column, as DuckDB calls it; a mixture is text, and integers beyond 128 bits are floats."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {int}:
        widest = max(value if value >= 0 else ~value for value in values if value is not None).bit_length()
        return "BIGINT" if widest < 64 else "HUGEINT" if widest < 128 else "DOUBLE"
    if kinds in ({float}, {int, float}):
        return "DOUBLE"
    return "DATE" if kinds == {dt.date} else "VARCHAR"


def _fit(values: list[Any]) -> list[Any]:
    plain = {"VARCHAR": str, "DOUBLE": float}.get(_kind(values))
    return values if plain is None else [value if value is None else plain(value) for value in values]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _missing(module: str) -> MissingExtra:
    refusal = MissingExtra(f"an answer for {module}", module, module)
    refusal.fix = f"pip install {module}"
    return refusal
