"""Transcripts: what a programme hands to its mechanisms on made-up rows, and what it makes of what they return.

The programme is the one that answers analysts. It runs on both neighbours; on the second one every mechanism is given
back what it returned on the first. Then nothing is left by which the answers may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

from discreet.ask.programme import Programme
from discreet.core.doors import opened
from discreet.lab.audits.neighbours import Neighbours
from discreet.lab.audits.replay import equal_outputs
from discreet.lab.audits.stage import Staged
from discreet.lab.audits.subject import Output, Raised
from discreet.lab.audits.tape import exchange, releasing
from discreet.measures.request import ExactSource
from discreet.mechanisms.joint_quantiles import search_together
from discreet.mechanisms.parts.statistic import Statistic
from discreet.mechanisms.quantile import Quantile
from discreet.noise.bits import drawing
from discreet.noise.draws import Draws, new_key
from discreet.plan.to_sql.cells import CellRequest, Counts

_CELLS = 1024
_KEYS, _BOUND = "keys/selection", "rows/quantile"


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """One use of a mechanism: at which label, what was handed to it, and what it returned.

    A statistic is handed the exact integers of every group, joint quantiles the values of every group, in steps.
    """

    label: str
    mechanism: Output
    exact: Output
    returned: Output


@dataclass(frozen=True, slots=True)
class Heard:
    """A mechanism that both neighbours used, and what each of them handed to it."""

    label: str
    mechanism: Output
    exact: tuple[Output, Output]

    @property
    def differs(self) -> bool:
        """Whether the neighbours can be told apart here."""
        return not equal_outputs(*self.exact)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A programme on two neighbours: what both handed to which mechanism, and how else they differ, if they do."""

    heard: tuple[Heard, ...]
    groups: tuple[tuple[Any, ...], ...]
    fault: str | None = None
    failed: Exception | None = None  # that both neighbours ended with


def transcript(programme: Programme, staged: Staged, pair: Neighbours) -> Transcript:
    """Run a programme on both neighbours; keys that are selected are those that either has, a bound is the highest.

    Guarantee: a `fault` shows that the answers differ by more than what mechanisms returned, or that one neighbour uses
    a mechanism that the other does not: no proof of the programme's loss by composition is left.
    """
    registered = programme.asked.report.query.registered
    with staged.runner(registered, pair.one) as first, staged.runner(registered, pair.other) as second:
        script: dict[str, Output] = {}
        if programme.asked.bound is not None:
            script[_BOUND] = programme.asked.bound.most
        if programme.asked.selection is not None:
            script[_KEYS] = _either(programme, (first, second), {**script, _KEYS: ()})
        key = new_key()
        zero = _run(programme, first, key, script)
        one = _run(programme, second, key, script, zero.passages)
    pairs = zip(zero.passages, one.passages, strict=False)
    heard = tuple(Heard(a.label, a.mechanism, (a.exact, b.exact)) for a, b in pairs)
    failed = zero.error if one.error is not None else None
    return Transcript(heard, tuple(script.get(_KEYS, ())), _fault(programme, zero, one), failed)


def _either(programme: Programme, engines: Sequence[ExactSource], script: Mapping[str, Output]) -> list[Any]:
    """Return the keys that someone has on either neighbour."""
    runs = [_run(programme, engine, new_key(), script) for engine in engines]
    people = [each.exact for run in runs for each in run.passages if each.label == _KEYS]
    return sorted({group for each in people for group in each}, key=repr)


def _fault(programme: Programme, zero: _Run, one: _Run) -> str | None:
    """Say how two runs differ beyond what they handed to mechanisms."""
    if one.diverged is not None:
        return one.diverged
    if isinstance(zero.output, Raised) != isinstance(one.output, Raised):
        return "one neighbour raises an exception, the other does not"
    unclaimed = [each.label for each in zero.passages if each.label not in {c.label for c in programme.claims()}]
    if unclaimed:
        return f"something is drawn at {unclaimed[0] or 'no label'!r}, where nothing was promised"
    if len(one.passages) < len(zero.passages):
        return f"nothing is drawn at {zero.passages[len(one.passages)].label!r} on one neighbour"
    if zero.output != one.output:
        return "with the same draws the answers differ"
    return None


# Hearing --------------------------------------------------------------------------------------------------------------


class _Draws(Draws):
    """Draws that remember at which label they are."""

    __slots__ = ("label",)

    def __init__(self, key: bytes) -> None:
        super().__init__(key)
        self.label = ""

    def at(self, label: str) -> drawing:
        self.label = label
        return super().at(label)


class _Diverged(Exception):
    """A second run handed something to a mechanism where the first did not."""


class _Run:
    """One run of a programme: the mechanisms that it used, in order, and its answer as text."""

    def __init__(self, draws: _Draws, script: Mapping[str, Output], given: Sequence[Passage] | None) -> None:
        self.passages: list[Passage] = []
        self.output: str | Raised = ""
        self.error: Exception | None = None
        self.diverged: str | None = None
        self._draws, self._script, self._given = draws, script, given
        self._inside = False

    def hear(self, mechanism: Output, exact: Callable[[], Output], run: Callable[[], Output]) -> Output:
        """Note what is handed to a mechanism, and return what it returns, or did the first time, or is told to."""
        if self._inside:
            return run()
        self._inside = True
        try:
            label, handed = self._draws.label, deepcopy(exact())
            returned = self._returned(label, mechanism, run)
        finally:
            self._inside = False
        self.passages.append(Passage(label, mechanism, handed, returned))
        return deepcopy(returned)

    def _returned(self, label: str, mechanism: Output, run: Callable[[], Output]) -> Output:
        if self._given is None:
            return self._script[label] if label in self._script else run()
        place = len(self.passages)
        expected = self._given[place] if place < len(self._given) else None
        if expected is None or (expected.label, repr(expected.mechanism)) != (label, repr(mechanism)):
            what = "nothing" if expected is None else f"{expected.mechanism!r} at {expected.label!r}"
            self.diverged = f"one neighbour uses {mechanism!r} at {label!r} where the other uses {what}"
            raise _Diverged(self.diverged)
        return expected.returned


def _run(
    programme: Programme,
    engine: ExactSource,
    key: bytes,
    script: Mapping[str, Output],
    given: Sequence[Passage] | None = None,
) -> _Run:
    draws = _Draws(key)
    run = _Run(draws, script, given)
    with _hearing(run):
        try:
            run.output = programme.run(engine, draws).to_json()
        except Exception as error:
            run.error, run.output = error, Raised(type(error).__name__, str(error))
    return run


@contextmanager
def _hearing(run: _Run) -> Iterator[None]:
    """Let a run hear the mechanisms that open exact values; names are put back at the end."""
    undo: list[Callable[[], None]] = []
    try:
        for kind in releasing():
            _listen(run, kind, "release", undo)
        _listen(run, Statistic, "noisy", undo)
        exchange({id(search_together): partial(_searched, run, search_together)}, undo)
        yield
    finally:
        for each in reversed(undo):
            each()


def _listen(run: _Run, kind: Output, name: str, undo: list[Callable[[], None]]) -> None:
    original = vars(kind)[name]

    def heard(self: Output, exact: Output) -> Output:
        return run.hear(self, lambda: opened(exact), lambda: original(self, exact))

    setattr(kind, name, heard)
    undo.append(partial(setattr, kind, name, original))


def _searched(
    run: _Run,
    original: Callable[..., Output],
    mechanisms: Sequence[Quantile],
    counts: Counts,
    groups: int,
    cells: int = _CELLS,
) -> Output:
    grid = mechanisms[0].grid

    def values() -> list[list[int]]:
        return [_values(counts, group, grid.low, grid.high) for group in range(groups)]

    return run.hear(tuple(mechanisms), values, lambda: original(mechanisms, counts, groups, cells))


def _values(counts: Counts, group: int, low: int, high: int) -> list[int]:
    """Return the values of a group, in order, by looking closer and closer at the cells that hold any."""
    found: list[int] = []
    waiting = [(low, high)]
    while waiting:
        requests = []
        for first, last in waiting:
            width = -(-(last - first + 1) // _CELLS)
            requests.append(CellRequest(group, first, width, -(-(last - first + 1) // width)))
        waiting = []
        for request, answer in zip(requests, opened(counts(requests)), strict=True):
            for cell, many in answer.items():
                start = request.low + cell * request.width
                if request.width == 1:
                    found += [start] * many
                else:
                    waiting.append((start, min(start + request.width - 1, high)))
    return sorted(found)
