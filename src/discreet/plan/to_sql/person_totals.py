"""Totals of people in SQL: what each adds up to within a group, clamped, and then added up.

No row is left out: a total is bounded by itself, however many rows it is made of. Only the groups of a person are
bounded, by the secret order. Rows without an identifier are nobody's, and add nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.core.column import Column
from discreet.core.unit import Unit
from discreet.engines.dialect import MOST_ROWS, WIDE, Dialect, select
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.plan.expressions import Expression
from discreet.plan.keys import Tally, TallyQuery
from discreet.plan.refusals import too_wide
from discreet.plan.stability import groups_of_one
from discreet.plan.to_sql.own_sums import summed
from discreet.plan.to_sql.person_bounds import PERSON, first_groups, ordered_groups
from discreet.plan.to_sql.rows import Relations
from discreet.plan.to_sql.scalar import expression_sql
from discreet.plan.to_sql.statement import EngineStatement, SettledPlan
from discreet.plan.types import type_of
from discreet.plan.whole import Whole


def totals_sql(
    question: TallyQuery, relations: Relations, dialect: Dialect = DUCKDB, unit: Unit | None = None
) -> EngineStatement:
    """Write totals of people as one statement that reads its tables once.

    Guarantee: between neighbours the answers differ in at most `groups_of_one` groups, in each by at most the `most` of
    the tally; under replace by a removal and an addition. A person without a value in a group adds nothing there.
    """
    asked = SettledPlan.of(question.source, question.keys, relations, dialect, unit)
    numbered = list(enumerate(question.tallies))
    check_totals(question.tallies, asked.columns)
    values = [f'{expression_sql(tally.of[0], asked.columns, dialect)} AS "~x{n}"' for n, tally in numbered]
    rows = select("*", select((*asked.grouping, *values), asked.rows), where=f"{PERSON} IS NOT NULL")
    bounds = [type_of(tally.of[0], asked.columns).steps for tally in question.tallies]
    sums = [summed(f'"~x{n}"', bounds[n], dialect) for n, _ in numbered]
    by = (PERSON, *asked.codes)
    added = asked.in_groups(select((*by, *(f'{each.sql} AS "~s{n}"' for n, each in enumerate(sums))), rows, by=by))
    clamped = [
        Whole(f'"~s{n}"', each.low, each.high, dialect, wide=each.wide).clamped(*_within(tally))
        for (n, tally), each in zip(numbered, sums, strict=True)
    ]
    each_person = (PERSON, *asked.groups, *(f'{each.stored} AS "~v{n}"' for n, each in enumerate(clamped)))
    totals = select(each_person, added)
    most = groups_of_one(asked.reach, asked.unit, asked.keys)
    if asked.groups and (asked.keys.selected or most < asked.keys.size):
        keyed = ordered_groups(totals, asked.group_limbs, asked.people, dialect)
        totals = first_groups(keyed, asked.groups, most)
    totalled = [dialect.total(f'"~v{n}"', *_within(tally)) for n, tally in numbered]
    found = [f"COALESCE({each}, 0)" for each in totalled]
    answer = select((*(asked.groups or ("0",)), *found), totals, by=asked.groups)
    names = ("group",) if not question.keys.selected else question.keys.names
    return EngineStatement(answer, (*names, *(tally.kind for tally in question.tallies)))


def check_totals(tallies: Sequence[Tally], columns: Mapping[str, Column]) -> None:
    """Refuse totals that are too large to be added up exactly, whatever a person's rows hold."""
    for tally in tallies:
        check_sum(tally.of[0], type_of(tally.of[0], columns))
        if tally.most(columns) * MOST_ROWS >= WIDE:
            raise too_wide(tally.of[0])


def check_sum(of: Expression, column: Column) -> None:
    """Refuse an expression whose values, of any number of rows, might add up to more than 126 bits."""
    if max(map(abs, column.steps)) * MOST_ROWS >= WIDE:
        raise too_wide(of)


def _within(tally: Tally) -> tuple[int, int]:
    assert tally.within is not None
    return tally.within
