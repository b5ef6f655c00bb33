"""Fake areas for the harness's tests: every participant runs the fake task file on this interpreter."""

from pathlib import Path

from bench.harness.case import Area, Case, Participant, Task
from bench.harness.figure import OURS
from bench.harness.result import AreaResult, Outcome, Samples
from bench.harness.run import run_area
from bench.harness.watch import Quiet

FAKE = Path(__file__).with_name("fake_tasks.py")


def area(*cases: Case, peers: tuple[Participant, ...] = (Participant("a", FAKE), Participant("b", FAKE))) -> Area:
    return Area(Participant(OURS, FAKE), peers, cases)


def reported(name: str = "case", **settings) -> Case:
    """A case whose figures are what the tasks return."""
    settings = {"repetitions": 3, "warmups": 0, "reported": True, **settings}
    return Case(name, **settings)


def series(*values: float, items: int = 1) -> Task:
    return Task("series", {"values": values}, items)


def run(*cases: Case, **settings) -> AreaResult:
    return run_area("fake", area(*cases), Quiet(), **settings)


def outcome(case: Case, **figures: float) -> Outcome:
    """An outcome without a run: one sample for each figure."""
    return Outcome(case, {name: Samples((figure,)) for name, figure in figures.items()})
