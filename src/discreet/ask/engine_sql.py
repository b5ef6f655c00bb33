"""Statements: the SQL that answers a question, as an analyst may see it: without the secret, sources or their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from discreet.ask.priced import PricedQuestion
from discreet.ask.programme import Programme
from discreet.ask.registered import engine_of
from discreet.core.schema import Table
from discreet.core.unit import Unit, row
from discreet.core.value import dataclass
from discreet.engines.dialect import Dialect, dialect_of, select
from discreet.engines.engine import ORDER_TABLE
from discreet.measures.request import MeasureScope
from discreet.plan.dimension import Dimension, dimensions_of
from discreet.plan.expressions import Expression
from discreet.plan.keys import TallyQuery
from discreet.plan.nodes import Plan
from discreet.plan.to_sql.cells import CellQuery, cells_sql, values_sql
from discreet.plan.to_sql.person_bounds import PERSON
from discreet.plan.to_sql.pretty import pretty
from discreet.plan.to_sql.rows import kept_sql, rows_by_person_sql
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import SettledPlan
from discreet.plan.to_sql.tally_tables import statements_of
from discreet.plan.types import type_of

_TOTALS = "the totals of every group, each person's clamped"
_SECRET = f"{ORDER_TABLE} is <the vault's secret order>"


def statements(asked: PricedQuestion) -> tuple[str, ...]:
    """Return what the engine of a question's tables would be asked, statement by statement, laid out for people.

    Tables stand for their rows with every value read as it was declared. How a value is read off the source is left
    out, and so is whether people are called by numbers or by text: the types of a source may depend on one record.

    Guarantee: a function of the question and of what was declared; the secret order is a name, and so are sources.
    """
    query = asked.report.query
    writer = SqlWriter(query.tables, dialect_of(engine_of(query.registered)), dimensions_of(query.plan))
    return (*writer.kept(), *Programme(asked).describe(writer))


@dataclass(frozen=True, slots=True)
class SqlWriter:
    """Writes the requests of a question in the SQL of its engine."""

    tables: Mapping[str, Table]
    dialect: Dialect
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)

    def kept(self) -> list[str]:
        """Write which rows are kept, of tables that keep rows of people once."""
        return [self._kept(relation) for relation in self._relations(kept=False).values() if _once(relation)]

    def tallies(self, title: str, question: TallyQuery, unit: Unit) -> list[str]:
        """Write the tallies of a question."""
        written = statements_of(question, self._relations(), self.dialect, unit)
        return [self._shown(_TOTALS if part.tallies[0].kind == "total" else title, sql) for part, sql in written]

    def rows_by_person(self, title: str, plan: Plan, most: int, unit: Unit) -> list[str]:
        """Write how many people have each number of rows."""
        return [self._shown(title, rows_by_person_sql(plan, self._relations(), unit, most, self.dialect))]

    def counts(self, name: str, scope: MeasureScope, of: Expression, first: Sequence[CellQuery]) -> list[str]:
        """Write the values of a quantile and the first look at them; the next ones depend on what was drawn."""
        relations = self._relations()
        settled = SettledPlan.of(scope.plan, scope.keys, relations, self.dialect, scope.unit)
        title = self.dialect.quote(f"values of {name}")
        cells = cells_sql(title, type_of(of, settled.columns), first, self.dialect)
        return [
            self._shown(
                f"{title}: the values that count, each with the place of its group", values_sql(settled, of, relations)
            ),
            self._shown("how many of them lie in which cell: the first pass; the next ones look closer", cells),
        ]

    def _relations(self, *, kept: bool = True) -> dict[str, Relation]:
        found = {}
        for name, table in self.tables.items():
            title = f"kept {name}" if kept and table.unit.bound == "table" else name
            found[name] = Relation(table, {table.unit.identifier or "": "BIGINT"}, self.dialect.quote(title), kept=True)
        for name, each in self.dimensions.items():
            table = Table(name, row(), each.columns)
            found[name] = Relation(table, {}, self.dialect.quote(name), kept=True, is_public=True)
        return found

    def _kept(self, relation: Relation) -> str:
        names = [self.dialect.quote(name) for name in relation.table]
        sql = kept_sql(relation, select((*names, PERSON), relation.from_sql), self.dialect)
        name = relation.table.name
        return self._shown(f'"kept {name}": the rows of {name} that are kept of each person, once for the table', sql)

    def _shown(self, title: str, sql: str) -> str:
        tables = [
            f"{self.dialect.quote(name)} is <the rows of {name}, every value read as declared>"
            for name in (*self.tables, *self.dimensions)
            if f"FROM {self.dialect.quote(name)}" in sql
        ]
        notes = [title, *tables, *([_SECRET] if ORDER_TABLE in sql else ())]
        return "\n".join([*(f"-- {note}" for note in notes), pretty(sql)])


def _once(relation: Relation) -> bool:
    return relation.table.unit.bound == "table"
