"""Tasks of query for plain DuckDB: the same question without any privacy."""

from __future__ import annotations

import resource
from collections.abc import Callable

import duckdb

QUESTIONS = {
    "count": "SELECT region, count(*) FROM {} GROUP BY region",
    "sum": "SELECT region, sum(income) FROM {} GROUP BY region",
    "mean": "SELECT region, avg(income) FROM {} GROUP BY region",
    "count and sum": "SELECT region, count(*), sum(income) FROM {} GROUP BY region",
    "count by two": "SELECT region, category, count(*) FROM {} GROUP BY region, category",
    "median": "SELECT region, median(income) FROM {} GROUP BY region",
}


def ask(question: str, path: str, **_: object) -> Callable[[], object]:
    """The question, from a file to its answer; what bounds people does not matter here."""
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    sql = QUESTIONS[question].format(f"read_parquet('{path}')")
    return lambda: connection.execute(sql).fetchall()


def peak(question: str, path: str, **_: object) -> Callable[[], float]:
    """The most memory a process had that asked the question."""
    call = ask(question, path)

    def measured() -> float:
        call()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    return measured
