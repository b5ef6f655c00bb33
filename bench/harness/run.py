"""Runs: in each case everyone takes turns, and the order of turns rotates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.harness.case import Area, Case, Task
from bench.harness.crew import Crew
from bench.harness.environment import CACHE
from bench.harness.process import WorkerFailed
from bench.harness.result import AreaResult, Outcome, Samples
from bench.harness.watch import Watcher

# Long against the clock's resolution and a scheduler's turn, short enough that everyone meets the same conditions.
SLICE_SECONDS = 0.05
QUICK_REPETITIONS = 3


def run_area(name: str, area: Area, watcher: Watcher, *, most: int | None = None, cache: Path = CACHE) -> AreaResult:
    """Measure every case, with at most `most` repetitions; who is absent or fails is reported, and the rest goes on."""
    with Crew(area, watcher, cache) as crew:
        outcomes = tuple(run_case(case, crew, watcher, most=most) for case in area.cases)
        return AreaResult(name, outcomes, crew.versions, crew.absent)


def run_case(case: Case, crew: Crew, watcher: Watcher, *, most: int | None = None) -> Outcome:
    """Prepare everyone, then repeat rounds in which each participant that has not failed has one turn."""
    if case.fresh:
        crew.dismiss()
    turns = {name: Turns(name, task, case, crew) for name, task in case.tasks().items()}
    for name, one in turns.items():
        watcher.turn(case, name)
        one.prepare()
    for repetition in range(min(case.repetitions, most or case.repetitions)):
        for name in order(list(turns), repetition):
            watcher.turn(case, name)
            turns[name].take()
    if case.fresh:
        crew.dismiss()
    watcher.done(case)
    return Outcome(case, {name: one.samples() for name, one in turns.items()})


def order(names: Sequence[str], repetition: int) -> list[str]:
    """Whose turn it is in one repetition: each round starts with the next one, so that nobody always goes first."""
    start = repetition % len(names)
    return [*names[start:], *names[:start]]


class Turns:
    """One participant's turns in one case; after a failure it sits out."""

    def __init__(self, name: str, task: Task, case: Case, crew: Crew) -> None:
        self._name = name
        self._task = task
        self._case = case
        self._crew = crew
        self._values: list[float] = []
        self._failure: str | None = None

    def prepare(self) -> None:
        """Set the task up and make the calls that are not counted."""
        self._ask(do="prepare", function=self._task.function, arguments=dict(self._task.arguments))
        for _ in range(self._case.warmups):
            self._figure(0.0)

    def take(self) -> None:
        """Take one turn and keep its figure, per item."""
        figure = self._figure(SLICE_SECONDS)
        if figure is not None:
            self._values.append(figure / self._task.items)

    def samples(self) -> Samples:
        """What the turns gave."""
        return Samples(tuple(self._values), self._task.items, self._failure)

    def _figure(self, seconds: float) -> float | None:
        if self._case.reported:
            return self._ask(do="report")
        return self._ask(do="measure", seconds=seconds)

    def _ask(self, **request: object) -> float | None:
        if self._failure is not None:
            return None
        try:
            return self._crew.ask(self._name, self._case.timeout, **request).get("figure")
        except WorkerFailed as failure:
            self._failure = failure.why
            return None
