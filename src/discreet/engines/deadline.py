"""Deadlines: how long an engine may work on one question, after which it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from discreet.engines.engine import DeadlineExceeded, EngineFailed

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
