"""Tally tables: the exact integers of a question, as an engine finds them; nobody looks at them but a door."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.doors import kernel
from discreet.core.exact import Exact
from discreet.core.unit import Unit
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.engine import Engine
from discreet.plan.keys import TallyQuery
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
    return Exact(in_order(engine.rows(tallies_sql(question, relations, dialect, unit).sql), question))


@kernel
def single(table: Sequence[Sequence[int]]) -> int:
    """Return the one number of a table of one row and one column."""
    ((number,),) = table
    return int(number)
