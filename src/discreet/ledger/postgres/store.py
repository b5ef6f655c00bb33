"""The PostgreSQL store: one schema, one writer at a time, on disk before a transaction is over.

A writer first locks the one row of the latch, and then reads under READ COMMITTED, in which every statement sees what
was committed before it began: so the first statement after the lock sees all that the holder before has written, and
nobody else writes until we have committed. SERIALIZABLE would promise the same by letting writers run side by side and
failing all but one of those that touch one account, which here are most; the failed ones would have to be repeated
whole, and under load some would not come through within any patience. A row is locked rather than an advisory number,
since rows have privileges and numbers have none. Readers see one state (REPEATABLE READ) and wait for nobody.

A commit whose outcome is unknown, because the connection was lost at that moment, is not guessed at: the question is
refused, and when it is asked again its debit is found under its key, or made.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

from discreet.core.errors import Refusal
from discreet.ledger import forks
from discreet.ledger.integrity.seal import with_seals
from discreet.ledger.place import ServerPlace, psycopg
from discreet.ledger.postgres import catalogue
from discreet.ledger.postgres import schema as postgres_schema
from discreet.ledger.postgres.connection import connect
from discreet.ledger.postgres.errors import RETRIED, refusal
from discreet.ledger.postgres.transaction import PostgresTransaction
from discreet.ledger.refusals import NotAVault, Tampered, Unavailable
from discreet.ledger.statements import entry_statement
from discreet.ledger.store import Wanted

if TYPE_CHECKING:
    from psycopg import Connection

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"

# What libpq says of a connection inside a transaction: at work, waiting for more, waiting for its end.
_BEGUN = (1, 2, 3)


class PostgresStore:
    """One vault in one schema of a PostgreSQL database; see `discreet.ledger.store.Store`.

    The connection is shared by the threads of a process behind a lock, and never by two processes: it is closed
    before a fork and opened again, by parent and child, when next needed.
    """

    def __init__(self, place: ServerPlace, *, patience: float = 30.0) -> None:
        self.place = place
        self._patience = patience
        self._schema = postgres_schema.quoted(place.schema)
        # In statements that take values a sign of per cent stands for one.
        self._prefix = self._schema.replace("%", "%%") + "."
        self._lock = threading.RLock()
        self._connection: Connection[Any] | None = None
        self._durably = "on"
        self._closed = False
        forks.watch(self)

    @classmethod
    def create(cls, place: ServerPlace, *, patience: float = 30.0) -> Self:
        """Make a new, empty store in a schema of its own; one that is there already is refused."""
        store = cls(place, patience=patience)
        try:
            store._refuse_other()
            try:
                with store._connected() as connection, connection.transaction():
                    for statement in postgres_schema.statements(place.schema):
                        connection.execute(statement.encode())
            except Refusal:
                store._refuse_other()  # someone may have made it at the same moment
                raise
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def open(cls, place: ServerPlace, *, patience: float = 30.0) -> Self:
        """Open the store of a vault; what is no vault, or a newer one, is refused."""
        store = cls(place, patience=patience)
        try:
            store._check_format()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def exists(cls, place: ServerPlace) -> bool:
        """Whether the schema is there, be it a vault or not."""
        store = cls(place)
        try:
            return store._found()[0]
        finally:
            store.close()

    def again(self) -> Self:
        """Open the same vault with a connection of its own."""
        return type(self).open(self.place, patience=self._patience)

    @contextmanager
    def read(self, *wanted: Wanted) -> Iterator[PostgresTransaction]:
        """Begin a transaction that sees one state throughout and writes nothing."""
        with self._connected() as connection:
            transaction = PostgresTransaction(connection, self._prefix, _READ, self._anew)
            transaction.fetch(with_seals(wanted))
            yield transaction
            try:
                transaction.end("ROLLBACK")
            except psycopg().Error:  # all that was asked is known; the next one gets a new connection
                self._let_go()

    @contextmanager
    def write(self, *wanted: Wanted) -> Iterator[PostgresTransaction]:
        """Begin a transaction with no other writer beside it; an exception undoes it."""
        with self._connected():
            transaction = self._alone(with_seals(wanted))
            yield transaction
            if not transaction.end("COMMIT"):
                raise refusal(self.place, None)

    @contextmanager
    def at_hand(self) -> Iterator[bool]:
        """Say no: a server has to be asked."""
        yield False

    def check_place(self) -> None:
        """Refuse nothing: a server knows its tables by one name."""

    def check_schema(self) -> None:
        """Refuse a database whose tables and triggers are not exactly those that were made."""
        with self.read() as look:
            catalogue.check(look.ask, self.place.schema)

    def close(self) -> None:
        """Let go of the database; harmless when repeated."""
        self._closed = True
        self._let_go()

    def discard(self) -> None:
        """Remove a vault that was made just now and could not be finished."""
        with suppress(Refusal), self._connected() as connection:
            connection.execute(f"DROP SCHEMA {self._schema} CASCADE".encode())
        self.close()

    def before_fork(self) -> None:
        """Wait for this process's transactions and disconnect, so a child inherits nothing."""
        self._lock.acquire()
        self._let_go()

    def after_fork(self) -> None:
        """Let threads go on, in parent and child; each connects again when it needs to."""
        self._lock.release()

    def _let_go(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _current(self) -> Connection[Any]:
        """Return the connection, made again where there is none."""
        if self._closed:
            raise Unavailable(
                f"the vault {self.place}", why="it was closed", fix="open it again", value=str(self.place)
            )
        if self._connection is None:
            self._connection, self._durably = connect(self.place, self._patience)
        return self._connection

    @contextmanager
    def _connected(self) -> Iterator[Connection[Any]]:
        """Hold the connection, alone among the threads of this process; PostgreSQL's errors become refusals."""
        with self._lock:
            try:
                self._undo_left_open()
                yield self._current()
            except BaseException as error:
                self._abandon(error)
                if isinstance(error, psycopg().Error):
                    raise refusal(self.place, error.sqlstate) from None
                raise

    def _undo_left_open(self) -> None:
        """Give up a connection whose transaction someone began who was interrupted on the way in or out of it."""
        if self._connection is not None and self._connection.info.transaction_status in _BEGUN:
            self._let_go()

    def _alone(self, wanted: Sequence[Wanted]) -> PostgresTransaction:
        """Lock out other writers, then look: in one trip, but in statements of their own, as READ COMMITTED needs.

        Nothing has been written yet, so what stands in the way may be tried again while there is patience.
        """
        deadline = time.monotonic() + self._patience
        while True:
            transaction = PostgresTransaction(self._current(), self._prefix, _WRITE, self._anew)
            first = (
                f"SET LOCAL synchronous_commit = {self._durably}",
                f"SET LOCAL lock_timeout = {max(1, int((deadline - time.monotonic()) * 1000))}",
                f"SELECT format FROM {self._prefix}latch FOR UPDATE",  # noqa: S608
                entry_statement("head", "", self._prefix),
            )
            try:
                *_, found, last = transaction.fetch(wanted, *first)
            except psycopg().Error as error:
                if error.sqlstate not in RETRIED or time.monotonic() >= deadline:
                    raise
                self._abandon(error)
                continue
            if found != [(postgres_schema.VERSION,)]:
                raise Tampered(f"the vault {self.place}", why="the row that keeps writers apart is missing")
            transaction.found_head(last)
            return transaction

    def _anew(self) -> Connection[Any]:
        """Return another connection, in place of one that was lost while nobody used it."""
        self._let_go()
        return self._current()

    def _abandon(self, error: BaseException) -> None:
        """Undo the transaction that an error has ended; a connection that may be in disorder is given up."""
        connection = self._connection
        if connection is None:
            return
        if isinstance(error, Exception) and not isinstance(error, psycopg().Error):
            with suppress(psycopg().Error):
                if connection.info.transaction_status:  # idle is zero
                    connection.execute(b"ROLLBACK")
                return
        self._let_go()

    def _found(self) -> tuple[bool, bool]:
        """Whether the schema is there, and whether it has a latch."""
        question = """SELECT count(*) > 0, count(c.oid) > 0 FROM pg_catalog.pg_namespace AS n
            LEFT JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = 'latch' WHERE n.nspname = %s"""
        with self._connected() as connection:
            schema, latch = connection.execute(question, (self.place.schema,)).fetchall()[0]
        return bool(schema), bool(latch)

    def _refuse_other(self) -> None:
        if self._found()[0]:
            why = f"there is a schema {self.place.schema!r} already"
            fix = "open the vault that is there, or name another schema"
            raise NotAVault(f"a new vault at {self.place}", why=why, fix=fix, value=str(self.place))

    def _check_format(self) -> None:
        schema, latch = self._found()
        what, name = f"the vault {self.place}", self.place.schema
        if not latch:
            why = f"its schema {name!r} is no vault" if schema else f"the database has no schema {name!r}"
            fix = "give the URL of a vault, or make one with `discreet init`"
            raise NotAVault(what, why=why, fix=fix, value=str(self.place))
        with self.read() as look:
            found = look.ask(f"SELECT format FROM {self._prefix}latch")  # noqa: S608
        if found and found[0][0] in postgres_schema.STEPS:
            self._upgrade()
        elif found != [(postgres_schema.VERSION,)]:
            version = found[0][0] if found else "unknown"
            why = f"its format is {version}, and this release reads format {postgres_schema.VERSION}"
            fix = "open it with the release that wrote it, or a later one"
            raise NotAVault(what, why=why, fix=fix, value=str(self.place))

    def _upgrade(self) -> None:
        """Bring a vault of an older release to this one's format, in one transaction; no entry is changed."""
        latch = f"{self._schema}.latch"
        with self._connected() as connection, connection.transaction():
            connection.execute(f"SET LOCAL synchronous_commit = {self._durably}".encode())
            version = connection.execute(f"SELECT format FROM {latch} FOR UPDATE".encode()).fetchall()[0][0]  # noqa: S608
            while version in postgres_schema.STEPS:  # another machine may have been faster
                for each in postgres_schema.STEPS[version]:
                    connection.execute(each.format(self._schema).encode())
                version += 1
            connection.execute(f"UPDATE {latch} SET format = {version}".encode())  # noqa: S608
