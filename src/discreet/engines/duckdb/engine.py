"""DuckDB: the embedded engine; it reads files, spills within a memory limit, and gives back exact integers.

Behind a barrier: no optimizer of DuckDB reasons about records from statistics, or reads fewer of them because of those.
Parquet statistics leave NaN out, may be cut short, or may be wrong; they belong to all rows of a group together. An
optimizer that folds a comparison from them, even `isnan(x)`, lets one record decide how others are read.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Self

from discreet.core.errors import BadParameter, Refusal
from discreet.engines.engine import BATCH_ROWS, NEVER, ORDER_TABLE, Datum, Deadline, Made, multipliers
from discreet.engines.engine import EngineFailed as EngineFailed

if TYPE_CHECKING:
    import duckdb

# Ranking within people is three times as fast without the first one; the others reason from statistics, move
# conditions into the scan of a file, where row groups are skipped by statistics, or change what a scan reads.
SWITCHED_OFF = (
    "top_n_window_elimination",
    "statistics_propagation",
    "compressed_materialization",
    "filter_pushdown",
    "join_filter_pushdown",
    "row_group_pruner",
    "late_materialization",
    "partitioned_execution",
    "type_pushdown",
    "scalar_fn_pushdown",
    "remote_pushdown",
    "regex_range",
)

# What a connection runs before anything else.
BARRIER = f"SET disabled_optimizers = '{','.join(SWITCHED_OFF)}'"


# Ten million rows of a million people take about 600; what does not fit is spilled to disk.
MEMORY_MB = 1024
_PLACES = re.compile(r'"~[ab](\d+)"')
LEAST_MB = 64
# So many tables of weights, and of weighed rows, are kept beside one another.
_MOST_RECENT = 8


class DuckDBEngine:
    """A DuckDB of its own, in memory; a context manager, at whose end it and its temporary files are gone.

    `secret` decides which of a person's rows are kept: it never enters the text of a statement, nor does what is
    derived from it. `memory` is the limit in megabytes beyond which the engine spills into a private folder.

    Guarantee: what the engine says of a failure is never shown: it might quote a record. What it reads of a record
    follows from that record alone, and from no statistics of a file (`discreet.engines.duckdb.engine`).
    """

    name = "duckdb"

    def __init__(
        self, secret: bytes, *, memory: int = MEMORY_MB, threads: int | None = None, folder: Path | None = None
    ) -> None:
        if memory < LEAST_MB:
            why = f"the engine needs {LEAST_MB} megabytes to work in"
            raise BadParameter("memory", memory, why=why, fix="give it a gigabyte: memory=1024")
        if threads is not None and threads < 1:
            raise BadParameter("threads", threads, why="someone has to do the work", fix="leave it out")
        self._secret = secret
        self._ordered = 0
        self._memory = memory
        self._workers = threads or os.cpu_count() or 1
        self._parent = folder
        self._folder: Path | None = None
        self._swept: Callable[[], object] = lambda: None
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._names = count()
        self._remembered: set[str] = set()
        self._hands_out = False
        self._recent: OrderedDict[str, None] = OrderedDict()
        self._deadline = NEVER

    @property
    def version(self) -> str:
        """The version of DuckDB."""
        import duckdb

        return duckdb.__version__

    def __enter__(self) -> Self:
        import duckdb

        # mkdtemp makes a folder that nobody else can enter.
        self._folder = Path(tempfile.mkdtemp(prefix="discreet-", dir=self._parent))
        # Also where nobody comes back to close it: at the end of the process.
        self._swept = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": f"{self._memory}MB",
            "temp_directory": str(self._folder),
            "threads": str(self._workers),
            "preserve_insertion_order": "false",
        }
        try:
            self._connection = duckdb.connect(config=settings)
            self._connection.execute("SET enable_progress_bar = false")
            self._connection.execute(BARRIER)
        except (duckdb.Error, RuntimeError) as error:
            self.__exit__(None, None, None)
            raise (KeyboardInterrupt if was_interrupted(error) else EngineFailed) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection, self._ordered, self._hands_out = None, 0, False
            self._remembered.clear()
            self._recent.clear()
        if self._folder is not None:
            self._swept()
            self._folder = None

    @contextmanager
    def question(self, seconds: float | None = None) -> Iterator[None]:
        """Interrupt what runs after so many seconds; files that change are noticed before."""
        self._deadline = Deadline(seconds, self._open().interrupt)
        try:
            with self._deadline.running():
                yield
        finally:
            self._deadline = NEVER

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Datum, ...]]:
        """Return the rows of a statement: whole numbers as Python's, never through floats."""
        with self._withheld() as connection:
            self._make_order(connection, sql)
            found: list[tuple[Datum, ...]] = connection.execute(sql, list(parameters)).fetchall()
        return found

    def batches(self, sql: str, parameters: Sequence[object] = ()) -> Iterator[list[tuple[Datum, ...]]]:
        """Hand out the rows of a statement, a part at a time; what has to be sorted for it is spilled like the rest."""
        with self._withheld() as connection:
            self._make_order(connection, sql)
            connection.execute(sql, list(parameters))
        self._hands_out = True  # another statement on the connection would end the result without a word
        try:
            while found := self._next(connection):
                yield found
        finally:
            self._hands_out = False

    def _next(self, connection: duckdb.DuckDBPyConnection) -> list[tuple[Datum, ...]]:
        with self._withheld(handing_out=True):
            found: list[tuple[Datum, ...]] = connection.fetchmany(BATCH_ROWS)
        return found

    @contextmanager
    def _withheld(self, *, handing_out: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        """Lend the connection; whatever it raises becomes the one failure, or the one of a deadline that has passed."""
        import duckdb

        self._deadline.check()
        if self._hands_out and not handing_out:
            fix = "read them to the end, or close them, before the next statement"
            raise Refusal("the engine", why="it still hands out the rows of a statement", fix=fix)
        try:
            yield self._open()
        except (duckdb.Error, RuntimeError, OSError, MemoryError) as error:
            if was_interrupted(error) and not self._deadline.passed:
                raise KeyboardInterrupt from None
            raise self._deadline.failure from None

    def run(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement for what it does."""
        self.rows(sql, parameters)

    @contextmanager
    def kept(self, sql: str) -> Iterator[str]:
        """Keep the rows of a query in a temporary table inside a `with` block, and return its quoted name."""
        name = f'"~kept{next(self._names)}"'
        self.run(f"CREATE TEMP TABLE {name} AS {sql}")
        try:
            yield name
        finally:
            with suppress(EngineFailed):  # an engine that failed is closed, and its tables are gone
                self.run(f"DROP TABLE IF EXISTS {name}")

    def remembered(self, sql: str, made: Made | None = None) -> str:
        """Keep the rows of a query in a temporary table until the engine is closed, and return its quoted name.

        Of tables that were `made`, the oldest are dropped. DuckDB keeps what its memory has no room for in the folder.
        """
        name = f'"~remembered {hashlib.blake2b(sql.encode(), digest_size=16).hexdigest()}"'
        if name in self._recent:
            self._recent.move_to_end(name)
        elif name not in self._remembered:
            with nullcontext(sql) if made is None else made() as written:
                self.run(f"CREATE TEMP TABLE {name} AS {written}")
            if made is None:
                self._remembered.add(name)
            else:
                self._recent[name] = None
                while len(self._recent) > _MOST_RECENT:
                    self.run(f"DROP TABLE {self._recent.popitem(last=False)[0]}")
        return name

    def _open(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            fix = "use it inside a with block: with Engine(secret) as engine: ..."
            raise Refusal("the engine", why="it is closed", fix=fix)
        return self._connection

    def _make_order(self, connection: duckdb.DuckDBPyConnection, sql: str) -> None:
        """Put the multipliers that a statement uses into a table of one row, as parameters: no text shows them."""
        needed = 1 + max(map(int, _PLACES.findall(sql)), default=0) if ORDER_TABLE in sql else 0
        if needed <= self._ordered:
            return
        rows = {letter: row[:needed] for letter, row in zip("ab", multipliers(self._secret), strict=True)}
        columns = [f'CAST(? AS BIGINT) AS "~{letter}{place}"' for letter in rows for place in range(needed)]
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {ORDER_TABLE} AS SELECT {', '.join(columns)}", [*rows["a"], *rows["b"]]
        )
        self._ordered = needed


def was_interrupted(error: Exception) -> bool:
    """Whether DuckDB was stopped at work: by a signal such as Ctrl-C, which it does not pass on, or by a deadline."""
    import duckdb

    return isinstance(error, duckdb.InterruptException) or (
        isinstance(error, RuntimeError) and str(error) == "Query interrupted"
    )


@contextmanager
def connect() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a fresh engine in memory that fetches no extension and decides no type by a sample of records.

    What it has to spill goes into a folder that only its owner can read, and that is gone afterwards.
    """
    import duckdb

    options: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with TemporaryDirectory(prefix="discreet-") as folder, duckdb.connect(config=options) as engine:
            engine.execute(BARRIER)
            engine.execute("SET pandas_analyze_sample = 0")
            engine.execute("SET enable_progress_bar = false")
            engine.execute(f"SET temp_directory = {literal(folder)}")
            yield engine
    except RuntimeError as error:
        if was_interrupted(error):
            raise KeyboardInterrupt from None
        raise


def literal(text: str) -> str:
    """Quote text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
