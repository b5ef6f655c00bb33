"""Frame values: small public rows in memory, of any kind, as columns of Python's values."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.errors import BadParameter
from discreet.engines.duckdb.engine import connect
from discreet.engines.duckdb.frame_copy import arrow_stream, is_pandas

_KINDS = 'use columns, {"ward": ["A", "B"]}, a list of rows, [{"ward": "A"}], or a frame of pandas, Polars or Arrow'


def values_of(data: object, most: int) -> dict[str, list[object]]:
    """Return the columns of public rows: NaN and missing values as None, moments at midnight as days.

    Numbers stay exact where they are: decimals and integers of any size. More than `most` rows are refused before they
    are converted.
    """
    if is_pandas(data):
        found = _of_pandas(data, most)
    elif isinstance(data, Mapping):
        found = {_name(name): _listed(name, values) for name, values in data.items()}
    elif hasattr(data, "__arrow_c_stream__"):
        found = _of_arrow(data, most)
    elif isinstance(data, Sequence) and not isinstance(data, str | bytes):
        found = _of_rows(data, most)
    else:
        raise BadParameter("data", type(data).__name__, why="these are no rows", fix=_KINDS)
    for values in found.values():
        _check_size(len(values), most)
    return {name: [*map(_plain, values)] for name, values in found.items()}


def _of_pandas(data: Any, most: int) -> dict[str, list[object]]:  # noqa: ANN401
    _check_size(len(data), most)
    missing = data.isna()
    found: dict[str, list[object]] = {}
    for place, name in enumerate(data.columns):
        if str(name) in found:
            raise BadParameter("data", str(name), why="two columns have this name", fix="rename one of them")
        values, absent = data.iloc[:, place].tolist(), missing.iloc[:, place].tolist()
        found[str(name)] = [None if gone else value for value, gone in zip(values, absent, strict=True)]
    return found


def _of_arrow(data: object, most: int) -> dict[str, list[object]]:
    import duckdb

    with connect() as engine:
        try:
            engine.register("frame", arrow_stream(data))
            asked = engine.execute(f"SELECT * FROM frame LIMIT {most + 1}")  # noqa: S608
            names, rows = [str(each[0]) for each in asked.description or ()], asked.fetchall()
        except duckdb.Error:
            why, fix = "the frame cannot be read", "turn nested or foreign columns into plain ones first"
            raise BadParameter("data", type(data).__name__, why=why, fix=fix) from None
    _check_size(len(rows), most)
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _of_rows(data: Sequence[object], most: int) -> dict[str, list[object]]:
    _check_size(len(data), most)
    if not all(isinstance(row, Mapping) for row in data):
        raise BadParameter("data", type(data).__name__, why="its rows do not name their columns", fix=_KINDS)
    rows = [row for row in data if isinstance(row, Mapping)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {_name(name): [row.get(name) for row in rows] for name in names}


def _listed(name: object, values: object) -> list[object]:
    made = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(made, str | bytes | Mapping) or not hasattr(made, "__iter__"):
        raise BadParameter(str(name), values, why="a column is a list of values", fix=_KINDS)
    return list(made)


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise BadParameter("data", name, why="columns are named by text", fix=_KINDS)
    return name


def _plain(value: object) -> object:
    """Return a value as Python's own: of numpy its item, NaN as None, a moment at midnight as its day."""
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dt.datetime) and value.tzinfo is None and value.time() == dt.time():
        return value.date()
    return value


def _check_size(rows: int, most: int) -> None:
    if rows > most:
        why = f"a public table inside a question has at most {most:,} rows"
        fix = "have the custodian register it, curator.register_public(name, source, key=...), which has no limit"
        raise BadParameter("data", rows, why=why, fix=fix)
