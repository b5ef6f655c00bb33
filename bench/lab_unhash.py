"""Hashed identifiers read back: every medallion of New York's taxis, in two minutes at most.

All 18,278,000 texts are tried, as the last of them is looked for. The loop over `hashlib` is what a short script does,
on one core; figures are per text.
"""

from __future__ import annotations

from bench.harness.bar import at_most, faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

LOOP = "hashlib"
FILE = TASKS / "lab_unhash.py"
MEDALLIONS, LOOPED = 18_278_000, 500_000
SECONDS = 120.0


def _all(algorithm: str) -> Case:
    return Case(
        f"all {MEDALLIONS:,} medallions, {algorithm}",
        Task("medallions", {"algorithm": algorithm}),
        bars=(at_most(SECONDS),),
        repetitions=1,
        warmups=0,
        timeout=600,
    )


def _each(algorithm: str, *factor: float) -> Case:
    return Case(
        f"a text, {algorithm}",
        Task("numbers", {"algorithm": algorithm, "digits": 6}, items=10**6),
        {LOOP: Task("loop", {"algorithm": algorithm, "many": LOOPED}, items=LOOPED)},
        bars=tuple(faster(LOOP, each) for each in factor),
        repetitions=3,
    )


AREA = Area(
    ours=Participant(OURS, FILE, package="discreet"),
    peers=(Participant(LOOP, FILE),),
    cases=(_all("md5"), _all("sha1"), _all("sha256"), _each("md5", 3.0), _each("sha1"), _each("sha256")),
)
