"""Statements: the SQL that answers a question, as an analyst may see it: without the secret, sources or their types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from discreet.ask.priced import PricedQuestion
from discreet.ask.registered import engine_of
from discreet.ask.release import binned_question, tallied_question
from discreet.engines.dialect import Dialect, dialect_of
from discreet.engines.secret_order import ORDER_TABLE
from discreet.engines.select import select
from discreet.measures.bins import BinMeasure
from discreet.measures.quantiles import QuantileMeasure
from discreet.measures.sums import SumMeasure
from discreet.mechanisms.parts.refinement import RefinementRequest as Asking
from discreet.plan.keys import NO_KEYS, Keys
from discreet.plan.tallies import Tally, TallyQuery
from discreet.plan.to_sql.cells import CellRequest, cells_sql, values_sql
from discreet.plan.to_sql.person_bounds import PERSON
from discreet.plan.to_sql.pretty import pretty
from discreet.plan.to_sql.relation import Relation
from discreet.plan.to_sql.rows import kept_sql, rows_by_person_sql
from discreet.plan.to_sql.statement import SettledPlan as Settled
from discreet.plan.to_sql.statement import tallies_sql
from discreet.plan.types import type_of

_SECRET = f"{ORDER_TABLE} is <the vault's secret order>"
_SELECTED = "<a selected key>"


def statements(asked: PricedQuestion) -> tuple[str, ...]:
    """Return what the engine of a question's tables would be asked, statement by statement, laid out for people.

    Tables stand for their rows with every value read as it was declared. How a value is read off the source is left
    out, and so is whether people are called by numbers or by text: the types of a source may depend on one record.

    Guarantee: a function of the question and of what was declared; the secret order is a name, and so are sources.
    """
    query = asked.report.query
    return _Writer(asked, dialect_of(engine_of(query.registered))).all()


@dataclass(frozen=True, slots=True)
class _Writer:
    """A question, and how its engine spells things."""

    asked: PricedQuestion
    dialect: Dialect

    def all(self) -> tuple[str, ...]:
        """Write the statements in the order in which they would run."""
        asked, plan = self.asked, self.asked.report.query.plan
        found = [self._kept(relation) for relation in self._relations(kept=False).values() if _once(relation)]
        if asked.selection is not None:
            question = TallyQuery(plan, self._asked_keys, (Tally("people"),))
            found.append(self._tallies("how many people have each key, for private selection", question))
        if asked.bound is not None:
            sql = rows_by_person_sql(plan, self._relations(), asked.unit, asked.bound.most, self.dialect)
            found.append(self._shown("how many people have each number of rows, for max_rows", sql))
        sums = [each for each in asked.measures if isinstance(each, SumMeasure)]
        if sums:
            question, _ = tallied_question(asked, sums, self._keys)
            found.append(self._tallies("the sums of every group", question))
        for each in asked.measures:
            if isinstance(each, BinMeasure):
                found.append(self._tallies("how many rows every bin has", binned_question(asked, each, self._keys)))
            if isinstance(each, QuantileMeasure):
                found += self._cells(each)
        return tuple(found)

    @property
    def _asked_keys(self) -> Keys:
        return self.asked.report.query.keys or NO_KEYS

    @property
    def _keys(self) -> Keys:
        """The keys of the answer; where they are selected one stands for all, since which there are is not known."""
        keys = self._asked_keys
        if not keys.selected:
            return keys
        return keys.chosen([tuple(_SELECTED if key.values is None else key.values[0] for key in keys.columns)])

    def _relations(self, *, kept: bool = True) -> dict[str, Relation]:
        found = {}
        for name, table in self.asked.report.query.tables.items():
            title = f"kept {name}" if kept and table.unit.bound == "table" else name
            found[name] = Relation(table, {table.unit.identifier or "": "BIGINT"}, self.dialect.quote(title), kept=True)
        return found

    def _kept(self, relation: Relation) -> str:
        names = [self.dialect.quote(name) for name in relation.table]
        sql = kept_sql(relation, select((*names, PERSON), relation.from_sql), self.dialect)
        name = relation.table.name
        return self._shown(f'"kept {name}": the rows of {name} that are kept of each person, once for the table', sql)

    def _tallies(self, title: str, question: TallyQuery) -> str:
        sql = tallies_sql(question, self._relations(), self.dialect, self.asked.unit).sql
        return self._shown(title, sql)

    def _cells(self, measure: QuantileMeasure) -> list[str]:
        """Write the values of a quantile and the first look at them; the next ones depend on what was drawn."""
        relations, keys = self._relations(), self._keys
        settled = Settled.of(self.asked.report.query.plan, keys, relations, self.dialect, self.asked.unit)
        values = values_sql(settled, measure.of, relations)
        requests = _first_requests(measure, len(keys.listed()) if keys.columns else 1)
        name = self.dialect.quote(f"values of {measure.name}")
        first = cells_sql(name, type_of(measure.of, settled.columns), requests, self.dialect)
        return [
            self._shown(f"{name}: the values that count, each with the place of its group", values),
            self._shown("how many of them lie in which cell: the first pass; the next ones look closer", first),
        ]

    def _shown(self, title: str, sql: str) -> str:
        tables = [
            f"{self.dialect.quote(name)} is <the rows of {name}, every value read as declared>"
            for name in self.asked.report.query.tables
            if f"FROM {self.dialect.quote(name)}" in sql
        ]
        notes = [title, *tables, *([_SECRET] if ORDER_TABLE in sql else ())]
        return "\n".join([*(f"-- {note}" for note in notes), pretty(sql)])


class _Seen(Exception):
    """Carries the first requests out of a mechanism, before it has drawn anything."""

    def __init__(self, requests: Sequence[Asking]) -> None:
        super().__init__()
        self.requests = requests


def _first_requests(measure: QuantileMeasure, groups: int) -> list[CellRequest]:
    """Return what a mechanism asks first, each request once; nobody answers."""

    def seen(requests: list[Asking]) -> NoReturn:
        raise _Seen(requests)

    try:
        measure.answers(seen, groups)
    except _Seen as found:
        return list(dict.fromkeys(CellRequest(*each) for each in found.requests))
    return []


def _once(relation: Relation) -> bool:
    return relation.table.unit.bound == "table"
