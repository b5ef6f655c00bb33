"""Hearing: what a release hands to its mechanisms, what they draw, and what they return, label by label.

The doors of the mechanisms, the noise functions and the draws of a debit are listened to while the code that answers
runs. Noise can be fed to a mechanism in place of drawn noise, and its result can be replaced by an earlier one.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from fractions import Fraction
from functools import partial
from inspect import signature

import numpy as np

import discreet.noise as noise
from discreet.core.doors import opened
from discreet.core.value import dataclass
from discreet.lab.audits.subject import Output
from discreet.lab.audits.tape import exchange, releasing
from discreet.mechanisms.joint_quantiles import search_together
from discreet.mechanisms.parts.statistic import Statistic
from discreet.mechanisms.quantile import Quantile
from discreet.noise.draws import Draws
from discreet.plan.to_sql.cells import CellRequest, Counts

Pattern = Callable[[int], int]

_CELLS = 1024
_FED = ("laplace", "gaussian")
# What is fed in place of noise: never the same twice in one passage, odd and even, far out on both sides.
PATTERNS: tuple[Pattern, ...] = (
    lambda place: -9 - 4 * place,
    lambda place: 10**6 + 1 + 3 * place,
    lambda place: (-1) ** place * (11 + place * place),
)


@dataclass(frozen=True, slots=True)
class FedNoise:
    """What a noise function was asked for, and what it was made to return."""

    name: str
    parameter: Fraction
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """One use of a mechanism: at which label, what was handed to it, what it made of that, and what it returned.

    A statistic is handed the exact integers of every group, joint quantiles the values of every group, in steps.
    `made` is the mechanism's own result (None where it was not run), `returned` what the programme went on with.
    """

    label: str
    mechanism: Output
    exact: Output
    made: Output
    returned: Output
    fed: tuple[FedNoise, ...] = ()


class ReleaseDiverged(Exception):
    """A second run handed something to a mechanism where the first did not."""


class Listener:
    """Notes the passages of one run, and decides what mechanisms return.

    `script` has results for what is chosen at labels; `given` are the passages of another run, whose results are
    returned again; `pattern` is fed to statistics in place of noise; `key` replaces the key of every debit. `only_made`
    is for runs on rows that were heard of before: what mechanisms are handed is not noted again.
    """

    def __init__(
        self,
        script: Mapping[str, Output] | None = None,
        given: Sequence[Passage] | None = None,
        pattern: Pattern | None = None,
        key: bytes | None = None,
        *,
        only_made: bool = False,
    ) -> None:
        self.passages: list[Passage] = []
        self.keys: list[bytes] = []
        self.diverged: str | None = None
        self.label = ""
        self._script, self._given, self._pattern, self._key = script or {}, given, pattern, key
        self._only_made, self._thread = only_made, threading.get_ident()
        self._inside = False
        self._fed: list[FedNoise] | None = None

    def key_of(self, key: bytes) -> bytes:
        """Note the key of a debit, and return the one to draw with."""
        self.keys.append(key)
        return key if self._key is None else self._key

    def hear(self, mechanism: Output, exact: Callable[[], Output], run: Callable[[], Output]) -> Output:
        """Note one use of a mechanism, and return what the programme is to go on with."""
        if self._inside or threading.get_ident() != self._thread:
            return run()
        self._inside = True
        try:
            label, handed = self.label, None if self._only_made else deepcopy(exact())
            feeding = isinstance(mechanism, Statistic) and self._pattern is not None
            self._fed = [] if feeding else None
            made = run() if feeding or self._given is None else None
            fed, self._fed = tuple(self._fed or ()), None
            returned = self._returned(label, mechanism, made)
        finally:
            self._inside, self._fed = False, None
        self.passages.append(Passage(label, mechanism, handed, made, returned, fed))
        return deepcopy(returned)  # so that nobody changes what was noted

    def draw(self, name: str, parameter: Fraction, size: object, run: Callable[[], Output]) -> Output:
        """Feed the pattern to a statistic that asks for noise; let everyone else draw."""
        if self._fed is None or self._pattern is None or threading.get_ident() != self._thread:
            return run()
        first = sum(len(each.values) for each in self._fed)
        shape = () if size is None else size if isinstance(size, tuple) else (int(size),)  # type: ignore[call-overload]
        values = tuple(self._pattern(first + place) for place in range(math.prod(shape)))
        one_by_one = self._fed and (self._fed[-1].name, self._fed[-1].parameter) == (name, parameter)
        before = self._fed.pop().values if one_by_one else ()
        self._fed.append(FedNoise(name, parameter, before + values))
        return values[0] if size is None else np.array(values, dtype=np.int64).reshape(shape)

    def _returned(self, label: str, mechanism: Output, made: Output) -> Output:
        if self._given is None:
            return made if isinstance(mechanism, Statistic) else self._script.get(label, made)
        place = len(self.passages)
        expected = self._given[place] if place < len(self._given) else None
        if expected is None or (expected.label, repr(expected.mechanism)) != (label, repr(mechanism)):
            what = "nothing" if expected is None else f"{expected.mechanism!r} at {expected.label!r}"
            self.diverged = f"one neighbour uses {mechanism!r} at {label!r} where the other uses {what}"
            raise ReleaseDiverged(self.diverged)
        return expected.returned


@dataclass(slots=True)
class Ear:
    """Who listens at the moment; another listener may be put in its place between two runs."""

    listener: Listener

    @contextmanager
    def lent(self, listener: Listener) -> Iterator[None]:
        """Let another listener hear what happens inside a `with` block."""
        before, self.listener = self.listener, listener
        try:
            yield
        finally:
            self.listener = before


@contextmanager
def hearing(listener: Listener) -> Iterator[Ear]:
    """Let a listener hear this process, inside a `with` block; names are put back at its end.

    For laboratories on made-up rows, never beside real data.
    """
    undo: list[Callable[[], None]] = []
    honest: dict[int, Callable[..., Output]] = {}
    ear = Ear(listener)
    try:
        for kind in releasing():
            _listen(ear, kind, "release", undo)
        _listen(ear, Statistic, "noisy_rows", undo)
        _label(ear, undo)
        stand_ins: dict[int, Callable[..., Output]] = {id(search_together): partial(_searched, ear, search_together)}
        stand_ins |= {id(each): _feed(ear, name, each) for name, each in samplers().items()}
        honest |= {id(stand_ins[id(each)]): each for each in (search_together, *samplers().values())}
        exchange(stand_ins, undo)
        yield ear
    finally:
        for each in reversed(undo):
            each()
        exchange(honest, [])  # modules that were loaded meanwhile hold stand-ins as well


def samplers() -> dict[str, Callable[..., Output]]:
    """Return the functions that draw the noise of statistics, as they are loaded now."""
    return {name: getattr(noise, name) for name in _FED}


def _listen(ear: Ear, kind: Output, name: str, undo: list[Callable[[], None]]) -> None:
    original = vars(kind)[name]

    def heard(self: Output, exact: Output) -> Output:
        return ear.listener.hear(self, lambda: opened(exact), lambda: original(self, exact))

    setattr(kind, name, heard)
    undo.append(partial(setattr, kind, name, original))


def _label(ear: Ear, undo: list[Callable[[], None]]) -> None:
    """Let the listener know at which label a debit draws, and with which key."""
    kind: Output = Draws
    begin, at = vars(kind)["__init__"], vars(kind)["at"]

    def begun(self: Output, key: bytes, *more: Output) -> None:
        begin(self, ear.listener.key_of(key), *more)

    def labelled(self: Output, label: str) -> Output:
        ear.listener.label = label
        return at(self, label)

    kind.__init__, kind.at = begun, labelled
    undo += [partial(setattr, kind, "__init__", begin), partial(setattr, kind, "at", at)]


def _feed(ear: Ear, name: str, original: Callable[..., Output]) -> Callable[..., Output]:
    known = signature(original)
    parameter = next(iter(known.parameters))

    def heard(*args: Output, **given: Output) -> Output:
        named = known.bind(*args, **given).arguments
        scale = Fraction(named[parameter])
        return ear.listener.draw(name, scale, named.get("size"), lambda: original(*args, **given))

    return heard


def _searched(
    ear: Ear,
    original: Callable[..., Output],
    mechanisms: Sequence[Quantile],
    counts: Counts,
    groups: int,
    cells: int = _CELLS,
) -> Output:
    grid = mechanisms[0].grid

    def values() -> list[list[int]]:
        return [_values(counts, group, grid.low, grid.high) for group in range(groups)]

    return ear.listener.hear(tuple(mechanisms), values, lambda: original(mechanisms, counts, groups, cells))


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
