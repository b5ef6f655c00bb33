"""Linked rows in SQL: rows that refer to somebody's, whose owners are looked up after conditions have passed them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from discreet.engines.dialect import Dialect
from discreet.plan.nodes import Derive, Filter, Plan, Scan
from discreet.plan.to_sql.person_bounds import PERSON
from discreet.plan.to_sql.scalar import Relation, code_name


def linked_below(plan: Plan, relations: Mapping[str, Relation]) -> Relation | None:
    """Return the linked table that a plan only filters and derives from, if its rows are still to get their owners."""
    while isinstance(plan, Filter | Derive):
        plan = plan.source
    if not isinstance(plan, Scan):
        return None
    relation = relations[plan.table]
    once = relation.kept or relation.table.unit.bound == "table"
    return None if relation.owners is None or once or relation.unowned else relation


def owned_sql(
    unowned: str, relation: Relation, columns: Iterable[str], coded: Collection[str], dialect: Dialect
) -> str:
    """Write the rows of a linked table that belong to somebody, of those that were read `unowned`.

    Conditions and derived columns are total, and look at a row alone: it makes no difference whether they come before.
    """
    assert relation.owners is not None
    names = [*map(dialect.quote, columns), *(code_name(name, dialect) for name in sorted(coded))]
    return relation.owners.owned(unowned, names, PERSON)
