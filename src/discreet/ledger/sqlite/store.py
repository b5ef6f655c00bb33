"""The SQLite store: one file, one writer at a time, on disk before a transaction is over."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Self

from discreet.core.file import flush_folder, keep_database
from discreet.ledger import forks
from discreet.ledger.entry import Entry, Head, built
from discreet.ledger.place import FilePlace
from discreet.ledger.refusals import NotAVault, Tampered, Unavailable
from discreet.ledger.sqlite import files, schema
from discreet.ledger.sqlite.errors import refusal
from discreet.ledger.sqlite.files import OpenFiles
from discreet.ledger.statements import columns, entry_statement, statement
from discreet.ledger.store import Limit, R, Row, Seal, Wanted

# STRICT tables, without which a number could be stored where a text belongs.
_LEAST_SQLITE = (3, 37, 0)


class SqliteTransaction:
    """A transaction of the SQLite store; see `discreet.ledger.store.Transaction`."""

    def __init__(self, execute: Callable[..., sqlite3.Cursor]) -> None:
        self._execute = execute
        self._head: Head | None = None

    def head(self) -> Head:
        """Return the end of the chain, this transaction's entries included."""
        if self._head is None:
            found = self._execute(entry_statement("head", "?")).fetchone()
            self._head = built(Head, found) if found else Head()
        return self._head

    def append(self, kind: str, body: str) -> Entry:
        """Seal a new entry to the head and store it."""
        head = self.head()
        entry = Entry.after(head.sequence, head.hash, kind, body)
        values = (entry.sequence, entry.kind, entry.body, entry.previous, entry.hash)
        self._execute(entry_statement("append", "?"), values)
        self._head = Head(entry.sequence, entry.hash)
        return entry

    def date(self, at: str) -> str:
        """Return the moment as given: a bare store knows no time."""
        return at

    def entry(self, sequence: int) -> Entry | None:
        """Return the entry of that number."""
        found = self._execute(entry_statement("entry", "?"), (sequence,)).fetchone()
        return built(Entry, found) if found else None

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        """Return entries in order, those with greater numbers than `after`."""
        for found in self._execute(entry_statement("entries", "?"), (after, -1 if limit is None else limit)):
            yield built(Entry, found)

    def get(self, kind: type[R], *key: str | int) -> R | None:
        """Return the row of that key."""
        try:
            found = self._execute(statement("get", kind, "?"), key).fetchone()
        except UnicodeEncodeError:  # no valid text, so nothing can have been stored under it
            return None
        return built(kind, found) if found else None

    def put(self, row: Row) -> None:
        """Store a row in place of the one with the same key, if there is one."""
        kind = type(row)
        self._execute(statement("put", kind, "?"), tuple(getattr(row, name) for name in columns(kind)))

    def delete(self, row: Row) -> None:
        """Remove the row of that key."""
        kind = type(row)
        self._execute(statement("delete", kind, "?"), tuple(getattr(row, name) for name in kind.KEY))

    def all(self, kind: type[R]) -> Iterator[R]:
        """Return all rows of a kind, in the order of their keys."""
        for found in self._execute(statement("all", kind, "?")):
            yield built(kind, found)

    def limits(self, account: str, analyst: str) -> list[Limit]:
        """Return the limits of an account and those of an analyst on it, the account's for life first."""
        return [built(Limit, found) for found in self._execute(statement("limits", Limit, "?"), (account, analyst))]

    def seals(self, kind: str) -> Iterator[Seal]:
        """Return all seals of one kind of row."""
        for found in self._execute(statement("seals", Seal, "?"), (kind,)):
            yield built(Seal, found)

    def expect(self, wanted: Sequence[Wanted]) -> None:
        """Fetch nothing: a file is at hand."""


class SqliteStore:
    """One vault in one SQLite file; see `discreet.ledger.store.Store`.

    The connection is shared by the threads of a process behind a lock, and never by two processes: it is closed
    before a fork and opened again, by parent and child, when next needed.
    """

    def __init__(self, path: Path, *, patience: float = 30.0) -> None:
        self.path = path
        self.place = FilePlace(path)
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._files: OpenFiles | None = None
        self._closed = False
        forks.watch(self)

    @classmethod
    def create(cls, path: Path, *, patience: float = 30.0) -> Self:
        """Make a new, empty store that only its owner may read; a file that is there already is refused."""
        _refuse_old_sqlite()
        try:
            # Opened with its mode, so there is no moment at which others could read it.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            fix = "open the vault that is there, or choose another path"
            raise NotAVault(f"a new vault at {path}", why="the file already exists", fix=fix, value=str(path)) from None
        except OSError as error:
            why = f"the file cannot be made ({error.strerror})"
            fix = "choose a folder that exists and that you may write"
            raise NotAVault(f"a new vault at {path}", why=why, fix=fix, value=str(path)) from None
        try:
            _make_vault(path, patience)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return cls(path, patience=patience)

    @classmethod
    def open(cls, path: Path, *, patience: float = 30.0) -> Self:
        """Open the store of a vault; what is no vault, or a newer one, is refused."""
        _refuse_old_sqlite()
        if not path.is_file():
            fix = "give the path of a vault, or make one with `discreet init`"
            raise NotAVault(f"the vault {path}", why="there is no such file", fix=fix, value=str(path))
        store = cls(path, patience=patience)
        try:
            with store._connected() as connection:
                _check_statements(connection)
        except BaseException:
            store.close()
            raise
        return store

    def again(self) -> Self:
        """Open the same vault with a connection of its own."""
        return type(self).open(self.path)

    def read(self, *_wanted: Wanted) -> AbstractContextManager[SqliteTransaction]:
        """Begin a transaction that sees one state throughout and writes nothing."""
        return self._transaction("BEGIN", "ROLLBACK")

    def write(self, *_wanted: Wanted) -> AbstractContextManager[SqliteTransaction]:
        """Begin a transaction with no other writer beside it; an exception undoes it."""
        return self._transaction("BEGIN IMMEDIATE", "COMMIT")

    @contextmanager
    def at_hand(self) -> Iterator[bool]:
        """Say whether the file is open, and no other thread reads or writes it; none can inside the block."""
        held = self._lock.acquire(blocking=False)
        try:
            yield held and self._connection is not None
        finally:
            if held:
                self._lock.release()

    def check_place(self) -> None:
        """Refuse to go on where the path no longer names the files that are open, or another name does too."""
        if (opened := self._files) is not None:
            opened.check()

    def check_schema(self) -> None:
        """Refuse a database whose tables and triggers are not exactly those that were made."""
        with self._connected() as connection:
            _check_statements(connection)
            damage = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if damage != "ok":
                raise Tampered("the file of the vault", why="its pages contradict each other")

    def close(self) -> None:
        """Let go of the database; harmless when repeated."""
        self._closed = True
        self._let_go()

    def discard(self) -> None:
        """Remove a vault that was made just now and could not be finished."""
        self.close()
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

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

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection, alone among the threads of this process; SQLite's errors become refusals."""
        with self._lock:
            try:
                if self._closed:
                    raise Unavailable(
                        f"the vault {self.path}", why="it was closed", fix="open it again", value=str(self.path)
                    )
                if self._connection is not None and self._connection.in_transaction:
                    # Whoever began it was interrupted on the way in or out. It is undone with its connection, which
                    # nobody then ends a second time.
                    self._let_go()
                if self._connection is None:
                    self._connection, self._files = _opened(self.path, self._patience)
                yield self._connection
            except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter from an error's own words
                raise refusal(self.path, error) from error

    @contextmanager
    def _transaction(self, begin: str, end: str) -> Iterator[SqliteTransaction]:
        with self._connected() as connection:
            try:  # the beginning, too, after which an interrupt may come
                connection.execute(begin)
                yield SqliteTransaction(connection.execute)
                connection.execute(end)
            finally:
                with suppress(sqlite3.Error):  # also of a connection that was given up meanwhile
                    if connection.in_transaction:  # an exception, possibly that of a commit that failed
                        connection.execute("ROLLBACK")


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    # mode=rw: a missing file is an error, not a new and empty vault.
    place = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(place, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)
    # fullfsync: on macOS a plain flush leaves a commit in the disk's cache, which a power cut empties.
    # secure_delete: what was removed, such as the sealed key of a settled debit, is overwritten with zeros.
    flush = ("synchronous = FULL", "fullfsync = ON")
    for pragma in (*flush, "foreign_keys = ON", "trusted_schema = OFF", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _opened(path: Path, patience: float) -> tuple[sqlite3.Connection, OpenFiles]:
    """Connect, and say to which files; refuse what is no vault, or a vault of a later release, or one of two names."""
    files.check_names(path)
    connection = _connect(path, patience)
    try:
        application, version = (
            connection.execute(f"PRAGMA {mark}").fetchone()[0] for mark in ("application_id", "user_version")
        )
        if application != schema.APPLICATION_ID:
            why = "the file is not a vault, or its creation was interrupted"
            fix = "give the path of a vault, or make one with `discreet init`"
            raise NotAVault(f"the vault {path}", why=why, fix=fix, value=str(path))
        if version in schema.STEPS:
            _upgrade(connection)
        elif version != schema.VERSION:
            why = f"its format is {version}, and this release reads format {schema.VERSION}"
            fix = "open it with the release that wrote it, or a later one"
            raise NotAVault(f"the vault {path}", why=why, fix=fix, value=str(path))
        keep_database(path)
        return connection, OpenFiles.of(path)  # its log is open by now: a page was read
    except BaseException:
        connection.close()
        raise


def _upgrade(connection: sqlite3.Connection) -> None:
    """Bring a vault of an older release to this one's format, in one transaction; no entry is changed."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]  # another process may have been faster
        while version in schema.STEPS:
            for each in schema.STEPS[version]:
                connection.execute(each)
            version += 1
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _check_statements(connection: sqlite3.Connection) -> None:
    found = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    if {text for (text,) in found} != set(schema.STATEMENTS):
        raise Tampered("the schema of the vault", why="a table or a trigger was changed, added or removed")


@contextmanager
def scratch() -> Iterator[SqliteTransaction]:
    """Make an empty store in memory, for rows that are derived again only to be compared."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        _make(connection)
        connection.execute("BEGIN")  # one transaction for all: nobody else looks
        yield SqliteTransaction(connection.execute)
    finally:
        connection.close()


def _make_vault(path: Path, patience: float) -> None:
    """Turn an empty file into a vault without entries, in one transaction, and let go of it."""
    try:
        connection = _connect(path, patience)
        try:
            if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
                why, fix = "its disk cannot hold a write-ahead log", "use a local disk, not a network folder"
                raise Unavailable(f"a new vault at {path}", why=why, fix=fix, value=str(path))
            marks = (f"PRAGMA application_id = {schema.APPLICATION_ID}", f"PRAGMA user_version = {schema.VERSION}")
            _make(connection, *marks)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise refusal(path, error) from error
    flush_folder(path.parent)


def _make(connection: sqlite3.Connection, *more: str) -> None:
    for each in ("BEGIN IMMEDIATE", *schema.STATEMENTS, *more, "COMMIT"):
        connection.execute(each)


def _refuse_old_sqlite() -> None:
    if sqlite3.sqlite_version_info < _LEAST_SQLITE:
        least = ".".join(map(str, _LEAST_SQLITE))
        why = f"this Python has SQLite {sqlite3.sqlite_version}, which lacks strict tables"
        fix = f"use a Python with SQLite {least} or later"
        raise Unavailable("the ledger", why=why, fix=fix, value=sqlite3.sqlite_version)
