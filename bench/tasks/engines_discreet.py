"""Tasks of engines for Discreet: what an analyst waits for where a database, or Spark, computes over the rows."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.engines.postgres.options import postgres

TASKS = Path(__file__).parent


def ask_postgres(
    question: str, rows: int, people: int, max_rows: int | None = None, max_groups: int | None = None
) -> Callable[[], object]:
    """A question of a session about a table of a database, paid for again at every call."""
    ours = _run("query_discreet.py")
    process, url, table = _run("engines_server.py")["served"](rows, people)
    call = ours["released"](question, postgres(table, url), rows, ours["unit_of"](max_rows, max_groups))

    def asked(kept: object = process) -> object:
        return call(), kept

    return asked


def _run(name: str) -> dict[str, Any]:
    """The names of a task file beside this one."""
    return runpy.run_path(str(TASKS / name))
