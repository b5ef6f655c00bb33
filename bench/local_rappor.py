"""RAPPOR: its published simulation, decoded beside the steps of its published analysis, and the time of its parts."""

from __future__ import annotations

from bench.harness.bar import at_most
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

N = 1_000_000
# Runs of each of five distributions; where candidates are ten times the values, the peer's steps take half a minute a
# run, and one run each says something of all distributions together only.
RUNS = {"typical": 4, "sharp": 4, "loose": 4, "over_x2": 4, "over_x10": 1, "demo": 3, "chrome": 3}
ENCODE_SECONDS = {8: 2.0, 16: 3.0, 128: 10.0}


def _recovered(configuration: str, runs: int) -> Case:
    """The task fails, and misses its bar, where the analysis does better or the intervals do not cover."""
    return Case(
        f"RAPPOR's simulation, {configuration}, n=10^6: detection, distance, coverage",
        Task("recovered", {"configuration": configuration, "n": N, "runs": runs}),
        bars=(at_most(900.0),),
        repetitions=1,
        warmups=0,
        timeout=1000,
    )


def _encoded(bits: int, seconds: float) -> Case:
    return Case(
        f"encode, rappor, {bits} bits, 10^6 reports",
        Task("encoded", {"bits": bits, "n": N}),
        bars=(at_most(seconds),),
        repetitions=3,
    )


AREA = Area(
    ours=Participant(OURS, TASKS / "local_rappor.py", package="discreet"),
    peers=(),
    cases=(
        *(_encoded(bits, seconds) for bits, seconds in ENCODE_SECONDS.items()),
        Case("decode, rappor, 100 candidates", Task("decoded", {"candidates": 100, "n": N}), repetitions=3),
        Case("decode, rappor, 1,000 candidates", Task("decoded", {"candidates": 1000, "n": N}), repetitions=3),
        *(_recovered(configuration, runs) for configuration, runs in RUNS.items()),
    ),
)
