"""The file of a client ledger: readable by its owner alone, replaced in one step, used by one process at a time."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal

_KIND = "client_ledger"
_KEY_BYTES = 32
_PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class ClientTopic:
    """A topic: the spec of its protocol, its lifetime and what it has spent, and marks of the values it answered."""

    spec: dict[str, Any]
    lifetime: Fraction
    memo: bool
    per_day: int | None
    spent: Fraction = Fraction(0)
    day: str = ""
    today: int = 0
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Book:
    """What the file holds: a secret key, and the topics."""

    key: bytes
    topics: dict[str, ClientTopic]


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A client ledger's file."""

    path: Path

    @contextmanager
    def opened(self) -> Iterator[Book]:
        """Yield what the file holds, while no other process and no other thread has it open; make it if need be."""
        try:
            held = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), _PRIVATE)
        except OSError as error:
            why = "its lock cannot be made there"
            raise BadParameter("path", str(self.path), why=why, fix="use a folder that exists and is yours") from error
        try:
            self._lock(held)
            if not os.path.lexists(self.path):
                self.write(Book(secrets.token_bytes(_KEY_BYTES), {}))
            yield self._read()
        finally:
            os.close(held)  # which lets go of the lock

    def _lock(self, held: int) -> None:
        """Wait until nobody else holds the lock, and take it."""
        if sys.platform == "win32":
            why = "it needs the file locks of a Unix system, so that no budget is spent twice"
            raise Refusal("a client ledger", why=why, fix="keep it on Linux or macOS", value=str(self.path))
        else:  # noqa: RET506  (so that types are checked on each platform)
            import fcntl

            fcntl.flock(held, fcntl.LOCK_EX)

    def write(self, book: Book) -> None:
        """Replace the file in one step; on return it is on disk."""
        topics = {name: _written(entry) for name, entry in book.topics.items()}
        text = records.write(_KIND, {"key": book.key.hex(), "topics": topics})
        draft = Path(f"{self.path}.{secrets.token_hex(8)}")
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _read(self) -> Book:
        try:
            opened = os.fdopen(os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb")
        except OSError as error:
            why, fix = (
                "it cannot be opened as a plain file",
                "use a file of your own: no folder, and no link to another",
            )
            raise BadParameter("path", str(self.path), why=why, fix=fix) from error
        with opened as file:
            mode = os.fstat(file.fileno()).st_mode
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                why = "others on this machine can read its key, and with the key every answer"
                raise Refusal(f"the ledger {self.path}", why=why, fix=f"chmod 600 {self.path}", value=oct(mode))
            data = file.read()
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise _damaged(self.path) from error
        found = records.fields(_KIND, records.read(_KIND, text), ("key", "topics"))
        try:
            topics = {name: _entry(entry) for name, entry in found["topics"].items()}
            key = bytes.fromhex(found["key"])
        except (TypeError, ValueError, AttributeError, KeyError, ZeroDivisionError) as error:
            raise _damaged(self.path) from error
        if len(key) != _KEY_BYTES:
            raise _damaged(self.path)
        return Book(key, topics)


def _written(entry: ClientTopic) -> dict[str, Any]:
    out = {each.name: getattr(entry, each.name) for each in fields(entry)}
    return {**out, "lifetime": str(entry.lifetime), "spent": str(entry.spent), "seen": list(entry.seen)}


def _entry(found: dict[str, Any]) -> ClientTopic:
    plain = records.fields("topic", found, [each.name for each in fields(ClientTopic)])
    spent, lifetime = Fraction(plain["spent"]), Fraction(plain["lifetime"])
    if spent < 0 or not isinstance(plain["memo"], bool):
        raise ValueError
    seen = tuple(str(mark) for mark in plain["seen"])
    return ClientTopic(**{**plain, "spent": spent, "lifetime": lifetime, "seen": seen})


def _damaged(path: Path) -> BadParameter:
    why = "it is damaged, and what it has spent is not known"
    return BadParameter("path", str(path), why=why, fix="restore its newest copy; a new file would begin a new life")
