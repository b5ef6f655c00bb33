"""Connections: a plain DuckDB in memory, behind the barrier, to look at files and to write them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from discreet.engines.duckdb.barrier import BARRIER
from discreet.engines.duckdb.engine import was_interrupted

if TYPE_CHECKING:
    import duckdb


@contextmanager
def connect() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a fresh engine in memory that fetches no extension and decides no type by a sample of records.

    What it has to spill goes into a folder that only its owner can read, and that is gone afterwards.
    """
    import duckdb

    options: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with TemporaryDirectory(prefix="discreet-") as folder, duckdb.connect(config=options) as engine:
            engine.execute(BARRIER)
            engine.execute("SET pandas_analyze_sample = 0")
            engine.execute("SET enable_progress_bar = false")
            engine.execute(f"SET temp_directory = {literal(folder)}")
            yield engine
    except RuntimeError as error:
        if was_interrupted(error):
            raise KeyboardInterrupt from None
        raise


def literal(text: str) -> str:
    """Quote text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
