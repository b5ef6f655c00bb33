"""The first answer: from a new process to an answer, against importing DuckDB and scanning the same file."""

from __future__ import annotations

from bench.harness.bar import faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

DUCKDB = "duckdb"
PROCESS = TASKS / "answer_process.py"

# At most so many times the peer's time.
FIRST = 2.0

AREA = Area(
    ours=Participant(OURS, PROCESS, package="discreet"),
    peers=(Participant(DUCKDB, PROCESS, package="duckdb"),),
    cases=(
        Case(
            "first answer on 20,190 rows, grouped count and mean",
            ours=Task("ask"),
            peers={DUCKDB: Task("scan")},
            bars=(faster(DUCKDB, 1 / FIRST),),
            repetitions=11,
            warmups=2,
        ),
    ),
)
