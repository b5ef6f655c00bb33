"""Joins with registered public tables in SQL: their rows as declared, and no more of them for a value than declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.core.column import Column
from discreet.engines.dialect import Dialect, select
from discreet.plan.dimension import Dimension
from discreet.plan.expressions import Compare, Name
from discreet.plan.nodes import added
from discreet.plan.to_sql.scalar import Relation, expression_sql, raw_sql, stored_type

_TIMES = '"~times"'


def dimension_join_sql(
    inner: str,
    columns: Mapping[str, Column],
    joined: Dimension,
    on: Sequence[tuple[str, str]],
    relation: Relation,
    dialect: Dialect,
) -> str:
    """Write an inner join with a registered public table.

    Equality is that of expressions: numbers of different steps meet where they are equal as numbers; null is equal to
    nothing.
    """
    marks = {column.name or "": f"~d{place}" for place, column in enumerate(joined.columns)}
    theirs = {column.name or "": column for column in joined.columns}
    known = {**columns, **{marks[name]: column.named(marks[name]) for name, column in theirs.items()}}
    rows = partners_sql(joined, [name for _, name in on], relation, dialect)
    renamed = [f"{dialect.quote(name)} AS {dialect.quote(mark)}" for name, mark in marks.items()]
    match = " AND ".join(
        expression_sql(Compare("==", Name(ours), Name(marks[name])), known, dialect) for ours, name in on
    )
    new = [
        f"p.{dialect.quote(marks[column.name or ''])} AS {dialect.quote(column.name or '')}"
        for column in added(joined, tuple(on))
    ]
    return select(("r.*", *new), f"({inner}) AS r JOIN ({select(renamed, rows)}) AS p ON {match}")


def partners_sql(joined: Dimension, on: Sequence[str], relation: Relation, dialect: Dialect) -> str:
    """Write the rows of a public table that may be met by values of `on`, every value read as declared.

    Guarantee: no values of `on` are in more rows than the fan-out: those that are in more are in none.
    """
    most = joined.fan_out(on)
    rows = select([read_sql(column, relation, dialect) for column in joined.columns], relation.from_sql)
    keys = [dialect.quote(name) for name in on]
    there = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    names = [dialect.quote(column.name or "") for column in joined.columns]
    if most == 1:
        # Of one row any value is its own, so that the engine looks at no column that is not asked for.
        values = [name if name in keys else f"any_value({name}) AS {name}" for name in names]
        counted = select((*values, f"count(*) AS {_TIMES}"), rows, where=there, by=keys)
    else:
        times = f"count(*) OVER (PARTITION BY {', '.join(keys)}) AS {_TIMES}"
        counted = select((*names, times), rows, where=there)
    return select(names, counted, where=f"{_TIMES} <= {most}")


def read_sql(column: Column, relation: Relation, dialect: Dialect) -> str:
    """Write a column as it was declared; of what was read already, as it is stored."""
    name = dialect.quote(column.name or "")
    if relation.kept:
        return f"{dialect.cast(name, stored_type(column, dialect))} AS {name}"
    return f"{raw_sql(column, relation.physical[column.name or ''], dialect)} AS {name}"
