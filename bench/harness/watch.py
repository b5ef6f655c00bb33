"""Watchers: how far a run is, as a live line on a terminal and as one line a case elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bench.harness.case import Case


class Watcher(Protocol):
    """Someone who is told how far a run is."""

    def phase(self, text: str) -> None:
        """Something that is not measured begins, e.g. an installation."""

    def turn(self, case: Case, name: str) -> None:
        """A participant's turn in a case begins."""

    def done(self, case: Case) -> None:
        """A case is finished."""


class Quiet:
    """A watcher who says nothing."""

    def phase(self, text: str) -> None:
        """Say nothing."""

    def turn(self, case: Case, name: str) -> None:
        """Say nothing."""

    def done(self, case: Case) -> None:
        """Say nothing."""


class Display:
    """A watcher who shows the run on a console (standard error, so that results can be piped)."""

    def __init__(self, console: Console, area: str, cases: int) -> None:
        self._console = console
        self._area = area
        self._cases = cases
        self._finished = 0
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task(area, total=cases)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def phase(self, text: str) -> None:
        """Show what is going on in place of the case."""
        self._progress.update(self._task, description=f"{self._area}: {text}")
        if not self._console.is_terminal:
            self._console.print(f"{self._area}: {text}")

    def turn(self, case: Case, name: str) -> None:
        """Show whose turn it is."""
        self._progress.update(self._task, description=f"{self._area}: {case.name}: {name}")

    def done(self, case: Case) -> None:
        """Count a finished case; without a live line, say so."""
        self._finished += 1
        self._progress.advance(self._task)
        if not self._console.is_terminal:
            self._console.print(f"{self._area}: {self._finished}/{self._cases} {case.name}")
