"""A tape of randomness: what noise and mechanisms returned in one run, given back in the next."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from inspect import signature
from typing import cast

import numpy as np

import discreet.noise as noise
from discreet.core.doors import opened
from discreet.core.errors import Refusal
from discreet.lab.audits.subject import Output
from discreet.mechanisms import registry

Shift = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class TapedDraw:
    """One call of a noise function: which, its parameter as an exact rational, and the size asked for."""

    name: str
    parameter: Fraction
    size: int | tuple[int, ...] | None

    def __str__(self) -> str:
        return f"{self.name}({self.parameter}{'' if self.size is None else f', {self.size}'})"


@dataclass(frozen=True, slots=True)
class TapedRelease:
    """One call of a mechanism's `release`: by which mechanism, and on what."""

    mechanism: Output
    exact: Output = field(compare=False)

    def __str__(self) -> str:
        return repr(self.mechanism)


class Diverged(Refusal):
    """A replayed run that asked for other randomness than the recorded one."""


class Tape:
    """Records the calls of a first run and what they returned; gives the same back to later runs.

    Calls inside a mechanism's release are that release's own business: only the outermost are taped.
    """

    def __init__(self) -> None:
        self.calls: list[TapedDraw | TapedRelease] = []
        self.returned: list[Output] = []
        self.asked: list[TapedDraw | TapedRelease] = []
        self.diverged: str | None = None
        self.inside = False
        self._recording = True
        self._shift: Shift | None = None
        self._drawn = 0

    def rewind(self, shift: Shift | None = None) -> None:
        """Replay from the start; `shift` moves the i-th number of the recorded noise."""
        self.asked, self.diverged = [], None
        self._recording, self._shift, self._drawn = False, shift, 0

    def answer(self, call: TapedDraw | TapedRelease, run: Callable[[], Output]) -> Output:
        """Run a call and record it, or give back what it returned the first time."""
        self.asked.append(call)
        if self._recording:
            self.inside = True
            try:
                result = run()
            finally:
                self.inside = False
            self.calls.append(call)
            self.returned.append(deepcopy(result))
            return result
        place = len(self.asked) - 1
        expected = self.calls[place] if place < len(self.calls) else None
        if expected is None or not _same(expected, call):
            self.diverged = f"call {place + 1} is {call} where it was {expected or 'none'}"
            raise Diverged(self.diverged, why="the neighbour changed it", fix="derive it from declared bounds")
        return self._moved(deepcopy(self.returned[place]), call)

    def finished(self) -> None:
        """Note a run that ended before the recorded one did."""
        if self.diverged is None and len(self.asked) < len(self.calls):
            self.diverged = f"call {len(self.asked) + 1} is none where it was {self.calls[len(self.asked)]}"

    def _moved(self, result: Output, call: TapedDraw | TapedRelease) -> Output:
        if self._shift is None or isinstance(call, TapedRelease):
            return result
        first = self._drawn
        self._drawn += int(np.size(result))
        if call.size is None:
            return result + self._shift(first)
        steps = np.array([self._shift(place) for place in range(first, self._drawn)], dtype=object)
        return result + steps.astype(result.dtype).reshape(np.shape(result))


class Deck:
    """The machine that a tape is put into: calls are heard by the tape that is in it."""

    def __init__(self) -> None:
        self.tape = Tape()
        self._thread = threading.get_ident()

    def heard(self, call: Callable[[], TapedDraw | TapedRelease], run: Callable[[], Output]) -> Output:
        """Let the tape answer a call of this thread; those inside a release are the release's own business."""
        if self.tape.inside or threading.get_ident() != self._thread:
            return run()
        return self.tape.answer(call(), run)


@contextmanager
def listening() -> Iterator[Deck]:
    """Hear this thread's calls of noise functions and of registered mechanisms, inside a `with` block.

    Names are exchanged in the modules that hold them and put back at the end; for laboratories, never beside real data.
    """
    deck = Deck()
    undo: list[Callable[[], None]] = []
    try:
        for kind in releasing():
            _exchange_release(deck, kind, undo)
        exchange({id(original): _stand_in(deck, name, original) for name, original in _samplers().items()}, undo)
        yield deck
    finally:
        for each in reversed(undo):
            each()


def _samplers() -> dict[str, Callable[..., Output]]:
    return {name: getattr(noise, name) for name in noise.__all__}


def _same(first: TapedDraw | TapedRelease, second: TapedDraw | TapedRelease) -> bool:
    try:
        return first == second
    except ValueError:  # mechanisms that hold arrays can be written, but not compared
        return str(first) == str(second)


def _stand_in(deck: Deck, name: str, original: Callable[..., Output]) -> Callable[..., Output]:
    known = signature(original)
    parameter = next(iter(known.parameters))

    def heard(*args: Output, **given: Output) -> Output:
        named = known.bind(*args, **given).arguments
        call = partial(TapedDraw, name, Fraction(named[parameter]), named.get("size"))
        return deck.heard(call, lambda: original(*args, **given))

    return heard


def exchange(stand_ins: dict[int, Callable[..., Output]], undo: list[Callable[[], None]]) -> None:
    """Put stand-ins wherever a loaded module holds the originals."""
    for module in list(sys.modules.values()):
        held = [(name, value) for name, value in getattr(module, "__dict__", {}).items() if id(value) in stand_ins]
        for name, value in held:
            setattr(module, name, stand_ins[id(value)])
            undo.append(partial(setattr, module, name, value))


@cache
def releasing() -> tuple[type, ...]:
    """List the classes, of registered mechanisms and those they descend from, that define `release`."""
    kinds = [base for name in registry for base in type.mro(cast(type, registry[name])) if "release" in vars(base)]
    return tuple(dict.fromkeys(kinds))


def _exchange_release(deck: Deck, kind: Output, undo: list[Callable[[], None]]) -> None:
    original = vars(kind)["release"]

    def release(self: Output, exact: Output) -> Output:
        return deck.heard(lambda: TapedRelease(self, deepcopy(opened(exact))), lambda: original(self, exact))

    kind.release = release
    undo.append(partial(setattr, kind, "release", original))
