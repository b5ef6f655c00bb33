"""Spark: the engine for tables that outgrow one machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import count, islice
from types import TracebackType
from typing import TYPE_CHECKING, Self

from discreet.core.errors import Refusal
from discreet.engines.engine import BATCH_ROWS, NEVER, ORDER_TABLE, Datum, Deadline, EngineFailed, Made, multipliers
from discreet.engines.source import Source
from discreet.engines.spark.frames import master_of, read, view_name
from discreet.engines.spark.session import session, withheld

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PLACES = re.compile(r'"~[ab](\d+)"')
# Which jobs are cancelled together; of the thread, so that what its owner had set is put back.
_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
_kept = count()


class SparkEngine:
    """A session of our own in the Spark of this process; a context manager, at whose end all that it kept is dropped.

    Executors need nothing of ours: what runs there is Spark's own SQL. `secret` decides which of a person's rows are
    kept; what is derived from it travels as data, never in a statement or a plan.

    Guarantee: what Spark says of a failure is never shown: it might quote a record.
    """

    name = "spark"

    def __init__(self, sources: Sequence[Source], secret: bytes) -> None:
        self._sources = {view_name(source): source for source in sources}
        self._master = next((master for source in sources if (master := master_of(source))), None)
        self._secret = secret
        self._session: SparkSession | None = None
        self._views: set[str] = set()
        self._ordered = 0
        self._deadline = NEVER

    @property
    def version(self) -> str:
        """The version of Spark."""
        return str(self._session.version) if self._session is not None else ""

    def __enter__(self) -> Self:
        self._session = session(self._master)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        found, self._session = self._session, None
        views, self._views, self._ordered = self._views, set(), 0
        # The temporary views of a session end with it; who holds the context keeps it, so that they are dropped here.
        if found is not None:
            with _unless_gone(), withheld():
                for view in views:
                    found.sql(f"DROP VIEW IF EXISTS {view}")

    @contextmanager
    def question(self, seconds: float | None = None) -> Iterator[None]:
        """Cancel what runs after so many seconds; files that change are noticed before."""
        group = f"discreet {next(_kept)}"
        context = self._open().sparkContext
        self._deadline = Deadline(seconds, lambda: context.cancelJobGroup(group))
        before = {name: context.getLocalProperty(name) for name in _GROUP}
        try:
            with withheld():
                context.setJobGroup(group, "discreet", interruptOnCancel=True)
            with self._deadline.running():
                yield
        finally:
            self._deadline = NEVER
            with _unless_gone(), withheld():
                for name, value in before.items():
                    context.setLocalProperty(name, value)  # type: ignore[arg-type]  # None takes it away

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Datum, ...]]:
        """Return the rows of a statement: whole numbers as Python's, never through floats."""
        with self._until_the_deadline():
            return [tuple(map(_exact, row)) for row in self._frame(sql, parameters).collect()]

    def batches(self, sql: str, parameters: Sequence[object] = ()) -> Iterator[list[tuple[Datum, ...]]]:
        """Hand out the rows of a statement, a part at a time: of one partition after the other, in their order."""
        with self._until_the_deadline():
            rows = self._frame(sql, parameters).toLocalIterator()
        while True:
            with self._until_the_deadline():
                found = [tuple(map(_exact, row)) for row in islice(rows, BATCH_ROWS)]
            if not found:
                return
            yield found

    @contextmanager
    def _until_the_deadline(self) -> Iterator[None]:
        self._deadline.check()
        try:
            with withheld():
                yield
        except EngineFailed:
            raise self._deadline.failure from None

    def run(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Run a statement for what it does."""
        self.rows(sql, parameters)

    @contextmanager
    def kept(self, sql: str) -> Iterator[str]:
        """Keep the rows of a query in the executors' memory and disk inside a `with` block, and return its quoted name.

        They are computed when they are first asked for. Where an executor is lost its part is computed again, and is
        the same: which rows are kept follows from the rows themselves and the secret, and from no place or time.
        """
        from pyspark import StorageLevel

        name = f'"~kept{next(_kept)}"'
        with withheld():
            frame = self._frame(sql)
            frame.persist(StorageLevel.MEMORY_AND_DISK)
            self._view(name, frame)
        try:
            yield name
        finally:
            with _unless_gone(), withheld():
                self._open().sql(f"DROP VIEW IF EXISTS {name}")
                self._views.discard(name)
                frame.unpersist()

    def remembered(self, sql: str, made: Made | None = None) -> str:  # noqa: ARG002  (nothing is made)
        """Return the query itself: its files may change between two questions."""
        return f"({sql})"

    def _frame(self, sql: str, parameters: Sequence[object] = ()) -> DataFrame:
        found = self._open()
        for view, source in self._sources.items():
            if view in sql and view not in self._views:
                self._view(view, read(found, source))
        self._make_order(found, sql)
        return found.sql(sql, args=list(parameters)) if parameters else found.sql(sql)

    def _view(self, quoted: str, frame: DataFrame) -> None:
        # Spark's own methods read names by the rules of whichever session was used last; all know these quotes.
        frame.createOrReplaceTempView(quoted.replace('"', "`"))
        self._views.add(quoted)

    def _open(self) -> SparkSession:
        if self._session is None:
            fix = "use it inside a with block: with opened(sources, secret) as engine: ..."
            raise Refusal("the engine", why="it is closed", fix=fix)
        return self._session

    def _make_order(self, found: SparkSession, sql: str) -> None:
        """Put the multipliers that a statement uses into a view of one row.

        They go to Spark as the data of an RDD, which its optimiser cannot see and its plans and logs do not write.
        """
        needed = 1 + max(map(int, _PLACES.findall(sql)), default=0) if ORDER_TABLE in sql else 0
        if needed <= self._ordered:
            return
        rows = {letter: row[:needed] for letter, row in zip("ab", multipliers(self._secret), strict=True)}
        schema = ", ".join(f"`~{letter}{place}` BIGINT" for letter in rows for place in range(needed))
        numbers = found.sparkContext.parallelize([(*rows["a"], *rows["b"])], 1)
        # Sent to every executor once, rather than shuffled with the rows.
        self._view(ORDER_TABLE, found.createDataFrame(numbers, schema, verifySchema=False).hint("broadcast"))
        self._ordered = needed


def _exact(value: object) -> Datum:
    """Return a whole decimal as a whole number; texts, flags and whole numbers are what they are."""
    if isinstance(value, Decimal):
        assert value == value.to_integral_value()
        return int(value)
    assert value is None or isinstance(value, int | str)
    return value


@contextmanager
def _unless_gone() -> Iterator[None]:
    """Leave it at that where Spark is gone already: what it kept went with it."""
    try:
        yield
    except Refusal:
        return
