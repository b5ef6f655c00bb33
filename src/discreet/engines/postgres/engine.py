"""PostgreSQL as an engine: statements run inside the database, over a connection of their own."""

from __future__ import annotations

import re
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from discreet.core.errors import BadParameter, MissingExtra, Refusal
from discreet.engines.engine import BATCH_ROWS, NEVER, ORDER_TABLE, Datum, Deadline, EngineFailed, Made, multipliers

if TYPE_CHECKING:
    import psycopg

# An hour: longer than any question that somebody waits for, and short enough that a lost one ends.
TIMEOUT_SECONDS = 3600
MEMORY_MB = 256
# A connection that nobody used for so long might have been cut by what lies between; it is tried first.
_IDLE_SECONDS = 5.0
_CONNECT_SECONDS = 15
_PLACES = re.compile(r'"~[ab](\d+)"')
_LEAST_MB = 1
_LATER_MS, _LONGEST_MS = 10_000, 2**31 - 1

# What statements mean must not depend on the role, on the database or on what anybody made in it: names that are not
# qualified are the server's own, and our temporary tables, which are looked for last.
_SETTINGS = {
    "search_path": "pg_catalog, pg_temp",
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "bytea_output": "hex",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "idle_in_transaction_session_timeout": "0",
    "client_min_messages": "error",
    # It takes longer to compile our statements than to run them.
    "jit": "off",
    # What a cursor reads is read to its end.
    "cursor_tuple_fraction": "1",
}


class PostgresEngine:
    """A connection to a database; a context manager, at whose end it and its temporary tables are gone.

    The role needs CONNECT and TEMP on the database, USAGE on the schema and SELECT on the table, and nothing else.
    `memory` is what one step of a plan may use, in megabytes, before the server spills to its own disk; `timeout` is
    the longest a statement may run, in seconds.

    The numbers that decide which of a person's rows are kept reach the server as the data of a COPY into a temporary
    table: the server logs statements and, where it is told to, parameters, but not what a COPY carries.

    Guarantee: what the server says of a failure is never shown: it might quote a record.
    """

    name = "postgres"

    def __init__(self, url: str, secret: bytes, *, memory: int = MEMORY_MB, timeout: int = TIMEOUT_SECONDS) -> None:
        for name, value, least in (("memory", memory, _LEAST_MB), ("timeout", timeout, 1)):
            if value < least:
                raise BadParameter(name, value, why="nothing can be computed with so little", fix="leave it out")
        self._url = url
        self._secret = secret
        self._settings = {**_SETTINGS, "work_mem": f"{memory}MB", "statement_timeout": f"{timeout}s"}
        self._connection: psycopg.Connection[Any] | None = None
        self._close: Callable[[], object] = lambda: None
        self._ordered = 0
        self._busy = 0
        self._used = 0.0
        self._names = count()
        self._deadline = NEVER

    @property
    def version(self) -> str:
        """The version of the server, as a number."""
        return str(self._connection.info.server_version) if self._connection is not None else ""

    def __enter__(self) -> Self:
        driver = import_psycopg()
        try:
            self._connect()
        except (driver.Error, OSError):
            raise EngineFailed from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self._connection, self._ordered, self._busy = None, 0, 0

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Datum, ...]]:
        """Return the rows of a statement: whole numbers as Python's, never through floats.

        Parameters stand in it as $1, $2, ...; none of our own statements has any, since a server may log them.
        """
        driver = import_psycopg()
        self._deadline.check()
        try:
            connection = self._ready()
            self._make_order(connection, sql)
            with driver.RawCursor(connection) as cursor:
                cursor.execute(sql.encode(), list(parameters) or None)
                found: list[tuple[Datum, ...]] = cursor.fetchall() if cursor.description else []
            self._used = time.monotonic()
        except (driver.Error, OSError, MemoryError, ValueError):
            raise self._deadline.failure from None
        return found

    def batches(self, sql: str, parameters: Sequence[object] = ()) -> Iterator[list[tuple[Datum, ...]]]:
        """Hand out the rows of a statement, a part at a time, from a cursor of the server."""
        name = f'"~rows{next(self._names)}"'
        with ExitStack() as stack:
            if self._is_alone():
                stack.enter_context(self.question())  # a cursor lives within a transaction
            self.run(f"DECLARE {name} NO SCROLL CURSOR FOR {sql}", parameters)
            try:
                while found := self.rows(f"FETCH {BATCH_ROWS} FROM {name}"):
                    yield found
            finally:
                with suppress(Refusal):  # a transaction that failed, or has ended, has closed it already
                    self.run(f"CLOSE {name}")

    def run(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement for what it does."""
        self.rows(sql, parameters)

    def _is_alone(self) -> bool:
        """Say whether a statement would be a transaction of its own."""
        return bool(self._ready().info.transaction_status == import_psycopg().pq.TransactionStatus.IDLE)

    @contextmanager
    def question(self, seconds: float | None = None) -> Iterator[None]:
        """Have all statements inside a `with` block see one state of the tables: one REPEATABLE READ transaction.

        After so many seconds the server is told to cancel what runs.
        """
        self._used = -_IDLE_SECONDS  # a connection that was cut since the last question is replaced now or never
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        if seconds is not None:
            # The server's own, a little later, for where nobody is left to cancel.
            later = min(int(seconds * 1000) + _LATER_MS, _LONGEST_MS)
            self.run(f"SET LOCAL statement_timeout = {later}")
        ordered, self._busy = self._ordered, self._busy + 1
        self._deadline = Deadline(seconds, self._cancel)
        try:
            with self._deadline.running():
                yield
                self.run("COMMIT")
        except BaseException:
            self._deadline = NEVER
            with suppress(EngineFailed):
                self.run("ROLLBACK")
            self._ordered = ordered
            raise
        finally:
            self._deadline = NEVER
            self._busy -= 1

    def _cancel(self) -> None:
        if self._connection is not None:
            self._connection.cancel()

    @contextmanager
    def kept(self, sql: str) -> Iterator[str]:
        """Keep the rows of a query in a temporary table inside a `with` block, and return its quoted name."""
        name = f'"~kept{next(self._names)}"'
        self.run(f"CREATE TEMP TABLE {name} AS {sql}")
        self._busy += 1
        try:
            yield name
        finally:
            self._busy -= 1
            # A transaction that failed has dropped it already, and a connection that was lost has too.
            with suppress(EngineFailed):
                self.run(f"DROP TABLE IF EXISTS {name}")

    def remembered(self, sql: str, made: Made | None = None) -> str:  # noqa: ARG002  (nothing is made)
        """Return the query itself: the rows that it reads may change between two questions."""
        return f"({sql})"

    def _connect(self) -> None:
        self._close()
        self._connection, self._ordered = connected(self._url, self._settings), 0
        # Also where nobody comes back to close it.
        self._close = weakref.finalize(self, self._connection.close)
        self._used = time.monotonic()

    def _ready(self) -> psycopg.Connection[Any]:
        """Return the connection; one that was idle is replaced if it was cut, where nothing is lost with it."""
        if self._connection is None:
            fix = "use it inside a with block: with PostgresEngine(url, secret) as engine: ..."
            raise Refusal("the engine", why="it is closed", fix=fix)
        if not self._busy and time.monotonic() - self._used >= _IDLE_SECONDS and not _answers(self._connection):
            self._connect()
        return self._connection

    def _make_order(self, connection: psycopg.Connection[Any], sql: str) -> None:
        """Put the multipliers that a statement uses into a table of one row; no text and no parameter shows them."""
        needed = 1 + max(map(int, _PLACES.findall(sql)), default=0) if ORDER_TABLE in sql else 0
        if needed <= self._ordered:
            return
        rows = multipliers(self._secret)
        names = [f'"~{letter}{place}"' for letter in "ab" for place in range(needed)]
        columns = ", ".join(f"{name} bigint NOT NULL" for name in names)
        values = [value for row in rows for value in row[:needed]]
        with connection.cursor() as cursor:
            cursor.execute(f'DROP VIEW IF EXISTS pg_temp.{ORDER_TABLE}; DROP TABLE IF EXISTS pg_temp."~numbers"')
            cursor.execute(f'CREATE TEMP TABLE "~numbers" ({columns})')
            with cursor.copy('COPY pg_temp."~numbers" FROM STDIN') as copy:
                copy.write_row(values)
            # So that the planner knows that there is one row, without any statistics of what it holds.
            view = f'CREATE TEMP VIEW {ORDER_TABLE} AS SELECT * FROM pg_temp."~numbers" LIMIT 1'  # noqa: S608
            cursor.execute(view.encode())
        self._ordered = needed


def import_psycopg() -> Any:  # noqa: ANN401  (a module)
    """Return the driver, or refuse with the line that installs it."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("PostgreSQL", "postgres", "psycopg") from None
    return psycopg


def connected(url: str, settings: dict[str, str] | None = None) -> psycopg.Connection[Any]:
    """Open a connection in which statements mean the same whoever's role and database it is."""
    driver = import_psycopg()
    connection: psycopg.Connection[Any] = driver.connect(
        url,
        autocommit=True,
        prepare_threshold=None,
        application_name="discreet",
        client_encoding="UTF8",
        connect_timeout=_CONNECT_SECONDS,
    )
    try:
        listed = {**_SETTINGS, **(settings or {})}
        connection.execute(
            "; ".join(f"SET {name} = {_written(name, value)}" for name, value in listed.items()).encode()
        )
        connection.adapters.register_loader("numeric", _whole_loader())
    except BaseException:
        connection.close()
        raise
    return connection


def _written(name: str, value: str) -> str:
    return value if name == "search_path" else f"'{value}'"


def _whole_loader() -> Any:  # noqa: ANN401  (a class of the driver's kind)
    from psycopg.adapt import Loader

    class WholeLoader(Loader):
        """Reads NUMERIC as a whole number, which is all that our statements return of it."""

        def load(self, data: Any) -> int:  # noqa: ANN401
            """Read the digits; anything else is an error of ours."""
            whole, _, places = bytes(data).partition(b".")
            if places.strip(b"0"):
                raise ValueError("a fraction")
            return int(whole)

    return WholeLoader


def _answers(connection: psycopg.Connection[Any]) -> bool:
    driver = import_psycopg()
    try:
        connection.execute("SELECT 1")
    except (driver.Error, OSError):
        return False
    return True
