"""Engines: what computes the exact integers of a question, and the secret order that decides which rows are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Event, Thread
from types import TracebackType
from typing import Protocol, Self

from discreet.core.errors import Refusal
from discreet.core.value import dataclass

Datum = int | str | bool | None
# What else finds the rows of a query, for as long as the block lasts.
Made = Callable[[], AbstractContextManager[str]]


# So many rows leave an engine at a time where they are streamed.
BATCH_ROWS = 1 << 14


@dataclass(frozen=True, slots=True)
class Allotment:
    """What one engine may take of the machine: megabytes, beyond which it spills to disk or fails, and threads."""

    memory: int
    threads: int


class EngineFailed(Refusal):
    """The engine could not finish; why is not said, for it might tell of a record."""

    def __init__(self) -> None:
        super().__init__(
            "the engine",
            why="it could not finish this question; its own words are withheld, since they might quote a record",
            fix="ask the custodian to check that the source is where it was, unchanged and readable, and that the "
            "engine has enough memory and disk",
        )


class DeadlineExceeded(EngineFailed):
    """The engine was interrupted at the question's deadline; to an analyst it is a failure like any other."""


class Engine(Protocol):
    """A context manager that runs our own statements and gives back small, exact answers.

    A statement may name the one-row table `"~order"` (`ORDER_TABLE`): the engine makes it from the vault's
    secret when it is first named, so that no value of it stands in a text that anybody else could read.

    Guarantee: what an engine says of a failure is never shown; every failure is the same `EngineFailed`.
    """

    @property
    def name(self) -> str:
        """Which engine this is, as its dialect is called."""

    @property
    def version(self) -> str:
        """Its version, once it is entered; told without reading a row."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def question(self, seconds: float | None = None) -> AbstractContextManager[None]:
        """Have all statements inside a `with` block see one state of the tables, where they may change.

        After so many seconds the engine is interrupted, and statements raise `DeadlineExceeded`.
        """

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Datum, ...]]:
        """Return the rows of a statement: whole numbers as Python's, never through floats."""

    def batches(self, sql: str, parameters: Sequence[object] = ()) -> Iterator[list[tuple[Datum, ...]]]:
        """Hand out the rows of a statement in its order, at most `BATCH_ROWS` at a time, without having all at once.

        Nothing else is asked of the engine until they are over, or closed.
        """

    def run(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement for what it does."""

    def kept(self, sql: str) -> AbstractContextManager[str]:
        """Keep the rows of a query inside a `with` block, and return what stands after FROM to read them."""

    def remembered(self, sql: str, made: Made | None = None) -> str:
        """Return what stands after FROM to read the rows of a query, kept as long as the engine where that is sound.

        That is where nothing that the engine reads can change without being a new version, of which another engine is
        opened. Elsewhere it is the query itself, in brackets. What is returned follows from the query alone.

        `made` gives another query for the same rows, which costs less in the end; it is asked where they are not kept
        yet. Of the rows that were kept with one, the oldest make room for new ones.
        """


# An interruption that comes between two statements is lost, so that it is repeated.
_AGAIN_SECONDS = 0.05


class Deadline:
    """Seconds that all statements of one question have together; None is for ever.

    Guarantee: a deadline that has passed is told by the type of the failure alone, which no analyst sees; its text is
    that of every other failure.
    """

    def __init__(self, seconds: float | None, interrupt: Callable[[], object]) -> None:
        self._seconds, self._interrupt = seconds, interrupt
        self._passed, self._over = False, Event()

    @property
    def passed(self) -> bool:
        """Whether the time is over, and what runs is being interrupted."""
        return self._passed

    @property
    def failure(self) -> EngineFailed:
        """What a statement that failed, or may not begin any more, is to raise."""
        return DeadlineExceeded() if self._passed else EngineFailed()

    def check(self) -> None:
        """Refuse to begin another statement once the time is over."""
        if self._passed:
            raise DeadlineExceeded

    @contextmanager
    def running(self) -> Iterator[None]:
        """Interrupt whatever runs inside the block once the time is over."""
        if self._seconds is None:
            yield
            return
        watch = Thread(target=self._watch, args=(self._seconds,), name="discreet-deadline", daemon=True)
        watch.start()
        try:
            yield
        finally:
            self._over.set()
            watch.join()

    def _watch(self, seconds: float) -> None:
        wait = seconds
        while not self._over.wait(wait):
            self._passed, wait = True, _AGAIN_SECONDS
            with suppress(Exception):  # an engine that is gone works no longer
                self._interrupt()


NEVER = Deadline(None, lambda: None)


# The one-row table of multipliers that an engine makes from the secret when it is needed; no text holds its values.
ORDER_TABLE = '"~order"'
# A prime: sums of products modulo it are the hashes of Carter and Wegman (1979).
PRIME = (1 << 31) - 1
# How many multipliers there are for each of the two hashes; the first of each is added, the others multiply.
MULTIPLIERS = 256
# Below 2^28, so eight products with numbers below 2^31 add up to less than 2^62.
_BITS = 28


def multipliers(secret: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two rows of multipliers, drawn from the secret as if by chance; they tell nothing about it."""
    first, second = (tuple(_draw(secret, row, place) for place in range(MULTIPLIERS)) for row in (0, 1))
    return first, second


def _draw(secret: bytes, row: int, place: int) -> int:
    found = hashlib.blake2b(f"order {row} {place}".encode(), key=hashlib.sha256(secret).digest(), digest_size=8)
    # Never 0, which would leave a column out of the order.
    return 1 + int.from_bytes(found.digest(), "big") % ((1 << _BITS) - 1)
