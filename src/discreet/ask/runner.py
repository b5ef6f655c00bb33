"""Runner: the exact integers of a question, from the engine; secret until noise has been added to them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import field
from pathlib import Path
from threading import get_ident
from time import monotonic
from typing import TYPE_CHECKING

from discreet.ask.public_table import PublicTable
from discreet.ask.registered import read_by, versions_of
from discreet.core.errors import Refusal
from discreet.core.exact import Exact
from discreet.core.log import logger
from discreet.core.unit import Unit
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import Dialect, dialect_of
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.duckdb.kept_rows import Ranks
from discreet.engines.engine import Allotment, DeadlineExceeded, Engine, EngineFailed
from discreet.engines.source import SourceMissing, home_of
from discreet.plan.keys import Keys, TallyQuery
from discreet.plan.nodes import Datum, Plan
from discreet.plan.to_sql.cells import Counts, cells
from discreet.plan.to_sql.rows import rows_by_person_sql, scan_sql
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import tallies_sql
from discreet.plan.to_sql.tally_tables import tallied

if TYPE_CHECKING:
    from discreet.ask.registered import Registered
    from discreet.engines.source import Source
    from discreet.plan.batches import Batches
    from discreet.plan.expressions import Expression


@dataclass(frozen=True, slots=True)
class Runner:
    """An engine and the relations of one question."""

    engine: Engine
    relations: Mapping[str, Relation]
    dialect: Dialect = DUCKDB
    secret: bytes = field(default=b"", repr=False)

    def tallies(self, question: TallyQuery, unit: Unit) -> Exact[list[tuple[Datum, ...]]]:
        """Return a row for every group that is not empty: the group's place or keys, then the tallies."""
        return Exact(self._rows(question, unit))

    def in_order(self, question: TallyQuery, unit: Unit) -> Exact[list[tuple[int, ...]]]:
        """Return the tallies of every listed group, empty ones too, in the order of the keys."""
        return tallied(self.engine, question, self.relations, self.dialect, unit)

    def people_by_key(self, question: TallyQuery, unit: Unit) -> Exact[dict[tuple[Datum, ...], int]]:
        """Return how many people have each key that is not empty, where keys are selected."""
        width = len(question.keys.columns)
        return Exact({tuple(row[:width]): int(row[width] or 0) for row in self._rows(question, unit)})

    def counts(self, plan: Plan, keys: Keys, of: Expression, unit: Unit) -> AbstractContextManager[Counts]:
        """Give what a quantile asks for: counts of an expression's values in cells, pass by pass."""
        return cells(self.engine, plan, keys, of, self.relations, self.dialect, unit)

    def batches(
        self,
        plan: Plan,
        features: Mapping[str, Expression],
        unit: Unit,
        *,
        weight: Expression | None = None,
        parts: int | None = None,
    ) -> Batches:
        """Return the rows of a plan as batches of codes, bounded by person, for what cannot be a sum in SQL."""
        from discreet.plan.batches import PARTS, batches

        return batches(
            self.engine,
            plan,
            features,
            self.relations,
            self.dialect,
            unit,
            secret=self.secret,
            weight=weight,
            parts=PARTS if parts is None else parts,
        )

    def rows_by_person(self, plan: Plan, most: int) -> Exact[dict[int, int]]:
        """Return how many people have each number of rows, numbers above `most` counting as `most`."""
        unit = next(iter(self.relations.values())).table.unit
        found = self.engine.rows(rows_by_person_sql(plan, self.relations, unit, most, self.dialect))
        return Exact({int(rows or 0): int(people or 0) for rows, people in found})

    def _rows(self, question: TallyQuery, unit: Unit) -> list[tuple[Datum, ...]]:
        return self.engine.rows(tallies_sql(question, self.relations, self.dialect, unit, self.engine).sql)


class Engines:
    """The engine of a session, kept open between questions about the same versions of tables: opening takes a while.

    One that is lent out is not lent again, so that threads get engines of their own; one whose question failed is
    closed; one that was inherited by a fork is left to the parent. So many are kept idle; whoever shares the engines
    of one process, and bounds how many are lent at once, bounds with their `allotment` what all of them take.
    """

    def __init__(self, secret: bytes, *, most: int = 1, allotment: Allotment | None = None) -> None:
        self.secret = secret
        self._most, self._allotment = most, allotment
        self._idle: list[tuple[int, object, Engine]] = []
        self._lent: dict[int, float] = {}

    @contextmanager
    def lent(self, versions: object, sources: Sequence[Source]) -> Iterator[Engine]:
        """Lend an engine for one question; it has read no other versions than these."""
        with ExitStack() as stack:
            engine = self._idle_one(versions)
            if engine is None:
                engine = home_of(sources[0]).opened(sources, self.secret, self._allotment)
                engine.__enter__()
            stack.push(engine)
            self._lent[get_ident()] = monotonic()
            try:
                yield engine
            finally:
                self._lent.pop(get_ident(), None)
            stack.pop_all()
            self._idle.append((os.getpid(), versions, engine))

    @property
    def order(self) -> str:
        """What tells the secret order of rows from any other; of no use to find it."""
        return hashlib.sha256(b"discreet order of rows\0" + self.secret).hexdigest()[:16]

    def lent_for(self, thread: int) -> float:
        """Return for how many seconds a thread has had an engine; 0 if it has none."""
        since = self._lent.get(thread)
        return 0.0 if since is None else monotonic() - since

    def close(self) -> None:
        """Close those that are idle."""
        while self._idle:
            self._end_oldest()

    def _idle_one(self, versions: object) -> Engine | None:
        """Take an idle engine that fits off the list; where none does, the oldest makes room for a new one."""
        for each in reversed([*self._idle]):
            if each[0] == os.getpid() and each[1] == versions and self._taken(each):
                return each[2]
        if len(self._lent) + len(self._idle) >= self._most:
            self._end_oldest()
        return None

    def _end_oldest(self) -> None:
        """Close the engine that has been idle longest, if there is one."""
        for each in [*self._idle][:1]:
            if self._taken(each) and each[0] == os.getpid():
                each[2].__exit__(None, None, None)

    def _taken(self, entry: tuple[int, object, Engine]) -> bool:
        """Take an engine off the list, unless another thread was faster."""
        try:
            self._idle.remove(entry)
        except ValueError:
            return False
        return True


def engine_words(registered: Mapping[str, Registered], engines: Engines) -> str:
    """Say which engine, in which version and order of rows, computes over these tables; no row is read.

    Guarantee: what was begun in one order of rows is not drawn for again in another.
    """
    try:
        sources = [found.source for found in read_by(registered.values()).values()]
        with engines.lent(_versions(registered), sources) as engine:
            return f"{engine.name} {engine.version} {engines.order}"
    except SourceMissing:  # which would name the file, or the server
        raise EngineFailed from None


def _versions(registered: Mapping[str, Registered]) -> object:
    read = read_by(registered.values())
    return tuple((name, found.version, found.revision) for name, found in sorted(read.items()))


def relation_of(found: Registered, engine: Engine, dialect: Dialect) -> Relation:
    """Return how a table is read; of a linked one, whose rows they are is found first, once for an engine."""
    relation = Relation(found.table, found.physical, found.from_sql)
    if found.referred is None:
        return relation
    return relation.linked(relation_of(found.referred, engine, dialect), engine.remembered, dialect)


@contextmanager
def runner(
    registered: Mapping[str, Registered],
    engines: Engines,
    folder: Path,
    seconds: float | None = None,
    late: Callable[[], object] = lambda: None,
) -> Iterator[Runner]:
    """Borrow an engine for registered tables; kept rows of `bound="table"` are read from, or put into, `folder`.

    Only DuckDB keeps such rows: a database and Spark find them anew for each question, and they are the same. After
    `seconds` the engine is interrupted, `late` is called, and the question fails like any other.
    """
    try:
        sources = [found.source for found in read_by(registered.values()).values()]
        with engines.lent(_versions(registered), sources) as engine, engine.question(seconds):
            dialect = dialect_of(engine.name)
            relations = {name: relation_of(each, engine, dialect) for name, each in registered.items()}
            for name, each in read_by(registered.values()).items():
                if isinstance(each, PublicTable):
                    relations[name] = each.relation()
            ranks = Ranks(folder, engines.secret)
            for name, found in registered.items():
                if found.table.unit.bound == "table" and engine.name == DUCKDB.name:
                    sql = scan_sql(relations[name], DUCKDB)
                    # With the statement: a release that reads a value otherwise meets no row that an older one kept.
                    versions = sorted(versions_of([found]).items())
                    kept = ranks.kept(engine, name, found.version, f"{versions}{found.table.to_json()}{sql}", sql)
                    relations[name] = replace(relations[name], from_sql=kept, kept=True)
            yield Runner(engine, relations, dialect, engines.secret)
    except DeadlineExceeded:
        logger.warning("a question was stopped at its deadline")
        with suppress(Refusal):  # a vault that cannot be written to now changes nothing about the failure
            late()
        raise EngineFailed from None
    except SourceMissing:  # which would name the file, or the server
        raise EngineFailed from None
