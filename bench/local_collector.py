"""The collector: reports over loopback HTTP, into a store that is on disk before each acknowledgement."""

from __future__ import annotations

from bench.harness.bar import at_most
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

REPORTS = 1_000_000
LEAST_PER_SECOND = 50_000
KILLS = 10


def _collected(name: str, batch: int, kills: int, repetitions: int) -> Case:
    """So many reports, each counted exactly once, which the task checks; the figure is seconds for one report."""
    return Case(
        name,
        Task("collected", {"reports": REPORTS, "batch": batch, "kills": kills}, items=REPORTS),
        bars=(at_most(1 / LEAST_PER_SECOND),),
        repetitions=repetitions,
        warmups=0,
        reported=True,
        timeout=600,
    )


AREA = Area(
    ours=Participant(OURS, TASKS / "local_collector.py", package="discreet"),
    peers=(),
    cases=(
        _collected("1,000,000 reports in batches of 1,000", 1_000, 0, 3),
        _collected("1,000,000 reports in batches of 10,000", 10_000, 0, 3),
        _collected("1,000,000 reports in batches of 1,000, killed ten times", 1_000, KILLS, 1),
    ),
)
