"""Engines: releases computed inside PostgreSQL against the same question in plain SQL there."""

from __future__ import annotations

from collections.abc import Mapping

from bench.harness.bar import faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

POSTGRES = "postgres"
PEOPLE = {"rows": 3_000_000, "people": 300_000}

# At most so many times plain PostgreSQL.
PER_ROW, PER_PERSON = 2, 12
GROUPED = {"max_rows": 10, "max_groups": 3}
RANKED = {"max_rows": 10}


def _postgres(question: str, name: str, unit: Mapping[str, object], most: float | None) -> Case:
    task = {"question": question, **PEOPLE, **unit}
    return Case(
        f"PostgreSQL: {question}, {name}",
        Task("ask_postgres", task),
        {POSTGRES: Task("ask", task)},
        () if most is None else (faster(POSTGRES, 1 / most),),
        repetitions=5,
        timeout=600.0,
    )


AREA = Area(
    ours=Participant(OURS, TASKS / "engines_discreet.py", package="discreet"),
    peers=(Participant(POSTGRES, TASKS / "engines_postgres.py", package="psycopg"),),
    cases=(
        _postgres("count and sum", "per row", {}, PER_ROW),
        _postgres("count by two", "per row", {}, PER_ROW),
        _postgres("count and sum", "per person, 3 groups", GROUPED, PER_PERSON),
        _postgres("count and sum", "per person, 10 rows", RANKED, PER_PERSON),
        _postgres("median", "per row", {}, None),
        _postgres("median", "per person, 10 rows", RANKED, PER_PERSON),
    ),
)
