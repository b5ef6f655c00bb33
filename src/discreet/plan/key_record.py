"""Records of keys: how the keys of a question come back, with every value checked again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from discreet.core import record as records
from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.plan.keys import Key, Keys, exactly
from discreet.plan.nodes import Datum, stored

_UNCHANGED = "pass the record that was written, unchanged"


def keys_from_record(record: object, columns: Mapping[str, Column]) -> Keys:
    """Read the keys of a question about these columns, as `Keys.record` returned them, checking every value again."""
    found = records.fields("keys", record, ("columns", "only"))
    made = tuple(_read_key(each, columns) for each in _items("columns", found["columns"]))
    if found["only"] is None:
        return Keys(made)
    rows = [tuple(_items("only", row)) for row in _items("only", found["only"])]
    if not rows or any(len(row) != len(made) for row in rows):
        raise BadParameter("only", len(rows), why="each key has a value for every column", fix=_UNCHANGED)
    checked = [tuple(_read_value(key.of, value) for key, value in zip(made, row, strict=True)) for row in rows]
    for place, key in enumerate(made):
        if key.values is None or {*key.values} != {row[place] for row in checked}:
            raise BadParameter(
                key.name, "...", why="its values are not those of the keys that are listed", fix=_UNCHANGED
            )
    if len({*checked}) < len(checked):
        raise BadParameter("only", len(rows), why="a key is listed twice", fix="list each key once")
    return Keys(made, tuple(checked))


def _read_key(record: object, columns: Mapping[str, Column]) -> Key:
    found = records.fields("key", record, ("name", "of", "values", "edges"))
    name, values = found["name"], found["values"]
    if not isinstance(name, str) or name not in columns:
        raise UnknownName("key column", str(name), columns)
    if found["of"] != name or found["edges"] is not None:
        raise BadParameter("key", name, why="a question is grouped by a column of its own", fix="derive one first")
    column = columns[name].named(name)
    if values is not None:
        return Key(name, column, tuple(_read_value(column, value) for value in _items("values", values)))
    if column.kind != "text":
        why = f"the keys of a {column.kind} column are listed"
        raise BadParameter("values", None, why=why, fix="list them, or leave the column out")
    return Key(name, column, None)


def _read_value(column: Column, value: object) -> Datum:
    """Return a key as a column keeps it, if it is just that."""
    back: object = None
    if isinstance(value, str | int):
        with suppress(OverflowError):  # a day beyond the calendar
            back = stored(column, exactly(column, value))
    if back is None or type(back) is not type(value) or back != value:
        why = f"it is no value of a {column.kind} column as it is kept"
        raise BadParameter(column.name or "key", value, why=why, fix=_UNCHANGED)
    return value  # type: ignore[return-value]


def _items(name: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise BadParameter(name, type(value).__name__, why="it is a list", fix=_UNCHANGED)
    return value
