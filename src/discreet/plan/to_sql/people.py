"""People in SQL: one row for each person, of aggregates over all of their rows, each clamped to its bounds."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.column import Column
from discreet.engines.dialect import MOST_ROWS, Dialect, select
from discreet.plan.nodes import PerPerson
from discreet.plan.per_person import PART, OwnValue, own_column
from discreet.plan.to_sql.own_sums import summed
from discreet.plan.to_sql.person_bounds import PERSON
from discreet.plan.to_sql.scalar import expression_sql
from discreet.plan.types import type_of
from discreet.plan.whole import Whole


def people_sql(plan: PerPerson, rows: str, columns: Mapping[str, Column], dialect: Dialect) -> str:
    """Write a relation of people, given the SQL of the rows underneath and their columns.

    Guarantee: every value is null or within `own_column`, whatever and however many a person's rows are.
    """
    values, added, clamped = [], [], []
    for place, value in enumerate(plan.values):
        if value.of is not None:
            values.append(f'{expression_sql(value.of, columns, dialect)} AS "~x{place}"')
        made = own_column(value, columns, plan.rows)
        added += _added(value, place, columns, dialect)
        clamped.append(f"{_clamped(value, place, columns, made, dialect)} AS {dialect.quote(value.name)}")
    read = select((PERSON, *values), rows, where=f"{PERSON} IS NOT NULL")
    # Once: what is clamped is named several times.
    return select((PERSON, *clamped), dialect.once(select((PERSON, *added), read, by=(PERSON,))))


def _added(value: OwnValue, place: int, columns: Mapping[str, Column], dialect: Dialect) -> list[str]:
    """Write what is added up of a person's rows for one value."""
    if value.of is None:
        return [f'count(*) AS "~n{place}"']
    name, count = f'"~x{place}"', f'count("~x{place}") AS "~n{place}"'
    if value.word == "count":
        return [count]
    if value.word in ("min", "max"):
        return [f'{value.word}({name}) AS "~s{place}"']
    total = f'{summed(name, type_of(value.of, columns).steps, dialect).sql} AS "~s{place}"'
    return [total, count] if value.word == "mean" else [total]


def _clamped(value: OwnValue, place: int, columns: Mapping[str, Column], made: Column, dialect: Dialect) -> str:
    """Write one value of a person from what was added up, in the steps of its column."""
    rows = Whole.of(dialect.cast(f'"~n{place}"', dialect.narrow), (0, MOST_ROWS), dialect)
    if value.word == "count":
        return rows.clamped(*made.steps).stored
    assert value.of is not None
    column = type_of(value.of, columns)
    low, high = column.steps
    if value.word in ("min", "max"):
        return f'"~s{place}"'
    name = f'"~s{place}"'
    sums = summed(name, (low, high), dialect)
    total = Whole(name, sums.low, sums.high, dialect, wide=sums.wide)
    if value.word == "sum":
        return total.clamped(*made.steps).stored
    # The mean lies between low and high: twice its numerator and the rows, over twice the rows, rounds halves up.
    above = total.minus(rows.scaled(low)).within(0, (high - low) * MOST_ROWS)
    rounded = above.scaled(2 * PART).plus(rows).over(rows.scaled(2), 0, (high - low) * PART)
    return rounded.shifted(low * PART).clamped(*made.steps).stored
