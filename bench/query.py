"""Query: releases of a session against the same question in plain DuckDB, and in OpenDP.

With DISCREET_BENCH_LARGE=1 in the environment a table of 100 million rows is made, asked about, and removed: minutes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from bench.harness.bar import Bar, at_most, faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.environment import CACHE
from bench.harness.figure import OURS, Unit

PLAIN, OPENDP = "duckdb", "opendp"
ROWS, PEOPLE = 10_000_000, 1_000_000
TABLE = {"path": str(CACHE / "tables" / f"people-{ROWS}-{PEOPLE}.parquet"), "rows": ROWS, "people": PEOPLE}

# At most so many times plain DuckDB, and at least so many times as fast as OpenDP.
PER_ROW, SLACK_SECONDS, MEDIAN = 1.5, 0.015, 4
GROUPS, RANKED, WARM = 12, 16, 1.2
OPENDP_ROW, OPENDP_PERSON = 8, 3
ROW_MEMORY, PERSON_BYTES, LARGE_BYTES = 1.5, 1_200_000_000, 6_000_000_000
LARGE = {"rows": 100_000_000, "people": 10_000_000}

GROUPED = {"max_rows": 10, "max_groups": 3}
RANKING = {"max_rows": 10}


@dataclass(frozen=True, slots=True)
class Within(Bar):
    """At most `factor` times a peer's time and a constant, which a short question pays for being asked at all."""

    factor: float = PER_ROW
    seconds: float = SLACK_SECONDS

    def cleared(self, figures: Mapping[str, float]) -> bool:
        """Whether the promise was kept."""
        ours, theirs = figures.get(OURS), figures.get(self.peer or "")
        return ours is not None and theirs is not None and ours <= self.factor * theirs + self.seconds

    def text(self, unit: Unit) -> str:  # noqa: ARG002  (a bar says its text in the unit of its case)
        """The promise in a few characters."""
        return f">= {1 / self.factor:.2f}x, +{1000 * self.seconds:.0f} ms"


def _row(question: str) -> Case:
    task = Task("ask", {"question": question, **TABLE})
    bars = Within("ratio", 1 / PER_ROW, PLAIN), faster(OPENDP, OPENDP_ROW)
    return Case(f"{question}, per row", task, {PLAIN: task, OPENDP: task}, bars)


def _median(name: str, unit: Mapping[str, object], most: float, least: float) -> tuple[Case, Case]:
    """The median on the grid of the column against plain DuckDB, and among OpenDP's candidates against OpenDP."""
    task = Task("ask", {"question": "median", **TABLE, **unit})
    coarse = Task("ask", {"question": "median, coarse", **TABLE, **unit})
    return (
        Case(f"median, {name}", task, {PLAIN: task}, (faster(PLAIN, 1 / most),), repetitions=5, timeout=300.0),
        Case(
            f"median among 201 candidates, {name}",
            coarse,
            {OPENDP: task},
            (faster(OPENDP, least),),
            repetitions=5,
            timeout=300.0,
        ),
    )


def _person(question: str, name: str, unit: Mapping[str, object], most: float, *, opendp: bool = True) -> Case:
    task = Task("ask", {"question": question, **TABLE, **unit})
    peers = {PLAIN: task, OPENDP: task} if opendp else {PLAIN: task}
    bars = (faster(PLAIN, 1 / most), *((faster(OPENDP, OPENDP_PERSON),) if opendp else ()))
    return Case(f"{question}, per person, {name}", task, peers, bars, repetitions=5, timeout=300.0)


def _memory(question: str, name: str, unit: Mapping[str, object], bar: Bar) -> Case:
    task = Task("peak", {"question": question, **TABLE, **unit})
    return Case(
        f"memory: {question}, {name}",
        task,
        {PLAIN: task},
        (bar,),
        unit="B",
        repetitions=1,
        warmups=0,
        reported=True,
        fresh=True,
        timeout=300.0,
    )


def _large(name: str, unit: Mapping[str, object]) -> Case:
    return Case(
        f"memory: count and sum of 100 million rows, {name}",
        Task("large", {"question": "count and sum", **LARGE, **unit}),
        bars=(at_most(LARGE_BYTES),),
        unit="B",
        repetitions=1,
        warmups=0,
        reported=True,
        fresh=True,
        timeout=1200.0,
    )


_LARGE_CASES = (_large("per row", {}), _large("per person, 3 groups", GROUPED), _large("per person, 10 rows", RANKING))

AREA = Area(
    ours=Participant(OURS, TASKS / "query_discreet.py", package="discreet"),
    peers=(
        Participant(PLAIN, TASKS / "query_duckdb.py", package="duckdb"),
        Participant(OPENDP, TASKS / "query_opendp.py", ("opendp[polars]==0.16.0",), package="opendp"),
    ),
    cases=(
        *(_row(question) for question in ("count", "sum", "mean", "count by two")),
        *_median("per row", {}, MEDIAN, OPENDP_ROW),
        # OpenDP 0.16 fails when it bounds groups by a column that is also grouped by.
        _person("count and sum", "3 groups", GROUPED, GROUPS, opendp=False),
        _person("count and sum", "10 rows", RANKING, RANKED),
        *_median("per person, 10 rows", RANKING, RANKED, OPENDP_PERSON),
        _person("count and sum", "cached", {**RANKING, "bound": "table"}, WARM, opendp=False),
        _memory("count and sum", "per row", {}, faster(PLAIN, 1 / ROW_MEMORY)),
        _memory("count and sum", "per person, 3 groups", GROUPED, at_most(PERSON_BYTES)),
        _memory("median", "per person, 10 rows", RANKING, at_most(PERSON_BYTES)),
        *(_LARGE_CASES if os.environ.get("DISCREET_BENCH_LARGE") else ()),
    ),
)
