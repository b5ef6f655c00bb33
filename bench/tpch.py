"""TPC-H as it stands, customers protected: what is answered, how much slower than plain DuckDB, and how far off.

tpchgen-cli writes the tables. DISCREET_BENCH_SCALE sets their scale, which is 1 (a gigabyte as text) where it is unset.
"""

from __future__ import annotations

import os

from bench.harness.bar import at_most, faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.environment import CACHE
from bench.harness.figure import OURS

PLAIN, TPCHGEN = "duckdb", "tpchgen"
SCALE = float(os.environ.get("DISCREET_BENCH_SCALE", "1"))
PLACE = {"folder": str(CACHE / "tables" / f"tpch-{SCALE:g}"), "scale": SCALE}

# At most so many times plain DuckDB when an engine is opened for the question, and no slower when it is open.
SLOWDOWN = {1: 4.0, 5: 1.75, 6: 1.8, 14: 2.0, 19: 1.8}
WARM = 1.0
REFUSED = 8 / 22
# Intervals miss one time in twenty: of 100 runs of one number 16 in a hundred, once in a hundred thousand times.
MISSED = 0.16


def _timed(number: int, most: float, *, cold: bool) -> Case:
    word = "cold" if cold else "warm"
    return Case(
        f"Q{number}, {word}",
        Task("ask", {"number": number, "cold": cold, **PLACE}),
        {PLAIN: Task("ask", {"number": number, **PLACE})},
        (faster(PLAIN, 1 / most),),
        repetitions=5,
        timeout=600.0,
    )


def _reported(name: str, function: str, number: int, most: float | None = None) -> Case:
    bars = () if most is None else (at_most(most),)
    task = Task(function, {"number": number, **PLACE})
    return Case(name, task, bars=bars, unit="%", repetitions=1, warmups=0, reported=True, timeout=900.0)


AREA = Area(
    ours=Participant(OURS, TASKS / "tpch_discreet.py", package="discreet"),
    peers=(
        Participant(PLAIN, TASKS / "tpch_duckdb.py", package="duckdb"),
        Participant(TPCHGEN, TASKS / "tpch_data.py", ("tpchgen-cli==4.0.0",), package="tpchgen-cli"),
    ),
    cases=(
        # The first one has the tables written: a vault beside them is small, since it copies no row.
        Case(
            "bytes of the vault, and of its tables",
            Task("registered", PLACE),
            {TPCHGEN: Task("tables", PLACE)},
            (faster(TPCHGEN, 10),),
            unit="B",
            repetitions=1,
            warmups=0,
            reported=True,
            timeout=1800.0,
        ),
        Case(
            "queries refused as they stand",
            Task("refused", PLACE),
            bars=(at_most(REFUSED),),
            unit="%",
            repetitions=1,
            warmups=0,
            reported=True,
            timeout=600.0,
        ),
        *(_timed(number, most, cold=True) for number, most in SLOWDOWN.items()),
        *(_timed(number, WARM, cold=False) for number in SLOWDOWN),
        *(_reported(f"Q{number}, median relative error", "error", number) for number in SLOWDOWN),
        *(_reported(f"Q{number}, intervals that miss", "missed", number, MISSED) for number in SLOWDOWN),
    ),
)
