"""Copies: rows that live in memory, written beside the vault as a Parquet file that only its owner may read.

Columns keep the types their frame declares. A column of Python objects declares none, and a dict of lists has none
at all, so that these become text: to look at the values and choose would let one record decide.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.errors import BadParameter, Refusal
from discreet.data.source import Source, connect, literal


@dataclass(frozen=True, slots=True)
class _Capsule:
    """Shows of a frame its Arrow stream alone, which the engine then reads without any other package."""

    frame: Any

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def is_memory(data: object) -> bool:
    """Whether this is rows in memory, rather than the path of a file."""
    return isinstance(data, Mapping) or _is_pandas(data) or hasattr(data, "__arrow_c_stream__")


def copy(data: object, folder: Path, *, name: str = "table") -> Source:
    """Write rows from memory into the folder and return their source; its path is the file's name in the folder.

    The folder has mode 0700 and the file 0600, from their first byte on.
    """
    relation = _relation(data)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    # The name tells nothing and is never used twice, so that an old version is not overwritten while it is read.
    file = folder / f"{_safe(name)}-{secrets.token_hex(8)}.parquet"
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        _write(relation, file)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    return Source("memory-copy", file.name)


def _write(relation: object, file: Path) -> None:
    import duckdb

    with connect() as engine:
        try:
            engine.register("frame", relation)
            engine.execute(f"COPY frame TO {literal(str(file))} (FORMAT parquet, USE_TMP_FILE false)")
        except duckdb.Error:
            # The engine's text might quote a value of the data.
            why, fix = "the frame cannot be written as Parquet", "turn nested or foreign columns into plain ones first"
            raise Refusal("source in memory", why=why, fix=fix, value=type(relation).__name__) from None
    file.chmod(0o600)


def _relation(data: object) -> object:
    """Return what the engine may register: a pandas frame, an Arrow stream, or arrays of text."""
    if _is_pandas(data):
        return data
    if isinstance(data, Mapping):
        return _as_text(data)
    if hasattr(data, "__arrow_c_stream__"):
        return _Capsule(data)
    why, fix = "rows come from a file or a data frame", "use a path, pandas, Polars, Arrow, or a dict of lists"
    raise BadParameter("source", type(data).__name__, why=why, fix=fix)


def _as_text(data: Mapping[Any, Any]) -> dict[str, Any]:
    import numpy as np

    lengths = set()
    columns: dict[str, Any] = {}
    for name, values in data.items():
        if not isinstance(name, str) or isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
            why, fix = "a dict of lists has a name and a list for every column", "write {'age': [41, 7], ...}"
            raise BadParameter("source", name, why=why, fix=fix)
        listed = list(values)
        columns[name] = np.empty(len(listed), dtype=object)
        columns[name][:] = [_written(value) for value in listed]
        lengths.add(len(listed))
    if len(lengths) != 1:
        why, fix = "its columns have to be lists of one length", "give every column a value, or None, for every row"
        raise BadParameter("source", sorted(columns), why=why, fix=fix)
    return columns


def _written(value: object) -> str | None:
    """Write a value as a CSV file would have it; what is no text that an engine can store is null."""
    if value is None:
        return None
    text = str(value)
    return None if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text) else text


def _is_pandas(data: object) -> bool:
    # By its name, so that nobody has to have pandas.
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")


def _safe(name: str) -> str:
    return "".join(character for character in name if character.isascii() and character.isalnum())[:40] or "table"
