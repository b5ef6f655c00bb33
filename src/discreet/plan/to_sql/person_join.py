"""Joins of people in SQL: rows of two private tables that belong to the same person."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from discreet.core.column import Column
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import Dialect, select
from discreet.plan.expressions import Compare, Name
from discreet.plan.nodes import MarkJoin, PersonJoin
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
    """Write a join of two sides on the person, and on what else they match by; an outer one keeps all rows of one.

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
        f'({one.sql}) AS "~one" {"LEFT JOIN" if plan.outer else "JOIN"} ({theirs}) AS "~other"'
        f" ON {' AND '.join(conditions)}",
    )


def mark_join_sql(plan: MarkJoin, one: Side, other: Side, whole: bool, dialect: Dialect) -> str:
    """Write the rows of one side with a flag: whether a row of the other belongs to the person and matches.

    The other side is grouped by the person and by what is equal, so that a row of one finds one group of it at most: no
    row is repeated, and nobody's many rows make many pairs. A comparison asks for the least and the greatest value of
    the group, one of which fulfils it where any value does.
    """
    person = PERSON if whole else dialect.cast(PERSON, dialect.text)
    met = [(f"~m{place}", name) for place, (_, name) in enumerate(plan.on)]
    columns = {**one.columns, **{mark: other.columns[name].named(mark) for mark, name in met}}
    found = f"{_MET} IS NOT NULL"
    ends = []
    if plan.compare is not None:
        ours, order, theirs = plan.compare
        wanted = {"<": "max", "<=": "max", ">": "min", ">=": "min"}.get(order)
        words = ("min", "max") if wanted is None else (wanted,)
        ends = [f'{word}({dialect.quote(theirs)}) AS "~{word}"' for word in words]
        columns |= {f"~{word}": replace(other.columns[theirs], nullable=True).named(f"~{word}") for word in words}
        found = " OR ".join(
            expression_sql(Compare(order, Name(ours), Name(f"~{word}")), columns, dialect)  # type: ignore[arg-type]
            for word in words
        )
    matches = [f"{person} = {_MET}"]
    for (mine, _), (mark, _) in zip(plan.on, met, strict=True):
        matches.append(expression_sql(Compare("==", Name(mine), Name(mark)), columns, dialect))
    chosen = [f"{person} AS {_MET}", *(f"{dialect.quote(name)} AS {dialect.quote(mark)}" for mark, name in met)]
    by = [_MET, *(dialect.quote(mark) for mark, _ in met)]
    kept_ends = [dialect.quote(plan.compare[2])] if plan.compare is not None else []
    theirs_sql = select((*by, *ends), select((*chosen, *kept_ends), other.sql), by=tuple(by))
    kept = [*map(dialect.quote, one.columns), *(code_name(name, dialect) for name in sorted(one.coded))]
    return select(
        (*kept, f"COALESCE({found}, FALSE) AS {dialect.quote(plan.name)}", f"{person} AS {PERSON}"),
        f'({one.sql}) AS "~one" LEFT JOIN ({theirs_sql}) AS "~other" ON {" AND ".join(matches)}',
    )
