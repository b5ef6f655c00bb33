"""Forks: a child inherits no connection of a store, and no lock that nobody will release.

A connection that two processes hold is nobody's. SQLite's shares its locks with neither: the parent, closing later,
would believe itself alone and remove the log that the child still writes to, and with it the child's debits.
PostgreSQL's would take the answers of one process for those of the other.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """A store that lets go of its connection for a fork."""

    def before_fork(self) -> None:
        """Wait for this process's transactions and disconnect, so a child inherits nothing."""

    def after_fork(self) -> None:
        """Let threads go on, in parent and child; each connects again when it needs to."""


_STORES: WeakSet[Forkable] = WeakSet()
_HELD: list[Forkable] = []
_FORKING = threading.Lock()


def watch(store: Forkable) -> None:
    """Have a store told of every fork of this process, for as long as it lives."""
    _STORES.add(store)


def _before() -> None:
    _FORKING.acquire()
    for store in list(_STORES):
        store.before_fork()
        _HELD.append(store)


def _after() -> None:
    while _HELD:
        _HELD.pop().after_fork()
    _FORKING.release()


if sys.platform != "win32":
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
