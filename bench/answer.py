"""Answers: the first, from a new process, against DuckDB on the same file; then replays and previews in one process."""

from __future__ import annotations

from bench.harness.bar import at_most, faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

DUCKDB = "duckdb"
PROCESS = TASKS / "answer_process.py"

# At most so many times the peer's time.
FIRST = 2.0

# Seconds of one, in a process that has asked before.
REPLAYED, PREVIEWED = 1 / 4_000, 1 / 1_000

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
        Case("replay of a settled answer, same process", Task("replayed", items=100), bars=(at_most(REPLAYED),)),
        Case("preview of the same question, same process", Task("previewed", items=100), bars=(at_most(PREVIEWED),)),
        Case("preview at a new price, same process", Task("repriced", items=100)),
    ),
)
