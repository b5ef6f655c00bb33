"""Engines, Spark: a release over 50 million rows on executors of a gigabyte, against plain Spark SQL on the same."""

from __future__ import annotations

from collections.abc import Mapping

from bench.harness.bar import at_most, faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.environment import CACHE
from bench.harness.figure import OURS

PLAIN = "spark"
ROWS, PEOPLE = 50_000_000, 5_000_000
TABLE = {"path": str(CACHE / "tables" / f"people-{ROWS}-{PEOPLE}"), "rows": ROWS, "people": PEOPLE}
# At most so many times plain Spark SQL; an executor of a gigabyte takes at most so much in all.
PER_ROW, PER_PERSON, BYTES = 3, 30, 2_000_000_000
UNITS: Mapping[str, tuple[Mapping[str, int], float]] = {
    "per row": ({}, PER_ROW),
    "per person, 3 groups": ({"max_rows": 10, "max_groups": 3}, PER_PERSON),
    "per person, 10 rows": ({"max_rows": 10}, PER_PERSON),
}


def _time(name: str) -> Case:
    unit, most = UNITS[name]
    ours, theirs = Task("ask", {**TABLE, **unit}), Task("plain", dict(TABLE))
    bars = (faster(PLAIN, 1 / most),)
    return Case(f"count and sum, {name}", ours, {PLAIN: theirs}, bars, repetitions=3, timeout=1800.0)


def _memory(name: str) -> Case:
    return Case(
        f"memory: count and sum, {name}",
        Task("peak", {**TABLE, **UNITS[name][0]}),
        bars=(at_most(BYTES),),
        unit="B",
        repetitions=1,
        warmups=0,
        reported=True,
        fresh=True,
        timeout=1800.0,
    )


AREA = Area(
    ours=Participant(OURS, TASKS / "engines_spark.py", package="discreet"),
    peers=(Participant(PLAIN, TASKS / "engines_spark.py", package="pyspark"),),
    cases=(*(_time(name) for name in UNITS), _memory("per person, 10 rows")),
)
