"""SQLite's errors as refusals: what cannot be done now, why, and what to do about it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from discreet.core.errors import Refusal
from discreet.ledger.refusals import NotAVault, Tampered, Unavailable

_REASONS: dict[int, tuple[type[Unavailable | NotAVault], str, str]] = {
    sqlite3.SQLITE_BUSY: (
        Unavailable,
        "another program has locked it for too long",
        "wait for that program to end, or end it, and ask again",
    ),
    sqlite3.SQLITE_READONLY: (
        Unavailable,
        "it can be read but not written, and nothing is answered without a debit",
        "make the file and its folder writable",
    ),
    sqlite3.SQLITE_FULL: (
        Unavailable,
        "the disk is full, and nothing is answered without a debit",
        "free disk space and ask again",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        Unavailable,
        "the file cannot be opened",
        "check the path and who may read and write it",
    ),
    sqlite3.SQLITE_TOOBIG: (Unavailable, "an answer is larger than a vault can store", "ask for fewer groups"),
    sqlite3.SQLITE_NOTADB: (NotAVault, "the file is not a vault", "give the path of a vault"),
}
_REASONS[sqlite3.SQLITE_LOCKED] = _REASONS[sqlite3.SQLITE_BUSY]
_REASONS[sqlite3.SQLITE_PERM] = _REASONS[sqlite3.SQLITE_CANTOPEN]

# What only happens to a file that something else than a ledger has written to.
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_SCHEMA}


def refusal(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> Refusal:
    """Say what an error of SQLite means for the vault; the engine's own text is not repeated."""
    what, code = f"the vault {path}", getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if isinstance(error, UnicodeDecodeError):
        return Tampered(what, why="it contains bytes that are not text")
    if code in _REASONS:
        kind, why, fix = _REASONS[code]
        return kind(what, why=why, fix=fix, value=str(path))
    if code in _DAMAGE or (isinstance(error, sqlite3.OperationalError) and code == sqlite3.SQLITE_ERROR):
        return Tampered(what, why=f"its tables are not as a ledger leaves them ({name})")
    why, fix = f"the file could not be used ({name})", "check the disk, then ask again: an unfinished charge is kept"
    return Unavailable(what, why=why, fix=fix, value=str(path))
