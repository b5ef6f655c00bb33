"""Tasks of the ledger for SQLite alone: two transactions, as durable as ours, that write rows of the same sizes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

PLACE = Path(__file__).resolve().parents[2] / ".bench" / "ledger"

# About what a charge, a settlement and an answer hold.
CHARGE, SETTLEMENT, ANSWER = "c" * 850, "s" * 380, "a" * 490


def written(rows: int) -> Callable[[], object]:
    """One transaction that adds a row under a new key, and one that adds another and its answer."""
    folder = _folder()
    connection = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    for line in (
        "PRAGMA journal_mode = WAL",
        "CREATE TABLE entries (sequence INTEGER PRIMARY KEY, body TEXT NOT NULL)",
        "CREATE TABLE debits (key TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE answers (sequence INTEGER PRIMARY KEY, answer TEXT NOT NULL)",
        "PRAGMA synchronous = OFF",
    ):
        connection.execute(line)
    execute, numbers = connection.execute, count(1, 2)

    def call() -> None:
        number = next(numbers)
        execute("BEGIN IMMEDIATE")
        execute("INSERT INTO entries VALUES (?, ?)", (number, CHARGE))
        execute("INSERT INTO debits VALUES (?, ?)", (os.urandom(32).hex(), number))
        execute("COMMIT")
        execute("BEGIN IMMEDIATE")
        execute("INSERT INTO entries VALUES (?, ?)", (number + 1, SETTLEMENT))
        execute("INSERT INTO answers VALUES (?, ?)", (number, ANSWER))
        execute("COMMIT")

    for _ in range(rows // 2):
        call()
    execute("PRAGMA synchronous = FULL")
    execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return call


def _folder() -> Path:
    """Make a folder of this process; those of processes that have ended are removed, as workers end without a word."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for other in PLACE.iterdir():
        with suppress(ValueError):
            process = int(other.name.partition("-")[0])
            if process != os.getpid() and not Path(f"/proc/{process}").exists():
                shutil.rmtree(other, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=PLACE))
