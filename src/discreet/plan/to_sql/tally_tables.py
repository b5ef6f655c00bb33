"""Tally tables: the exact integers of a question, as an engine finds them; nobody looks at them but a door."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.doors import kernel
from discreet.core.exact import Exact
from discreet.core.unit import Unit
from discreet.engines.dialect import DUCKDB, Dialect
from discreet.engines.engine import Engine
from discreet.plan.nodes import Plan
from discreet.plan.tallies import TallyQuery
from discreet.plan.to_sql.rows import Relations, rows_by_person_sql
from discreet.plan.to_sql.statement import in_order, tallies_sql

# A row of tallies for each listed group, empty ones too, in the order of the keys.
Table = list[tuple[int, ...]]


def tallied(
    engine: Engine, question: TallyQuery, relations: Relations, dialect: Dialect = DUCKDB, unit: Unit | None = None
) -> Exact[Table]:
    """Return the tallies of every listed group, empty ones too, in the order of the keys.

    Guarantee: of each person at most max_rows rows, in at most max_groups groups, are counted.
    """
    return Exact(in_order(engine.rows(tallies_sql(question, relations, dialect, unit).sql), question))


def rows_by_person(
    engine: Engine, plan: Plan, relations: Relations, unit: Unit, most: int, dialect: Dialect = DUCKDB
) -> Exact[dict[int, int]]:
    """Return how many people have each number of rows, numbers above `most` counting as `most`.

    Guarantee: one person counts once.
    """
    found = engine.rows(rows_by_person_sql(plan, relations, unit, most, dialect))
    return Exact({int(rows or 0): int(people or 0) for rows, people in found})


@kernel
def picked(table: Sequence[Sequence[int]], places: Sequence[int]) -> Table:
    """Return some of the columns of a table, in the order of `places`."""
    return [tuple(row[place] for place in places) for row in table]


@kernel
def counts_by_group(table: Sequence[Sequence[int]], size: int) -> Table:
    """Return a table of one column as rows of so many of its numbers: the bins of each group."""
    counts = [row[0] for row in table]
    return [tuple(counts[start : start + size]) for start in range(0, len(counts), size)]


@kernel
def single(table: Sequence[Sequence[int]]) -> int:
    """Return the one number of a table of one row and one column."""
    ((number,),) = table
    return int(number)
