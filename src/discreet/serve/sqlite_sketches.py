"""Sketches in one SQLite file: the default store of a collector."""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.core.errors import Refusal
from discreet.core.file import keep_database
from discreet.local.collection import Collection
from discreet.local.sketch import Sketch
from discreet.serve.sketches import (
    SECRET_BYTES,
    BatchOutcome,
    OtherCollection,
    Rejections,
    StoreUnavailable,
    empty,
    key_hash,
    packed,
    unpacked,
)

_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sketch (
    epoch INTEGER PRIMARY KEY, reports INTEGER NOT NULL, rejected INTEGER NOT NULL, counts BLOB NOT NULL) STRICT;
CREATE TABLE closed (epoch INTEGER PRIMARY KEY) STRICT;
CREATE TABLE seen (hash BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE rejected (reason TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
"""


@dataclass(slots=True)
class _Waiting:
    """A batch on its way into a transaction."""

    epoch: int
    key: bytes
    sketch: Sketch
    outcome: BatchOutcome | None = None
    failed: bool = False


class SqliteSketches:
    """A store in one file; see `discreet.serve.sketches.SketchStore`. Several processes may share the file."""

    def __init__(self, path: Path, collection: Collection, *, patience: float = 30.0) -> None:
        if not path.exists():
            fix = "run discreet collect init, or give the folder that it made"
            raise Refusal(f"store {path}", why="there is no such file", fix=fix, value=str(path))
        self._collection = collection
        self._lock = threading.RLock()
        self._queue: deque[_Waiting] = deque()
        self._rejections = Rejections()
        self._path = path
        with self._reading():
            self._connection = _connect(path, patience)
            about = dict(self._connection.execute("SELECT name, value FROM about").fetchall())
        if about.get("spec") != collection.hash:
            why = "it has the sketches of another collection, or of another revision of this one"
            fix = "use the folder that belongs to this collection"
            raise OtherCollection(f"store {path}", why=why, fix=fix, value=str(path))
        self._secret = about.get("secret", b"")

    @classmethod
    def create(cls, path: Path, collection: Collection) -> SqliteSketches:
        """Make a new, empty store that only its owner may read."""
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            fix = "use another folder, or continue with the collection in it"
            raise Refusal(f"store {path}", why="the file already exists", fix=fix, value=str(path)) from None
        connection = _connect(path, 30.0)
        connection.executescript(_TABLES)
        rows = [("spec", collection.hash), ("secret", secrets.token_bytes(SECRET_BYTES))]
        connection.executemany("INSERT INTO about VALUES (?, ?)", rows)
        connection.close()
        return cls(path, collection)

    def add(self, epoch: int, key: bytes, sketch: Sketch) -> BatchOutcome:
        """Count a batch, unless its key was seen before or the epoch is closed.

        Batches that arrive while one transaction is being written to disk are put into the next one together.
        """
        mine = _Waiting(epoch, key, sketch)
        self._queue.append(mine)
        with self._lock:
            if mine.outcome is None and not mine.failed:
                self._count_waiting()
        if mine.outcome is None:
            raise _unavailable("another batch of the same transaction")
        return mine.outcome

    def reject(self, reason: str, count: int = 1) -> None:
        """Count what was rejected; written along with the next batch, or within a second."""
        with self._lock:
            if self._rejections.add(reason, count):
                self._flush()

    def sketch(self, epoch: int) -> Sketch:
        """Return what an epoch has counted so far."""
        with self._lock, self._reading():
            return self._sketch(self._connection, epoch)

    def rejected(self) -> Mapping[str, int]:
        """Return how much was rejected for each reason."""
        with self._lock, self._reading():
            self._flush()
            return dict(self._connection.execute("SELECT reason, count FROM rejected ORDER BY reason").fetchall())

    def closed(self) -> frozenset[int]:
        """Return the epochs that take no more reports."""
        with self._lock, self._reading():
            return frozenset(epoch for (epoch,) in self._connection.execute("SELECT epoch FROM closed"))

    def close(self, epoch: int | None = None) -> None:
        """Take no more reports of an epoch, or of any; after the last, forget the hashes of all keys."""
        with self._transaction() as connection:
            epochs = range(self._collection.epochs) if epoch is None else (epoch,)
            connection.executemany("INSERT OR IGNORE INTO closed VALUES (?)", [(each,) for each in epochs])
            (count,) = connection.execute("SELECT count(*) FROM closed").fetchone()
            over = count >= self._collection.epochs
            if over:
                connection.execute("DELETE FROM seen")
                connection.execute("DELETE FROM about WHERE name = 'secret'")
        if over:  # and not before that is on disk: a closing that failed goes on to know repeated batches
            self._secret = b""
            self._overwrite()

    def disconnect(self) -> None:
        """Write what waits and close the file."""
        with self._lock:
            self._flush()
            self._connection.close()

    def _overwrite(self) -> None:
        """Overwrite what was deleted now: it stands in the log and in the file until the one is copied to the other."""
        try:
            with self._lock:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise _unavailable(type(error).__name__) from error

    def _count_waiting(self) -> None:
        """Count all batches that wait; if that fails, it has failed for each of them."""
        batches = [self._queue.popleft() for _ in range(len(self._queue))]
        try:
            with self._transaction() as connection:
                outcomes = self._counted(connection, batches)
                if BatchOutcome.ADDED in outcomes:  # else there is nothing to flush to disk for
                    self._write_rejected(connection)
        except BaseException:
            for batch in batches:
                batch.failed = True
            raise
        for batch, outcome in zip(batches, outcomes, strict=True):
            batch.outcome = outcome

    def _counted(self, connection: sqlite3.Connection, batches: Sequence[_Waiting]) -> list[BatchOutcome]:
        """Count all batches in one transaction: keys first, then one sum for each epoch."""
        closed = frozenset(epoch for (epoch,) in connection.execute("SELECT epoch FROM closed"))
        sums: dict[int, Sketch] = {}
        outcomes = []
        for batch in batches:
            if batch.epoch in closed:
                outcomes.append(BatchOutcome.CLOSED)
                continue
            new = connection.execute("INSERT OR IGNORE INTO seen VALUES (?)", (key_hash(self._secret, batch.key),))
            if new.rowcount == 0:
                outcomes.append(BatchOutcome.REPLAYED)
                continue
            before = sums[batch.epoch] if batch.epoch in sums else self._sketch(connection, batch.epoch)
            sums[batch.epoch] = before + batch.sketch
            outcomes.append(BatchOutcome.ADDED)
        rows = [(epoch, each.reports, each.rejected, packed(each)) for epoch, each in sums.items()]
        connection.executemany("INSERT OR REPLACE INTO sketch VALUES (?, ?, ?, ?)", rows)
        return outcomes

    def _sketch(self, connection: sqlite3.Connection, epoch: int) -> Sketch:
        protocol = self._collection.protocol
        row = connection.execute("SELECT counts, reports, rejected FROM sketch WHERE epoch = ?", (epoch,)).fetchone()
        if row is None:
            return empty(protocol.spec_hash, protocol.cells)
        if not isinstance(row[0], bytes) or len(row[0]) != 8 * protocol.cells:
            raise _damaged(self._path)
        return unpacked(protocol.spec_hash, *row)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Refuse a file that is no store, or no longer."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "no such" in str(error):  # a table that every store has
                raise _damaged(self._path) from error
            raise _unavailable(type(error).__name__) from error
        except sqlite3.DatabaseError as error:
            raise _damaged(self._path) from error

    def _flush(self) -> None:
        if self._rejections:
            with self._transaction() as connection:
                self._write_rejected(connection)

    def _write_rejected(self, connection: sqlite3.Connection) -> None:
        statement = (
            "INSERT INTO rejected VALUES (?, ?) ON CONFLICT (reason) DO UPDATE SET count = count + excluded.count"
        )
        connection.executemany(statement, self._rejections.rows())

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Run one transaction, on disk when it is over; what fails is undone."""
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
                self._connection.execute("COMMIT")
                self._rejections.over(written=True)
            except sqlite3.Error as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise _unavailable(type(error).__name__) from error
            finally:
                self._rejections.over(written=False)


def _unavailable(value: str) -> StoreUnavailable:
    why, fix = "the file cannot be written now", "check the disk space, and try again"
    return StoreUnavailable("the collector's store", why=why, fix=fix, value=value)


def _damaged(path: Path) -> Refusal:
    why, fix = (
        "it is damaged, or no store of a collector",
        "put a copy of it back",
    )
    return Refusal(f"store {path}", why=why, fix=fix, value=str(path))


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    keep_database(path)
    connection.execute("PRAGMA synchronous = FULL")  # a commit is on disk before it is acknowledged
    connection.execute("PRAGMA secure_delete = ON")  # forgotten keys are overwritten
    return connection
