"""Private multiplicative weights: a session of 1,000 random questions about three columns of Adult-8, on a vault.

A question names either one value in each of three columns, or every value of them with probability a half. The whole
session is charged when it begins (epsilon 1, delta 1e-6); the vault's engine counts every answer.
"""

from __future__ import annotations

from bench.harness.bar import Bar, at_most
from bench.harness.case import TASKS, Area, Case, Participant, Task
from bench.harness.figure import OURS, Unit

QUESTIONS = 1_000
NEEDED, WITHIN = 0.10, 1.0  # questions that needed an update; the largest error over alpha and the noise bound
KINDS = {"cells": "one value each", "sets": "sets of values"}


def _row(kind: str, figure: str, name: str, unit: Unit, *bars: Bar) -> Case:
    task = Task(figure, {"kind": kind, "questions": QUESTIONS, "epsilon": "1", "delta": "1e-6", "alpha": "0.05"})
    return Case(
        f"PMW, 1,000 questions ({KINDS[kind]}): {name}",
        task,
        {},
        bars,
        unit,
        repetitions=1,
        warmups=0,
        reported=True,
        timeout=1800.0,
    )


AREA = Area(
    ours=Participant(OURS, TASKS / "synth_pmw.py", package="discreet"),
    peers=(),
    cases=tuple(
        case
        for kind in KINDS
        for case in (
            _row(kind, "needed", "needed an update", "%", at_most(NEEDED)),
            _row(kind, "worst", "largest error over its printed bound", "%", at_most(WITHIN)),
            _row(kind, "seconds", "CPU for all", "s"),
        )
    ),
)
