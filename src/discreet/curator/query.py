"""Query: a question in the making: a table, what it is narrowed to, and what it is grouped by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.curator.subject import Subject
from discreet.plan.expressions import Expression, Name, lift
from discreet.plan.keys import declared, keys_of, shown
from discreet.plan.nodes import Derive, Filter, Join, Plan, Public, Union, columns_of
from discreet.plan.types import type_of

if TYPE_CHECKING:
    from discreet.curator.partition import Partition
    from discreet.curator.report import Report


def part_keys(name: str, columns: Mapping[str, Column]) -> list[Any]:
    """Return the keys of a partition, as people write them; keys that were not declared are refused."""
    values = declared(columns[name])
    if values is None:
        why = "its keys were not declared, and which there are may depend on one row"
        raise BadParameter("partition", name, why=why, fix="partition by a column made with one_of")
    return [shown(columns[name], value) for value in values]


class UnknownColumn(UnknownName, AttributeError):
    """A column that a table does not have, asked for as an attribute or by its name."""


@dataclass(frozen=True, slots=True)
class Query(Subject):
    """A table as an analyst sees it: columns to speak of, and verbs that return another such table.

    `visits.age` and `visits["age"]` are the column; `where`, `derive`, `join`, `union` and `group_by` narrow, widen and
    divide; `agg` asks. Nothing is computed, and nothing is paid, before `release`.
    """

    def __getattr__(self, name: str) -> Name:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Name:
        if name not in self.columns:
            raise UnknownColumn("column", str(name), self.columns)
        return Name(name)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self.columns]

    def where(self, *conditions: Expression) -> Query:
        """Keep the rows for which every condition is true; a row for which one is null is left out."""
        if not conditions:
            fix = "write where(visits.age >= 18)"
            raise BadParameter("conditions", (), why="there is nothing to keep rows by", fix=fix)
        plan = self.plan
        for condition in conditions:
            found = type_of(lift(condition), self.columns)
            if found.kind != "flag":
                why = f"a condition is true or false, and this is a {found.kind}"
                raise BadParameter("condition", condition, why=why, fix="compare it with something: visits.age >= 18")
            plan = Filter(plan, lift(condition))
        return self._now(plan)

    def derive(self, **columns: Expression | str | float) -> Query:
        """Add columns computed from others of the same row, as in `derive(days=visits.last - visits.first)`."""
        found = self
        for name, expression in columns.items():
            value = found[expression] if isinstance(expression, str) and expression in found.columns else expression
            type_of(lift(value), found.columns)
            found = found._now(Derive(found.plan, name, lift(value)))
        return found

    def join(self, public: Public, on: str | Mapping[str, str]) -> Query:
        """Add the columns of a public table to the rows whose key it has; rows without a partner are left out.

        `on` names the column both have, or maps ours to theirs: {"ward": "code"}.
        """
        if not isinstance(public, Public):
            why = "only public tables are joined: rows of a private one would need a bound on how many people meet"
            fix = "make it with session.public('wards', {'ward': ['A', 'B'], 'floor': [1, 2]})"
            raise BadParameter("public", type(public).__name__, why=why, fix=fix)
        pairs = {on: on} if isinstance(on, str) else dict(on)
        plan = Join(self.plan, public, tuple(pairs.items()))
        columns_of(plan, self.tables)
        return self._now(plan)

    def union(self, other: Query) -> Query:
        """Add the rows of another question; both have the same columns. A row that is in both counts twice."""
        if not isinstance(other, Query) or other.desk is not self.desk:
            why = "it is no table of this session"
            raise BadParameter("other", type(other).__name__, why=why, fix="pass session.table('visits'), for example")
        if other.keys is not None:
            why = "it is grouped already"
            raise BadParameter("other", other.keys.names, why=why, fix="call union first, and then group_by")
        plan = Union(self.plan, other.plan)
        columns_of(plan, {**self.tables, **other.tables})
        return self._now(plan)

    def group_by(
        self, *columns: str | Name, keys: Mapping[str, Any] | Public | None = None, **derived: Expression
    ) -> Query:
        """Divide into groups, one for each key; keys that were declared appear even where a group is empty.

        Columns are named, or derived on the spot: group_by("ward", year=visits.day.year()). `keys` declares the keys of
        a column that has none ({"city": ["Bern", "Basel"]}, or a public table of keys). Text columns without declared
        keys get theirs by private selection, which needs a delta.
        """
        if self.keys is not None:
            why = "it is grouped already"
            raise BadParameter("columns", columns, why=why, fix="name all columns in one group_by")
        wide = self.derive(**derived)
        names = [column.name if isinstance(column, Name) else str(column) for column in columns] + [*derived]
        if not names:
            raise BadParameter("columns", (), why="there is nothing to group by", fix="write group_by('ward')")
        for name in names:
            _ = wide[name]
        return replace(wide, keys=keys_of(tuple(names), wide.columns, keys))

    def partition(self, column: str | Name) -> Partition:
        """Divide into parts that are asked different things; see `discreet.curator.partition`."""
        from discreet.curator.partition import Partition

        name = self[column.name if isinstance(column, Name) else column]
        parts = {key: self.where(name == key) for key in part_keys(name.name, self.columns)}
        return Partition(self, name.name, parts)

    def agg(self, **aggregates: Any) -> Report:  # noqa: ANN401  (what is no aggregate is refused by name)
        """Ask for aggregates, each a column of the answer, as in `agg(n=dp.count(), cost=dp.mean("cost"))`."""
        from discreet.curator.report import Report

        return Report.of(self, aggregates)

    def count(self) -> Report:
        """Ask how many rows there are: short for agg(count=dp.count())."""
        from discreet.plan.aggregates import count

        return self.agg(count=count())

    def _now(self, plan: Plan) -> Query:
        if self.keys is not None:
            why = "the groups would be made of other rows"
            raise BadParameter("group_by", self.keys.names, why=why, fix="call where, derive and join before group_by")
        return replace(self, plan=plan)
