"""A question reads the columns that it names: others are in no statement, and rows are bounded as if they were."""

import re

import pytest

import discreet as dp
from discreet.core.value import replace
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.plan.expressions import Name
from discreet.plan.keys import Tally, TallyQuery, keys_of
from discreet.plan.nodes import Derive, Filter, Join, Scan, columns_of, public
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.statement import in_order, tallies_sql

MANY = 60
COLUMNS = {"ward": dp.one_of("A", "B"), **{f"c{place}": dp.between(0, 100) for place in range(MANY)}}
ROWS = ", ".join(
    f"({row % 7}, '{'AB'[row % 2]}', {', '.join(str((row * place) % 101) for place in range(MANY))})"
    for row in range(100)
)
SOURCE = f"(VALUES {ROWS}) AS v(id, ward, {', '.join(f'c{place}' for place in range(MANY))})"
UNITS = {
    "rows": dp.row(),
    "people": dp.person("id", max_rows=3),
    "table": replace(dp.person("id", max_rows=3), bound="table"),
}


def _relations(unit, columns=COLUMNS):
    kinds = {"id": "INTEGER", "ward": "VARCHAR", **{f"c{place}": "INTEGER" for place in range(MANY)}}
    return {"t": Relation(dp.Table("t", unit, columns), kinds, SOURCE)}


def _asked(plan, tallies, relations):
    keys = keys_of(["ward"], columns_of(plan, {"t": relations["t"].table}))
    return TallyQuery(plan, keys, tallies, weighed=True)


PLANS = {
    "scan": Scan("t"),
    "condition": Filter(Scan("t"), Name("c1") > 50),
    "derived": Filter(Derive(Scan("t"), "d", Name("c1") + Name("c2")), Name("d") > 20),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("unit", ["rows", "people"])
def test_columns_that_nothing_names_are_not_read(plan, unit):
    relations = _relations(UNITS[unit])
    sql = tallies_sql(_asked(plan, (Tally("rows"), Tally("sum", (Name("c3"),))), relations), relations).sql
    selected = sql.replace(SOURCE, "")
    assert {*re.findall(r'"(c\d+)"', selected)} <= {"c1", "c2", "c3"}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("unit", UNITS)
def test_other_columns_change_no_answer(plan, unit):
    tallies = (Tally("rows"), Tally("sum", (Name("c3"),)), Tally("people"))
    answers = []
    for columns in (COLUMNS, {name: COLUMNS[name] for name in ("ward", "c1", "c2", "c3")}):
        relations = _relations(UNITS[unit], columns)
        question = _asked(plan, tallies, relations)
        with DuckDBEngine(secret=b"of the vault", threads=1) as engine:
            found = tallies_sql(question, relations, engine=engine).sql
            answers.append(in_order(engine.rows(found), question))
    if unit != "table":  # there all declared columns decide which rows are kept
        assert answers[0] == answers[1]
    assert any(any(row) for row in answers[0])


def test_where_a_row_is_placed_by_all_of_its_columns_all_are_read():
    relations = _relations(UNITS["table"])
    assert '"c59"' in tallies_sql(_asked(Scan("t"), (Tally("rows"),), relations), relations).sql
    joined = Join(Scan("t"), public("wards", {"w": ["A", "A", "B"], "x": [1, 2, 3]}), (("ward", "w"),))
    relations = _relations(UNITS["people"])
    assert '"c59"' in tallies_sql(_asked(joined, (Tally("rows"),), relations), relations).sql


def test_who_has_too_many_rows_is_found_once_for_questions_about_different_columns():
    relations, made = _relations(UNITS["people"]), []
    with DuckDBEngine(secret=b"of the vault", threads=1) as engine:
        run = engine.run
        engine.run = lambda sql, parameters=(): made.append(sql) or run(sql, parameters)
        for name in ("c3", "c4"):
            tallies_sql(_asked(Scan("t"), (Tally("sum", (Name(name),)),), relations), relations, engine=engine)
    assert sum("~rows of many" in sql for sql in made) == 1
