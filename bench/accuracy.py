"""Accuracy: root mean square errors on exact numbers at the same price, against OpenDP's mechanisms."""

from __future__ import annotations

from bench.harness.bar import faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

OPENDP = "opendp"

# Our error is at most so many times the peer's.
WORST = 1.05
PRICES = {"Laplace": {"epsilon": "0.3"}, "Gaussian": {"rho": "0.01"}}
UNITS = {"per row": 1, "per person": 10}
SUMS, RANKS = 4_000, 100  # runs in each of the repetitions, of which the median is shown


def _case(question: str, unit: str, law: str) -> Case:
    runs = RANKS if "quantiles" in question or question.startswith("median") else SUMS
    task = Task("rmse", {"question": question, "rows": UNITS[unit], "runs": runs, **PRICES[law]})
    paired = "interval" not in question
    peer = {OPENDP: task} if paired else {}
    bars = (faster(OPENDP, 1 / WORST),) if paired else ()
    name = f"{question}, {unit}, {law}"
    return Case(name, task, peer, bars, unit="n", repetitions=5, warmups=0, reported=True, timeout=600.0)


AREA = Area(
    ours=Participant(OURS, TASKS / "accuracy_discreet.py", package="discreet"),
    peers=(Participant(OPENDP, TASKS / "accuracy_opendp.py", ("opendp==0.16.0", "numpy==2.4.6"), package="opendp"),),
    cases=tuple(
        _case(question, unit, law)
        for question in ("count", "people", "sum", "mean", "median", "nine quantiles")
        for unit in UNITS
        for law in PRICES
    )
    + tuple(
        _case(question, unit, "Laplace")
        for question in ("median with its interval", "nine quantiles with intervals")
        for unit in UNITS
    ),
)
