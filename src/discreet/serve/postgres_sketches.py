"""Sketches in PostgreSQL: one store for several collectors."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from discreet.core.errors import MissingExtra
from discreet.local.collection import Collection
from discreet.local.sketch import Sketch
from discreet.serve.sketches import (
    SECRET_BYTES,
    BatchOutcome,
    Rejections,
    StoreUnavailable,
    empty,
    key_hash,
    packed,
    unpacked,
)

if TYPE_CHECKING:
    from psycopg import Connection

_TABLES = """
CREATE TABLE IF NOT EXISTS discreet_collection (spec bytea PRIMARY KEY, secret bytea);
CREATE TABLE IF NOT EXISTS discreet_sketch (
    spec bytea, epoch integer, reports bigint NOT NULL, rejected bigint NOT NULL, counts bytea NOT NULL,
    PRIMARY KEY (spec, epoch));
CREATE TABLE IF NOT EXISTS discreet_closed (spec bytea, epoch integer, PRIMARY KEY (spec, epoch));
CREATE TABLE IF NOT EXISTS discreet_seen (spec bytea, hash bytea, PRIMARY KEY (spec, hash));
CREATE TABLE IF NOT EXISTS discreet_rejected (
    spec bytea, reason text, count bigint NOT NULL, PRIMARY KEY (spec, reason));
"""
_LOCK = 0x64697363  # of the tables' making, which PostgreSQL does not do twice at a time


class PostgresSketches:
    """A store in a database; see `SketchStore`. Collections share tables, apart by their hash."""

    def __init__(self, dsn: str, collection: Collection) -> None:
        self._dsn, self._collection = dsn, collection
        self._spec = collection.hash
        self._lock = threading.RLock()
        self._rejections = Rejections()
        self._open: Connection[Any] | None = None
        with self._transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            connection.execute(_TABLES)
            row = (self._spec, secrets.token_bytes(SECRET_BYTES))
            connection.execute("INSERT INTO discreet_collection VALUES (%s, %s) ON CONFLICT DO NOTHING", row)

    def add(self, epoch: int, key: bytes, sketch: Sketch) -> BatchOutcome:
        """Count a batch, unless its key was seen before or the epoch is closed."""
        with self._transaction() as connection:
            # A share lock on the collection's row, so closing waits for batches and batches for closing.
            query = "SELECT secret FROM discreet_collection WHERE spec = %s FOR SHARE"
            secret = _one(connection.execute(query, (self._spec,)))
            if secret is None or self._is_closed(connection, epoch):
                return BatchOutcome.CLOSED
            row = (self._spec, key_hash(bytes(secret), key))
            new = connection.execute("INSERT INTO discreet_seen VALUES (%s, %s) ON CONFLICT DO NOTHING", row)
            if new.rowcount == 0:
                return BatchOutcome.REPLAYED
            total = self._sketch(connection, epoch, lock=True) + sketch
            values = (total.reports, total.rejected, packed(total), self._spec, epoch)
            connection.execute(
                "UPDATE discreet_sketch SET reports = %s, rejected = %s, counts = %s WHERE spec = %s AND epoch = %s",
                values,
            )
            self._write_rejected(connection)
            return BatchOutcome.ADDED

    def reject(self, reason: str, count: int = 1) -> None:
        """Count what was rejected; written along with the next batch, or within a second."""
        with self._lock:
            if self._rejections.add(reason, count):
                self._flush()

    def sketch(self, epoch: int) -> Sketch:
        """Return what an epoch has counted so far."""
        with self._transaction() as connection:
            return self._sketch(connection, epoch, lock=False)

    def rejected(self) -> Mapping[str, int]:
        """Return how much was rejected for each reason."""
        with self._lock:
            self._flush()
        with self._transaction() as connection:
            query = "SELECT reason, count FROM discreet_rejected WHERE spec = %s ORDER BY reason"
            return dict(connection.execute(query, (self._spec,)).fetchall())

    def closed(self) -> frozenset[int]:
        """Return the epochs that take no more reports."""
        with self._transaction() as connection:
            rows = connection.execute("SELECT epoch FROM discreet_closed WHERE spec = %s", (self._spec,)).fetchall()
            return frozenset(epoch for (epoch,) in rows)

    def close(self, epoch: int | None = None) -> None:
        """Take no more reports of an epoch, or of any; after the last, forget the hashes of all keys."""
        with self._transaction() as connection:
            connection.execute("SELECT 1 FROM discreet_collection WHERE spec = %s FOR UPDATE", (self._spec,))
            epochs = range(self._collection.epochs) if epoch is None else (epoch,)
            query = "INSERT INTO discreet_closed SELECT %s, unnest(%s::integer[]) ON CONFLICT DO NOTHING"
            connection.execute(query, (self._spec, list(epochs)))
            count = _one(connection.execute("SELECT count(*) FROM discreet_closed WHERE spec = %s", (self._spec,)))
            if count >= self._collection.epochs:
                connection.execute("DELETE FROM discreet_seen WHERE spec = %s", (self._spec,))
                connection.execute("UPDATE discreet_collection SET secret = NULL WHERE spec = %s", (self._spec,))

    def disconnect(self) -> None:
        """Write what waits and end the connection."""
        with self._lock:
            self._flush()
            if self._open is not None:
                self._open.close()
                self._open = None

    def _sketch(self, connection: Connection[Any], epoch: int, *, lock: bool) -> Sketch:
        protocol = self._collection.protocol
        nothing = empty(protocol.spec_hash, protocol.cells)
        if lock:
            row = (self._spec, epoch, 0, 0, packed(nothing))
            connection.execute("INSERT INTO discreet_sketch VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING", row)
        query = "SELECT counts, reports, rejected FROM discreet_sketch WHERE spec = %s AND epoch = %s"
        found = connection.execute(query + (" FOR UPDATE" if lock else ""), (self._spec, epoch)).fetchone()
        return unpacked(protocol.spec_hash, bytes(found[0]), found[1], found[2]) if found else nothing

    def _is_closed(self, connection: Connection[Any], epoch: int) -> bool:
        query = "SELECT 1 FROM discreet_closed WHERE spec = %s AND epoch = %s"
        return connection.execute(query, (self._spec, epoch)).fetchone() is not None

    def _flush(self) -> None:
        if self._rejections:
            with self._transaction() as connection:
                self._write_rejected(connection)

    def _write_rejected(self, connection: Connection[Any]) -> None:
        statement = (
            "INSERT INTO discreet_rejected AS old VALUES (%s, %s, %s)"
            " ON CONFLICT (spec, reason) DO UPDATE SET count = old.count + excluded.count"
        )
        for reason, count in self._rejections.rows():
            connection.execute(statement, (self._spec, reason, count))

    @contextmanager
    def _transaction(self) -> Iterator[Connection[Any]]:
        """Run one transaction; a broken connection is opened again the next time."""
        psycopg = _driver()
        with self._lock:
            try:
                if self._open is None or self._open.closed:
                    self._open = psycopg.connect(self._dsn)
                with self._open.transaction():
                    yield self._open
                self._rejections.over(written=True)
            except psycopg.Error as error:
                if self._open is not None:
                    self._open.close()
                    self._open = None
                why, fix = "the database does not respond correctly", "check that it runs, and try again"
                raise StoreUnavailable("the collector's store", why=why, fix=fix, value=type(error).__name__) from error
            finally:
                self._rejections.over(written=False)


def _one(cursor: Any) -> Any:  # noqa: ANN401  (a column of any type)
    row = cursor.fetchone()
    return row[0] if row else None


def _driver() -> Any:  # noqa: ANN401  (a module)
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtra("a store in PostgreSQL", "postgres", "psycopg") from error
    return psycopg
