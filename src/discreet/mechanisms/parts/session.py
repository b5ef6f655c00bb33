"""Sessions: the state of one sequence of answers, which takes them one at a time and exists only once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import NoReturn

from discreet.core.errors import Refusal


class Elsewhere(Refusal):
    """A second copy of a session: a pickled, copied or forked one."""


class MechanismSession:
    """What a sequence of answers remembers: noise that is drawn once, and how much of what was paid is left.

    Guarantee: threads take turns, and there is one copy of it alone. A second one, or two threads that both see the
    last answer left, would say more than was paid for, about the same noise.
    """

    __slots__ = ("_lock", "_process")

    def __init__(self) -> None:
        self._lock, self._process = Lock(), os.getpid()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let one thread at a time look and answer, in the process where the session was started."""
        if os.getpid() != self._process:  # before the lock, which a thread of the parent may have held forever
            why = "it was started in another process, and two copies would use the same noise"
            raise Elsewhere("this session", why=why, fix="ask there, or start one here", value=os.getpid())
        with self._lock:
            yield

    def __reduce__(self) -> NoReturn:
        why, fix = "a second copy would use the same noise", "start a session where it is needed"
        raise Elsewhere("a copy of a session", why=why, fix=fix, value=type(self).__name__)
