"""Statements laid out for people: the same words, readable."""

import pytest

from discreet.plan.keys import Tally, TallyQuery
from discreet.plan.nodes import Join, Scan, columns_of, public
from discreet.plan.stability import unit_of
from discreet.plan.to_sql.pretty import pretty, words
from discreet.plan.to_sql.statement import tallies_sql
from tests.plan import worlds
from tests.plan.worlds import Chance


def relations(world):
    return {
        name: worlds.Relation(data.table, {"id": "BIGINT", **worlds.PHYSICAL}, name) for name, data in world.items()
    }


@pytest.mark.parametrize("operators", [["meet"], ["join", "union"], ["meet union"], ["project"], ["meet twice"]])
def test_no_word_changes(operators):
    chance = Chance("pretty", operators)
    world = worlds.world_of(chance, worlds.unit_of(chance, "groups"))
    plan, tables = worlds.plan_of(chance, operators), {name: data.table for name, data in world.items()}
    question = worlds.question_of(chance, plan, tables)
    sql = tallies_sql(question, relations(world), unit=unit_of(plan, tables)).sql
    assert words(pretty(sql)) == words(sql)
    assert len(pretty(sql).splitlines()) > 20


def test_clauses_and_subqueries_begin_lines():
    sql = """SELECT a, sum(b) FROM (SELECT *, ' FROM (' AS "SELECT ""x" FROM t WHERE a IN (1, 2)) AS q, o GROUP BY a"""
    assert pretty(sql).splitlines() == [
        "SELECT a, sum(b)",
        "FROM (",
        """  SELECT *, ' FROM (' AS "SELECT ""x\"""",
        "  FROM t",
        "  WHERE a IN (1, 2)",
        ") AS q, o",
        "GROUP BY a",
    ]


def test_a_long_list_has_a_line_for_each_column():
    names = [f'"a column with a long name {place}"' for place in range(5)]
    assert pretty(f"SELECT {', '.join(names)} FROM t").splitlines() == [
        "SELECT",
        *(f"  {name}," for name in names[:-1]),
        f"  {names[-1]}",
        "FROM t",
    ]


def test_the_rows_of_a_large_public_table_are_left_out():
    many = public("many", {"number": [*range(1000)], "ward": ["A", "b"] * 500})
    world = worlds.world_of(Chance("rows"), worlds.unit_of(Chance("rows"), "groups"))
    plan = Join(Scan("t"), many, (("ward", "ward"),))
    assert "number" in columns_of(plan, {"t": world["t"].table})
    sql = tallies_sql(TallyQuery(plan, worlds.NO_KEYS, (Tally("rows"),)), relations(world)).sql
    assert "... 995 rows more)" in pretty(sql)
    assert len(pretty(sql)) < 10_000 < len(sql)
