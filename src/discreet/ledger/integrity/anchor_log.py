"""The anchor log: a file to which every head is appended, for disks and mounts where nothing can be written over.

Its last line is what counts; the lines before it tell an auditor when the vault had which head.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.ledger.entry import Head
from discreet.ledger.integrity.anchor import SLOT, Anchor, forked, locked, opened, unwritten
from discreet.ledger.integrity.keys import Signer
from discreet.ledger.refusals import Tampered, Unavailable

_APPENDING = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)
# How much of its end is read: a last line that was torn, and whole ones before it.
_TAIL = 8 * SLOT


class AnchorLog:
    """A log of a vault's heads, signed; used as an `AnchorFile` is. Keep one for each vault."""

    def __init__(self, path: Path, signer: Signer, kind: str = "log") -> None:
        self.path = path
        self.kind = kind
        self._signer = signer

    @property
    def absent(self) -> bool:
        """Whether nothing was ever written to it, or it is not there."""
        try:
            return self.path.stat().st_size == 0
        except FileNotFoundError:
            return True
        except OSError:  # which reading it will tell
            return False

    def check(self, on_chain: Callable[[Head], bool]) -> None:
        """Refuse if the log cannot be written, or ends with a head that is not on the vault's chain; before a commit.

        Guarantee: of two states of one vault that share a log, by whatever names, only one goes on.
        """
        if self.absent:
            return
        with self._alone() as file:
            self._check(file, on_chain)

    def write(self, head: Head, on_chain: Callable[[Head], bool]) -> None:
        """Append a head, signed; refuse if the last one is not on the vault's chain."""
        with self._alone() as file:
            last = self._check(file, lambda each: each == head or on_chain(each))
            if last < head.sequence:  # another process may have come by with a newer one
                self._append(file, head)

    def put(self, head: Head) -> None:
        """Append a head, signed, whatever stands before it."""
        with self._alone() as file:
            self._append(file, head)

    def anchors(self) -> list[Anchor]:
        """Return the newest head that this vault signed, none if there is no log; one without such is refused."""
        if self.absent:
            return []
        try:
            with self.path.open("rb") as file:
                found = self._last(file.fileno())
        except OSError as error:
            why = f"it cannot be read ({error.strerror})"
            fix = "make it readable: without it an old copy of the vault is not detected"
            raise Unavailable(f"the anchor {self.path}", why=why, fix=fix, value=str(self.path)) from None
        if found is None:
            why = "it does not end with a head that this vault signed"
            raise Tampered(f"the anchor {self.path}", why=why, fix="keep one log for each vault, and restore this one")
        return [found]

    def discard(self) -> None:
        """Leave it: nothing is ever removed from a log."""

    def _check(self, file: int, on_chain: Callable[[Head], bool]) -> int:
        last = self._last(file)
        if last is not None and not on_chain(last.place):
            raise forked(self.path, last.place)
        return -1 if last is None else last.sequence

    def _last(self, file: int) -> Anchor | None:
        end = os.lseek(file, 0, os.SEEK_END)
        os.lseek(file, max(0, end - _TAIL), os.SEEK_SET)
        lines = [Anchor.from_slot(line) for line in os.read(file, _TAIL).split(b"\n")]
        return next((each for each in reversed(lines) if each and each.is_of(self._signer)), None)

    def _append(self, file: int, head: Head) -> None:
        end = os.lseek(file, 0, os.SEEK_END)
        os.lseek(file, max(0, end - 1), os.SEEK_SET)
        torn = b"" if end == 0 or os.read(file, 1) == b"\n" else b"\n"
        os.write(file, torn + Anchor.signed(head, self._signer).to_slot())

    @contextmanager
    def _alone(self) -> Iterator[int]:
        try:
            file = opened(self.path, _APPENDING)
            try:
                with locked(file):
                    yield file
            finally:
                os.close(file)
        except OSError as error:
            raise unwritten(self.path, error) from None
