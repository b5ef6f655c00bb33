"""Accounting: epsilon against the truth, and against dp-accounting's numerical accountant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bench.harness.bar import Bar, at_most, faster
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS

PEER, SPECIAL = "dp-accounting", "scipy.special"
PROCESS = TASKS / "house_process.py"

# Truths with their last digit rounded, from independent accountants at their finest grids; the closed forms and the
# exact sums of the other rows are computed by the tasks themselves.
LAPLACE = {"laplace": "18.9503", "discrete_laplace": "19.3447"}
POISSON = {
    (0.01, 0.8, 10**4): {1e-6: "11.1832", 1e-10: "15.0582"},
    (0.001, 0.8, 10**5): {1e-6: "2.91454", 1e-10: "4.06924"},
}
GAUSSIAN_COUNTS = (1, 10, 100, 1000, 10**4)
SMALL_DELTAS = (1e-6, 1e-9, 1e-12, 1e-15)

KINDS = (("laplace", 10.0), ("gaussian", 10.0), ("randomized_response", 0.1), ("exponential", 0.1))
ALIKE = [(kind, parameter, 125) for kind, parameter in KINDS]
UNLIKE = [(kind, parameter * (1 + step / 500), 1) for step in range(125) for kind, parameter in KINDS]

SECONDS, MEMORY = 10.0, 1e9


def _against_peer(name: str, task: str, arguments: dict[str, Any], factor: float, **truth: object) -> Case:
    """The same call by us and by the peer; ours first checks its accuracy, and a task that fails misses its bar."""
    ours = Task(task, arguments | truth)
    return Case(name, ours, {PEER: Task(task, arguments)}, (faster(PEER, factor),), repetitions=5, timeout=300)


def _gaussian(count: int) -> Case:
    arguments = {"event": "gaussian", "parameter": 1, "count": count, "delta": 1e-6}
    ours = Task("gaussian", {"count": count, "deltas": (1e-6, 1e-10), "limit": 1e-9})
    name = f"Gaussian sigma 1, k={count:,} (error <= 1e-9)"
    return Case(name, ours, {PEER: Task("epsilon", arguments)}, (at_most(1e-3),), repetitions=5, timeout=300)


def _laplace(event: str, truth: str) -> Case:
    arguments = {"event": event, "parameter": 10, "count": 1000, "delta": 1e-6}
    name = f"{event.replace('_', ' ')} 0.1 x 1000 (error <= +0.01%)"
    return _against_peer(name, "epsilon", arguments, 5, truth=truth, limit=1e-4)


def _poisson(rate: float, sigma: float, count: int, delta: float, truth: str) -> Case:
    arguments = {"event": "gaussian", "parameter": sigma, "count": count, "delta": delta, "rate": rate}
    name = f"Poisson q={rate:g} sigma={sigma:g} k={count:,} delta={delta:g} (error <= +0.1%)"
    return _against_peer(name, "epsilon", arguments, 2, truth=truth, limit=1e-3)


def _mixed(name: str, events: Sequence[tuple[str, float, int]]) -> Case:
    arguments = {"events": events, "delta": 1e-6}
    return _against_peer(f"{name} (error <= +0.05%)", "mixed", arguments, 8, limit=5e-4)


def _import(statement: str, *bars: Bar) -> Case:
    """What a statement takes above the one import that accounting cannot do without."""
    return Case(
        statement,
        Task("start", {"arguments": ["-c", statement]}),
        {SPECIAL: Task("start", {"arguments": ["-c", "import scipy.special"]})},
        bars,
        compared="difference",
        repetitions=15,
        warmups=2,
    )


def _extreme(name: str, task: str, arguments: dict[str, Any]) -> Sequence[Case]:
    """Hard inputs: they must finish in time and in memory; the task refuses what is not a finite, positive figure."""
    seconds = Case(
        name,
        Task(f"{task}_seconds", arguments),
        bars=(at_most(SECONDS),),
        repetitions=1,
        warmups=0,
        reported=True,
        fresh=True,
    )
    memory = Task(f"{task}_memory", arguments)
    return seconds, replace(seconds, name=f"{name}: memory", ours=memory, bars=(at_most(MEMORY),), unit="B")


AREA = Area(
    ours=Participant(OURS, TASKS / "account_discreet.py", package="discreet"),
    peers=(
        Participant(PEER, TASKS / "account_dp_accounting.py", ("dp-accounting==0.6.0",), package="dp-accounting"),
        Participant(SPECIAL, PROCESS, package="scipy"),
    ),
    cases=(
        *(_gaussian(count) for count in GAUSSIAN_COUNTS),
        *(_laplace(event, truth) for event, truth in LAPLACE.items()),
        *(_poisson(*case, delta, truth) for case, truths in POISSON.items() for delta, truth in truths.items()),
        _mixed("500 mixed, 4 kinds", ALIKE),
        _mixed("500 mixed, all unlike", UNLIKE),
        Case(
            "randomized response 0.1 x 1000, delta 1e-6 ... 1e-15 (error <= +0.01%)",
            Task("response", {"epsilon": 0.1, "count": 1000, "deltas": SMALL_DELTAS, "limit": 1e-4}),
        ),
        *_extreme("sigma 0.02", "sampled", {"sigma": 0.02, "rate": 0.01, "count": 10}),
        *_extreme("sigma 0.05", "sampled", {"sigma": 0.05, "rate": 0.01, "count": 10}),
        *_extreme("k = 1,000,000", "sampled", {"sigma": 5.0, "rate": 1e-3, "count": 10**6}),
        *_extreme("epsilon 0.01", "small", {"epsilon": 0.01, "delta": 1e-6, "rate": 0.01, "steps": 1000}),
        *_extreme("10,000 distinct events", "distinct", {"count": 10**4}),
        Case("calibrate inverts epsilon (error <= 1e-6)", Task("calibrated", {"limit": 1e-6}), repetitions=3),
        _import("import discreet.account", at_most(0.050, above=SPECIAL)),
        _import("from discreet.account import Gaussian"),
    ),
)
