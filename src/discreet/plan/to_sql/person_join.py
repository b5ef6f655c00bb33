"""Joins of people in SQL: rows of two private tables that belong to the same person."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from discreet.core.column import Column
from discreet.core.value import dataclass
from discreet.engines.dialect import Dialect, select
from discreet.plan.expressions import Compare, Name
from discreet.plan.nodes import PersonJoin
from discreet.plan.to_sql.person_bounds import PERSON
from discreet.plan.to_sql.scalar import chosen_sql, code_name, expression_sql

# Who a row of the other side belongs to.
_MET = '"~met"'


@dataclass(frozen=True, slots=True)
class Side:
    """The rows of one side: their SQL, their columns, and which of these have codes."""

    sql: str
    columns: Mapping[str, Column]
    coded: Collection[str]


def person_join_sql(plan: PersonJoin, one: Side, other: Side, whole: bool, dialect: Dialect) -> str:
    """Write an inner join of two sides on the person, and on what else they match by.

    `whole` says that both sides tell people apart by whole numbers; otherwise both do by text. Equality is that of
    expressions, so that numbers of different steps meet where they are equal as numbers.
    """
    person = PERSON if whole else dialect.cast(PERSON, dialect.text)
    # Nothing of the other side keeps a name that a column of this one might have.
    met = [(f"~m{place}", name) for place, (_, name) in enumerate(plan.on)]
    taken = [(f"~p{place}", name) for place, (_, name) in enumerate(plan.columns)]
    columns = {**one.columns, **{mark: other.columns[name].named(mark) for mark, name in met}}
    conditions = [f"{person} = {_MET}"]
    for (ours, _), (mark, _) in zip(plan.on, met, strict=True):
        conditions.append(expression_sql(Compare("==", Name(ours), Name(mark)), columns, dialect))
    theirs = select(
        (f"{person} AS {_MET}", *chosen_sql(met, (), dialect), *chosen_sql(taken, other.coded, dialect)), other.sql
    )
    new = [(name, mark) for (name, _), (mark, _) in zip(plan.columns, taken, strict=True)]
    coded = {mark for mark, name in taken if name in other.coded}
    kept = [*map(dialect.quote, one.columns), *(code_name(name, dialect) for name in sorted(one.coded))]
    return select(
        (*kept, *chosen_sql(new, coded, dialect), f"{person} AS {PERSON}"),
        f'({one.sql}) AS "~one" JOIN ({theirs}) AS "~other" ON {" AND ".join(conditions)}',
    )
