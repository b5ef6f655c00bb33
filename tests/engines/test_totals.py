"""Totals of people: every engine gives the integers of the plain Python evaluator."""

import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.plan.keys import TallyQuery, keys_of
from discreet.plan.nodes import Scan, columns_of
from discreet.plan.stability import unit_of
from discreet.plan.to_sql.tally_tables import tallied
from tests.plan import worlds
from tests.plan.relational import Oracle
from tests.plan.to_sql.test_people import people_of, question_of
from tests.plan.to_sql.test_person_totals import TOTALS
from tests.plan.totals import totalled
from tests.plan.worlds import Chance


@pytest.mark.parametrize("kind", ["groups", "table"])
@pytest.mark.parametrize("operators", [["derive"], ["union"]], ids=" ".join)
def test_totals_of_people_are_those_of_the_reference(subject, kind, operators):
    chance = Chance("totals of engines", kind, operators)
    world = worlds.world_of(chance, worlds.unit_of(chance, kind))
    tables = {name: data.table for name, data in world.items()}
    plan = worlds.plan_of(chance, operators)
    keys = keys_of(("ward",), columns_of(plan, tables))
    relations = {name: subject.loaded(data) for name, data in world.items()}
    question = TallyQuery(plan, keys, tuple(TOTALS))
    found = opened(tallied(subject.engine, question, relations, subject.dialect))
    assert found == totalled(Oracle(), question, world, unit_of(plan, tables))
    assert any(map(any, found))


@pytest.mark.parametrize("whole", [True, False])
def test_the_rows_of_people_are_those_of_the_reference(subject, whole):
    chance = Chance("people of engines", whole)
    data = worlds.table_of(chance, dp.person("id", max_rows=4), whole=whole)
    world, tables = {"t": data}, {"t": data.table}
    plan = people_of(Scan("t"), tables)
    question = question_of(plan, tables)
    found = opened(tallied(subject.engine, question, {"t": subject.loaded(data)}, subject.dialect))
    assert found == Oracle().tallied(question, world, unit_of(plan, tables))
    assert any(map(any, found))
