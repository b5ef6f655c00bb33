"""Tasks of engines for plain PostgreSQL: the same question without any privacy, as the server is set up."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

QUESTIONS = {
    "count and sum": "SELECT region, count(*), sum(income) FROM {} GROUP BY region",
    "count by two": "SELECT region, category, count(*) FROM {} GROUP BY region, category",
    "median": "SELECT region, percentile_disc(0.5) WITHIN GROUP (ORDER BY income) FROM {} GROUP BY region",
}


def ask(question: str, rows: int, people: int, **_: object) -> Callable[[], object]:
    """The question, in a connection that is open already."""
    import psycopg

    served = runpy.run_path(str(Path(__file__).with_name("engines_server.py")))["served"]
    process, url, table = served(rows, people)
    connection = psycopg.connect(url, autocommit=True)
    sql = QUESTIONS[question].format(table)

    def call(kept: object = process) -> object:
        return connection.execute(sql).fetchall(), kept

    return call
