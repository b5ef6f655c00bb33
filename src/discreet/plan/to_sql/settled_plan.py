"""Settled plans: a plan and its keys for one unit, checked; the SQL of its rows, and of the groups they fall into."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.column import Column
from discreet.core.unit import Unit
from discreet.core.value import dataclass
from discreet.engines.dialect import Dialect, select
from discreet.plan.keys import Keys
from discreet.plan.nodes import Plan, columns_of
from discreet.plan.stability import GroupCap, has_one_each, reach, stability, unit_of
from discreet.plan.to_sql.person_bounds import PERSON, limbs, person_limbs
from discreet.plan.to_sql.rows import (
    GROUP,
    Relations,
    code_sql,
    coded_columns,
    group_sql,
    rows_sql,
    tables_under,
    whole_people,
)


@dataclass(frozen=True, slots=True)
class SettledPlan:
    """A plan and its keys, settled for one unit: the SQL of its rows, and of the groups they fall into."""

    plan: Plan
    keys: Keys
    unit: Unit
    reach: int  # the most rows that come from one unit
    columns: Mapping[str, Column]
    rows: str
    whole: bool
    coded: frozenset[str]
    dialect: Dialect
    is_weighed: bool = False

    @classmethod
    def of(cls, plan: Plan, keys: Keys, relations: Relations, dialect: Dialect, unit: Unit | None) -> SettledPlan:
        """Check that the plan is sound and stable, and write its rows."""
        tables = tables_under(relations)
        columns = columns_of(plan, tables)
        settled = unit or unit_of(plan, tables)
        stability(plan, settled, tables, groups=bool(keys.columns))
        rows = rows_sql(plan, relations, settled, dialect)
        whole, coded = whole_people(plan, relations), coded_columns(plan, relations)
        return cls(plan, keys, settled, reach(plan, settled, tables), columns, rows, whole, coded, dialect)

    @property
    def codes(self) -> tuple[str, ...]:
        """The names of the columns that tell groups apart: a code for each key, or its value where it is selected."""
        return tuple(f'"~k{place}"' for place in range(len(self.keys.columns)))

    @property
    def grouping(self) -> tuple[str, ...]:
        """The columns that tell people and groups apart, named."""
        people = () if self.unit.is_row else (PERSON,)
        if self.keys.selected:
            of = [self.dialect.quote(key.of.name or key.name) for key in self.keys.columns]
        else:
            of = [code_sql(key, self.coded, self.dialect, late=self.is_late) for key in self.keys.columns]
        return (*people, *(f"{sql} AS {name}" for sql, name in zip(of, self.codes, strict=True)))

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of what a group is known by in the answer."""
        if self.keys.selected:
            return self.codes
        return (GROUP,) if self.keys.columns else ()

    def in_groups(self, sql: str) -> str:
        """Leave out what is in no group, and put the place of the group for its codes."""
        if not self.keys.columns:
            return sql
        condition = " AND ".join(f"{name} IS NOT NULL" for name in self.groups)
        if not self.keys.selected:
            group = group_sql(self.keys, self.codes, self.coded, self.dialect, late=self.is_late)
            # Once: else a planner might ask which group a row is in before it adds rows up, for every row.
            sql = self.dialect.once(select(("*", f"{group} AS {GROUP}"), sql))
        return select("*", sql, where=condition)

    @property
    def is_bounded(self) -> bool:
        """Whether people's rows or groups have to be bounded in the query."""
        if self.unit.is_row or has_one_each(self.plan):
            return False
        return self.unit.bound == "query" or (bool(self.keys.columns) and self.bounds_groups)

    @property
    def bounds_groups(self) -> bool:
        """Whether the groups of one person have to be bounded, since their rows could fall into more."""
        return not self.unit.is_row and self.unit.max_groups < self.reach

    @property
    def cap(self) -> GroupCap | None:
        """What weights keep to in each group, where that is declared."""
        return GroupCap.of(self.reach, self.unit, self.keys)

    @property
    def is_late(self) -> bool:
        """Whether rows are grouped by the values of keys, whose places are found afterwards."""
        return self.is_weighed or not self.is_bounded

    @property
    def people(self) -> list[str]:
        """Who a row belongs to, as small numbers."""
        return person_limbs(self.whole, self.dialect)

    @property
    def group_limbs(self) -> list[str]:
        """The group of a row, as small numbers."""
        if not self.keys.selected:
            return list(self.groups)
        columns = zip(self.keys.columns, self.groups, strict=True)
        return [limb for key, name in columns for limb in limbs(key.of, name, self.dialect)]
