"""Runner: the exact integers of a question, from the engine; secret until noise has been added to them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.unit import Unit
from discreet.data.csv_dialect import SourceMissing
from discreet.data.duckdb import Engine, EngineFailed
from discreet.data.ranks import Ranks
from discreet.plan.bounding import PERSON
from discreet.plan.cells import Counts, cells
from discreet.plan.dialect import DUCKDB
from discreet.plan.keys import Keys
from discreet.plan.nodes import Datum, Plan
from discreet.plan.relation import Relation
from discreet.plan.rows_sql import rows_sql, scan_sql
from discreet.plan.tallies import Question
from discreet.plan.to_sql import in_order, tallies_sql

if TYPE_CHECKING:
    from discreet.curator.register import Registered
    from discreet.plan.expressions import Expression


@dataclass(frozen=True, slots=True)
class Runner:
    """An engine and the relations of one question."""

    engine: Engine
    relations: Mapping[str, Relation]

    def tallies(self, question: Question, unit: Unit) -> list[tuple[Datum, ...]]:
        """Return a row for every group that is not empty: the group's place or keys, then the tallies."""
        return self.engine.rows(tallies_sql(question, self.relations, DUCKDB, unit).sql)

    def in_order(self, question: Question, unit: Unit) -> list[tuple[int, ...]]:
        """Return the tallies of every listed group, empty ones too, in the order of the keys."""
        return in_order(self.tallies(question, unit), question)

    def counts(self, plan: Plan, keys: Keys, of: Expression, unit: Unit) -> AbstractContextManager[Counts]:
        """Give what a quantile asks for: counts of an expression's values in cells, pass by pass."""
        return cells(self.engine, plan, keys, of, self.relations, DUCKDB, unit)

    def rows_by_person(self, plan: Plan, most: int) -> dict[int, int]:
        """Return how many people have each number of rows, numbers above `most` counting as `most`."""
        unit = next(iter(self.relations.values())).table.unit
        rows = rows_sql(plan, self.relations, unit, DUCKDB)
        each = f"SELECT least(count(*), {int(most)}) AS n FROM ({rows}) GROUP BY {PERSON}"  # noqa: S608  (our own SQL)
        found = self.engine.rows(f"SELECT n, count(*) FROM ({each}) GROUP BY n")  # noqa: S608
        return {int(rows or 0): int(people or 0) for rows, people in found}


def folder_of(vault: Path) -> Path:
    """Return the private folder beside a vault."""
    return vault.with_name(vault.name + ".data")


class Engines:
    """The engine of a session, kept open between questions about the same versions of tables: opening takes a while.

    One that is lent out is not lent again, so that threads get engines of their own; one whose question failed is
    closed; one that was inherited by a fork is left to the parent.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._idle: list[tuple[int, object, Engine]] = []

    @contextmanager
    def lent(self, versions: object) -> Iterator[Engine]:
        """Lend an engine for one question; it has read no other versions than these."""
        with ExitStack() as stack:
            engine = self._idle_one(versions) or Engine(self._secret).__enter__()
            stack.push(engine)
            yield engine
            stack.pop_all()
            self._idle.append((os.getpid(), versions, engine))

    def close(self) -> None:
        """Close the one that is idle."""
        self._idle_one(None)

    def _idle_one(self, versions: object) -> Engine | None:
        """Take an idle engine that fits off the list; one that does not is closed."""
        try:
            pid, seen, engine = self._idle.pop()
        except IndexError:  # there is none, or another thread was faster
            return None
        if pid == os.getpid():
            if seen == versions:
                return engine
            engine.__exit__(None, None, None)
        return None


@contextmanager
def runner(registered: Mapping[str, Registered], engines: Engines, secret: bytes, folder: Path) -> Iterator[Runner]:
    """Borrow an engine for registered tables; kept rows of `bound="table"` are read from, or put into, `folder`."""
    versions = tuple((name, found.version, found.revision) for name, found in sorted(registered.items()))
    with engines.lent(versions) as engine:
        try:
            relations = {name: Relation(each.table, each.physical, each.from_sql) for name, each in registered.items()}
        except SourceMissing:  # which would name the file
            raise EngineFailed from None
        ranks = Ranks(folder, secret)
        for name, found in registered.items():
            if found.table.unit.bound == "table":
                sql = scan_sql(relations[name], DUCKDB)
                kept = ranks.kept(engine, name, found.version, found.table.to_json(), sql)
                relations[name] = Relation(found.table, found.physical, kept, kept=True)
        yield Runner(engine, relations)
