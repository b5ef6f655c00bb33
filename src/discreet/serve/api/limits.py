"""Limits of a token: how many requests it may make in a second, and how many at once, before anything is read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.curator.remote.problem import TooMany

# A question that the budget refuses leaves an entry in the chain and costs nothing there, so it counts as so many more.
_REFUSAL = 9


class TokenLimits:
    """What one token has asked of late.

    Guarantee: a request beyond the limits touches neither ledger nor data, and leaves no entry.
    """

    __slots__ = ("_burst", "_concurrent", "_left", "_lock", "_rate", "_seen", "_working")

    def __init__(self, rate: float, burst: int, concurrent: int) -> None:
        self._rate, self._burst, self._concurrent = rate, burst, concurrent
        self._left, self._seen, self._working = float(burst), time.monotonic(), 0
        self._lock = Lock()

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request, and refuse one too many."""
        with self._lock:
            now = time.monotonic()
            self._left = min(float(self._burst), self._left + (now - self._seen) * self._rate)
            self._seen = now
            if self._left < 1:
                why, fix = f"a token may make {self._rate:g} requests a second", "wait for Retry-After, and ask again"
                raise TooMany("this request", why=why, fix=fix, seconds=(1 - self._left) / self._rate)
            self._left -= 1
            if self._working >= self._concurrent:
                why, fix = f"{self._concurrent} requests of this token are being answered", "wait for one of them"
                raise TooMany("this request", why=why, fix=fix, seconds=1.0)
            self._working += 1
        refused = 0
        try:
            yield
        except BudgetExceeded:
            refused = _REFUSAL
            raise
        finally:
            with self._lock:
                self._working -= 1
                self._left -= refused
