"""Tally tables: the exact integers of a question, as an engine finds them; nobody looks at them but a door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.core.doors import kernel
from discreet.core.exact import Exact
from discreet.core.unit import Unit
from discreet.core.value import replace
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.engine import Engine
from discreet.plan.keys import TallyQuery
from discreet.plan.to_sql.person_totals import totals_sql
from discreet.plan.to_sql.rows import Relations
from discreet.plan.to_sql.statement import in_order, tallies_sql

# A row of tallies for each listed group, empty ones too, in the order of the keys.
Table = list[tuple[int, ...]]


def tallied(
    engine: Engine, question: TallyQuery, relations: Relations, dialect: Dialect = DUCKDB, unit: Unit | None = None
) -> Exact[Table]:
    """Return the tallies of every listed group, empty ones too, in the order of the keys.

    Guarantee: of each person at most max_rows rows, in at most max_groups groups, are counted.
    """
    tables = []
    for part, sql in statements_of(question, relations, dialect, unit, engine):
        tables.append(in_order(engine.rows(sql), part))
    return Exact(_merged(question, tables))


def statements_of(
    question: TallyQuery,
    relations: Relations,
    dialect: Dialect = DUCKDB,
    unit: Unit | None = None,
    engine: Engine | None = None,
) -> Iterator[tuple[TallyQuery, str]]:
    """Write the statements that a question takes, each with its part: one for rows, and one for totals of people."""
    for part in _parts(question):
        if part.tallies[0].kind == "total":
            yield part, totals_sql(part, relations, dialect, unit).sql
        else:
            yield part, tallies_sql(part, relations, dialect, unit, engine).sql


def _parts(question: TallyQuery) -> list[TallyQuery]:
    """Return the tallies of rows, and the totals of people, whichever there are."""
    found = ([each for each in question.tallies if (each.kind == "total") == totals] for totals in (False, True))
    return [replace(question, tallies=tuple(each)) for each in found if each]


def _merged(question: TallyQuery, tables: Sequence[Table]) -> Table:
    """Put the tallies back into the order in which they were asked for."""
    if len(tables) == 1:
        return tables[0]
    rows, totals = tables
    merged = []
    for one, other in zip(rows, totals, strict=True):
        left, right = iter(one), iter(other)
        merged.append(tuple(next(right if each.kind == "total" else left) for each in question.tallies))
    return merged


@kernel
def single(table: Sequence[Sequence[int]]) -> int:
    """Return the one number of a table of one row and one column."""
    ((number,),) = table
    return int(number)
