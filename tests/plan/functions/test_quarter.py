"""quarter(): the quarter of every day, its bounds, and its words in SQL."""

import datetime as dt

import duckdb
import pytest

import discreet as dp
from discreet.core.errors import Refusal
from discreet.plan.expressions import Name
from discreet.plan.to_sql.scalar import expression_sql
from discreet.plan.types import type_of

DAYS = {"day": dp.date("1999-11-30", "2004-03-01").named("day"), "spring": dp.date("2020-02-01", "2020-05-01")}
DAYS["spring"] = DAYS["spring"].named("spring")


def test_the_quarter_of_every_day_is_that_of_its_month():
    first = dt.date(1999, 11, 30)
    days = [first + dt.timedelta(n) for n in range(1554)]
    listed = ", ".join(f"({(day - dt.date(1970, 1, 1)).days})" for day in days)
    sql = f'SELECT {expression_sql(Name("day").quarter(), DAYS)} FROM (VALUES {listed}) AS t("day")'
    assert [found for (found,) in duckdb.sql(sql).fetchall()] == [(day.month - 1) // 3 + 1 for day in days]


def test_its_bounds_are_those_of_the_days():
    assert type_of(Name("day").quarter(), DAYS).bounds == (1, 4)
    assert type_of(Name("spring").quarter(), DAYS).bounds == (1, 2)


def test_only_days_have_a_quarter():
    with pytest.raises(Refusal, match="have a quarter"):
        type_of(Name("age").quarter(), {"age": dp.between(0, 99).named("age")})


def test_it_takes_nothing_else():
    with pytest.raises(Refusal, match="it takes 1"):
        Name("day").quarter(3)
