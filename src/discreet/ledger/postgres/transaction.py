"""Transactions of a vault in PostgreSQL: what can wait crosses the network together with what cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from discreet.ledger.entry import Entry, Head, built
from discreet.ledger.place import psycopg
from discreet.ledger.postgres.errors import is_lost
from discreet.ledger.statements import columns, entry_statement, statement
from discreet.ledger.store import Limit, Private, R, Row, Seal, Secret, Wanted

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

Anew = Callable[[], "Connection[Any]"]

_MARK = "%s"
# Long tables are read in pages, so they never lie in memory whole.
_PAGE = 1000


class PostgresTransaction:
    """A transaction of the PostgreSQL store; see `discreet.ledger.store.Transaction`.

    Statements that return nothing, the first of which begins it, wait until something is asked or the transaction
    ends, and then go out in one text. What it has seen it does not ask for again: a writer is alone, and a reader sees
    one state. `again` makes another connection, should the first be found lost before anything has happened in it.
    """

    def __init__(self, connection: Connection[Any], prefix: str, begin: str, again: Anew) -> None:
        self._connection = connection
        self._prefix = prefix
        self._head: Head | None = None
        self._seen: dict[Wanted, Row | None] = {}
        self._limits: dict[Wanted, list[Limit]] = {}
        self._waiting: list[tuple[str, tuple[object, ...]]] = [(begin, ())]
        self._anew: Anew | None = again

    def fetch(self, wanted: Sequence[Wanted], *first: str) -> list[list[tuple[Any, ...]]]:
        """Ask for rows that will be needed, all at once, after statements whose results are returned."""
        asked = [(self._statement("limits" if _is_list(each) else "get", each[0]), each[1:]) for each in wanted]
        results = self._results([*((each, ()) for each in first), *asked])
        for each, found in zip(wanted, results[len(first) :], strict=True):
            rows = [built(each[0], row) for row in found]
            if _is_list(each):
                self._limits[each] = rows
            else:
                self._seen[each] = rows[0] if rows else None
        return results[: len(first)]

    def head(self) -> Head:
        """Return the end of the chain, this transaction's entries included."""
        if self._head is None:
            self.found_head(self.ask(entry_statement("head", _MARK, self._prefix)))
        assert self._head is not None
        return self._head

    def found_head(self, rows: list[tuple[Any, ...]]) -> None:
        """Take what was asked about the head elsewhere."""
        self._head = built(Head, rows[0]) if rows else Head()

    def append(self, kind: str, body: str) -> Entry:
        """Seal a new entry to the head and store it."""
        head = self.head()
        entry = Entry.after(head.sequence, head.hash, kind, body)
        values = (entry.sequence, entry.kind, entry.body, entry.previous, entry.hash)
        self._tell(entry_statement("append", _MARK, self._prefix), values)
        self._head = Head(entry.sequence, entry.hash)
        return entry

    def date(self, at: str) -> str:
        """Return the moment as given: a bare store knows no time."""
        return at

    def entry(self, sequence: int) -> Entry | None:
        """Return the entry of that number."""
        found = self.ask(entry_statement("entry", _MARK, self._prefix), (sequence,))
        return built(Entry, found[0]) if found else None

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        """Return entries in order, those with greater numbers than `after`."""
        while limit is None or limit > 0:
            size = _PAGE if limit is None else min(_PAGE, limit)
            page = self.ask(entry_statement("entries", _MARK, self._prefix), (after, size))
            yield from (built(Entry, found) for found in page)
            if len(page) < size:
                return
            after, limit = page[-1][0], None if limit is None else limit - size

    def get(self, kind: type[R], *key: str | int) -> R | None:
        """Return the row of that key."""
        if (kind, *key) not in self._seen:
            try:
                self.fetch([(kind, *key)])
            except UnicodeEncodeError:  # no valid text, so nothing can have been stored under it
                return None
        found: R | None = self._seen[kind, *key]  # type: ignore[assignment]  # stored under its own kind
        return found

    def put(self, row: Row) -> None:
        """Store a row in place of the one with the same key, if there is one."""
        kind = type(row)
        values = tuple(getattr(row, name) for name in columns(kind))
        if kind in (Secret, Private):
            self._copy(row, values)
        else:
            self._tell(self._statement("put", kind), values)
        self._seen[kind, *_key(row)] = row
        self._limits.clear()

    def delete(self, row: Row) -> None:
        """Remove the row of that key."""
        self._tell(self._statement("delete", type(row)), _key(row))
        self._seen[type(row), *_key(row)] = None
        self._limits.clear()

    def all(self, kind: type[R]) -> Iterator[R]:
        """Return all rows of a kind, in the order of their keys."""
        page = self.ask(self._statement("first", kind), (_PAGE,))
        while page:
            rows = [built(kind, found) for found in page]
            yield from rows
            last = _key(rows[-1])
            page = self.ask(self._statement("next", kind), (*last, _PAGE)) if len(rows) == _PAGE else []

    def limits(self, account: str, analyst: str) -> list[Limit]:
        """Return the limits of an account and those of an analyst on it, the account's for life first."""
        wanted = (Limit, account, analyst)
        if wanted not in self._limits:
            self.fetch([wanted])
        return self._limits[wanted]

    def seals(self, kind: str) -> Iterator[Seal]:
        """Return all seals of one kind of row."""
        yield from (built(Seal, found) for found in self.ask(self._statement("seals", Seal), (kind,)))

    def expect(self, wanted: Sequence[Wanted]) -> None:
        """Fetch rows that will be asked for, those that were not seen yet, in one trip."""
        missing = [each for each in wanted if each not in self._seen and each not in self._limits]
        if missing:
            self.fetch(missing)

    def ask(self, sql: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a question of our own."""
        return self._results([(sql, values)])[0]

    def end(self, word: str) -> bool:
        """Send what waits and the word that ends the transaction; return whether the server says that word back.

        A transaction that has failed can be committed without an error, and is then rolled back.
        """
        if self._anew is not None and word == "ROLLBACK":
            return True  # it never began
        return self._sent([(word, ())]).statusmessage == word

    def _statement(self, name: str, kind: type[Row]) -> str:
        return statement(name, kind, _MARK, self._prefix)

    def _tell(self, sql: str, values: tuple[object, ...]) -> None:
        self._waiting.append((sql, values))

    def _copy(self, row: Row, values: tuple[object, ...]) -> None:
        """Store a row by COPY, whose data reach no log of the server, as the text of a statement may."""
        self._sent([(self._statement("delete", type(row)), _key(row))])
        sql = self._statement("copy", type(row)).replace("%%", "%")  # it takes no values
        with self._connection.cursor() as cursor, cursor.copy(sql) as copy:
            copy.write_row(tuple(map(_written, values)))

    def _results(self, asked: Sequence[tuple[str, tuple[object, ...]]]) -> list[list[tuple[Any, ...]]]:
        """Send what waits, and these; return the rows of each of these."""
        cursor, found = self._sent(asked), []
        while True:
            has_rows = cursor.rownumber is not None
            found.append([tuple(map(_read, row)) for row in cursor.fetchall()] if has_rows else [])
            if not cursor.nextset():
                return found

    def _sent(self, asked: Sequence[tuple[str, tuple[object, ...]]]) -> Cursor[Any]:
        """Send what waits, and these, as one text; return a cursor on the first result of these."""
        sent = [*self._waiting, *asked]
        text = "; ".join(sql for sql, _ in sent)
        values = [_written(value) for _, given in sent for value in given]
        try:
            cursor = self._connection.execute(text, values)
        except psycopg().Error as error:
            if self._anew is None or not is_lost(error.sqlstate):
                raise
            self._connection = self._anew()
            cursor = self._connection.execute(text, values)
        self._waiting, self._anew = [], None
        for _ in range(len(sent) - len(asked)):
            cursor.nextset()
        return cursor


def _is_list(wanted: Wanted) -> bool:
    return wanted[0] is Limit and len(wanted) == 3  # short of the period


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in type(row).KEY)


# PostgreSQL's texts hold every character but U+0000. So that and the next are written as two, in the same order.
def _written(value: object) -> object:
    if type(value) is str and ("\0" in value or "\1" in value):
        return value.replace("\1", "\1\2").replace("\0", "\1\1")
    return value


def _read(value: object) -> object:
    if type(value) is str and "\1" in value:
        return value.replace("\1\1", "\0").replace("\1\2", "\1")
    return value
