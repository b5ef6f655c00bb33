"""Tasks of TPC-H for plain DuckDB: the queries as they stand, over the same files, without any privacy."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import duckdb


def ask(number: int, folder: str, **_: object) -> Callable[[], object]:
    """A query, from the files to its answer."""
    queries = runpy.run_path(str(Path(__file__).with_name("tpch_queries.py")))["QUERIES"]
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    for file in sorted(Path(folder).glob("*.parquet")):
        connection.execute(f"CREATE VIEW {file.stem} AS SELECT * FROM read_parquet('{file}')")
    return lambda: connection.execute(queries[number]).fetchall()
