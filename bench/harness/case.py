"""Cases: what is measured, by whom, and the bars it must clear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.harness.bar import Bar
from bench.harness.figure import OURS, Comparison, Unit

TASKS = Path(__file__).resolve().parent.parent / "tasks"


@dataclass(frozen=True, slots=True)
class Participant:
    """Someone who takes part in an area: a task file, and the packages its interpreter needs.

    Without requirements it runs on the project's own interpreter; with some, in a cached environment of its own.
    `package` is the installed package whose version the report names, where there is one.
    """

    name: str
    tasks: Path
    requirements: tuple[str, ...] = ()
    package: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """One function of a participant's task file. Called with the arguments it prepares, and returns what is timed.

    `items` is how much work one timed call does: figures are per item, so sizes may differ between participants.
    """

    function: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    items: int = 1


@dataclass(frozen=True, slots=True)
class Case:
    """One row of an area: our task, the peers' tasks by name, and the bars (none: the row only informs).

    `reported=True`: the figure is what the call returns (bytes, or seconds the task took itself), not its duration.
    `fresh=True`: the case gets workers of its own, so that nothing done before it is remembered.
    `compared` is how a peer is set beside us where no bar says it.
    `warmups` are calls that are not counted, before the first round.
    """

    name: str
    ours: Task
    peers: Mapping[str, Task] = field(default_factory=dict)
    bars: tuple[Bar, ...] = ()
    unit: Unit = "s"
    compared: Comparison = "ratio"
    repetitions: int = 7
    warmups: int = 1
    reported: bool = False
    fresh: bool = False
    timeout: float = 120.0

    def tasks(self) -> dict[str, Task]:
        """Everyone's task by participant's name, ours first."""
        return {OURS: self.ours, **self.peers}


@dataclass(frozen=True, slots=True)
class Area:
    """A file of cases and the participants they need."""

    ours: Participant
    peers: tuple[Participant, ...]
    cases: tuple[Case, ...]

    def participants(self) -> dict[str, Participant]:
        """Everyone by name, ours first."""
        return {one.name: one for one in (self.ours, *self.peers)}
