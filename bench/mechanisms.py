"""Mechanisms: exact selection and medians against plain numpy, and the time of an audit."""

from __future__ import annotations

from bench.harness.bar import at_most, faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

NUMPY = "numpy"
SIZE = 1_000_000

# At most so many times the peer's time: a factor below 1 of its speed.
SELECTION, MEDIAN = 5, 2
AUDIT_SECONDS = 2.0


def _selection(spread: int) -> Case:
    """One of a million candidates; the spread of their scores decides how many of them matter."""
    task = Task("choose", {"candidates": SIZE, "spread": spread})
    bar = faster(NUMPY, 1 / SELECTION)
    return Case(f"exponential, 10^6 candidates, scores to {spread:,}", task, {NUMPY: task}, (bar,))


def _median(kind: str) -> Case:
    task = Task("median", {"size": SIZE, "kind": kind})
    return Case(f"median of 10^6 {kind}", task, {NUMPY: task}, (faster(NUMPY, 1 / MEDIAN),))


def _audit(name: str) -> Case:
    task = Task("audited", {"name": name, "samples": SIZE})
    return Case(f"audit of {name}, 10^6 samples", task, bars=(at_most(AUDIT_SECONDS),), repetitions=3)


AREA = Area(
    ours=Participant(OURS, TASKS / "mechanisms_discreet.py", package="discreet"),
    peers=(Participant(NUMPY, TASKS / "mechanisms_numpy.py", package="numpy"),),
    cases=(
        *(_selection(spread) for spread in (10, 1000, 10**6)),
        *(_median(kind) for kind in ("integers", "floats")),
        *(_audit(name) for name in ("laplace", "gaussian", "randomized_response", "histogram")),
    ),
)
