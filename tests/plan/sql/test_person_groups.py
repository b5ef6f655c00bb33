"""An inner GROUP BY the identifier makes one row for each person; every other inner group is refused."""

import pytest

import discreet as dp
from discreet.plan.nodes import Filter, PerPerson
from discreet.plan.person_plans import people_plan
from discreet.plan.serial import plan_record
from discreet.plan.sql.refusals import SqlRefused
from tests.plan.sql.tables import TABLES, read, read_linked

INNER = "SELECT id, SUM(cost) AS t, COUNT(*) AS n FROM visits GROUP BY id"
MADE = {"t": dp.sum("cost"), "n": dp.count()}


def people(source, **asked):
    return people_plan(source, (asked or MADE).items(), TABLES)


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT AVG(t) FROM ({INNER}) AS people",
        f"WITH people AS ({INNER}) SELECT AVG(people.t) FROM people",
        "SELECT AVG(t) FROM (SELECT SUM(cost) AS t, COUNT(*) AS n FROM visits AS v GROUP BY v.id) AS people",
        'SELECT AVG("t") FROM (SELECT "id" AS who, SUM(cost) AS t, COUNT(*) AS n FROM visits GROUP BY 1) AS people',
    ],
)
def test_it_is_the_plan_of_per_person(text):
    found = read(text)
    inner = read("SELECT COUNT(*) FROM visits").plan
    assert plan_record(found.plan) == plan_record(people(inner))


def test_conditions_stand_inside_and_outside():
    inner = "SELECT id, COUNT(*) AS n FROM visits WHERE urgent GROUP BY id"
    found = read(f"SELECT n, COUNT(*) FROM ({inner}) AS p WHERE n > 1 GROUP BY n")
    assert isinstance(found.plan, Filter)
    assert isinstance(found.plan.source, PerPerson)
    assert isinstance(found.plan.source.source, Filter)


def test_bounds_of_a_person_s_sum_are_written_in_it():
    total = "SUM(cost, contribution_bounds_per_group => (0, 900)) AS t"
    text = f"SELECT AVG(t) FROM (SELECT id, {total} FROM visits GROUP BY id)"
    inner = read("SELECT COUNT(*) FROM visits").plan
    assert plan_record(read(text).plan) == plan_record(people(inner, t=dp.sum("cost", per_person=(0, 900))))


def test_people_are_counted_and_joined_by_their_identifier():
    assert read(f"SELECT COUNT(DISTINCT id) AS n FROM ({INNER}) AS p WHERE t > 3").aggregates[0][1] == dp.people()
    joined = f"WITH p AS ({INNER}) SELECT ward, AVG(t) FROM visits JOIN p ON visits.id = p.id GROUP BY ward"
    assert read(joined).keys.names == ("ward",)


@pytest.mark.parametrize(
    ("inner", "span"),
    [
        ("SELECT ward, SUM(cost) AS t FROM visits GROUP BY ward", "ward"),
        ("SELECT id, SUM(cost) AS t FROM visits GROUP BY id, ward", "ward"),
        ("SELECT SUM(cost) AS t FROM visits GROUP BY 1", "1"),
        ("SELECT id, SUM(cost) AS t FROM visits GROUP BY ROLLUP (id)", "id"),
        ("SELECT x, SUM(x) AS t FROM sales GROUP BY x", "GROUP BY"),
        ("SELECT id, ward, SUM(cost) AS t FROM visits GROUP BY id", "ward"),
        ("SELECT id, SUM(cost) / 2 AS t FROM visits GROUP BY id", "SUM(cost) / 2 AS t"),
        ("SELECT id, MEDIAN(cost) AS t FROM visits GROUP BY id", "MEDIAN(cost)"),
        ("SELECT id, COUNT(DISTINCT id) AS t FROM visits GROUP BY id", "COUNT(DISTINCT id)"),
        ("SELECT id, SUM(cost) AS t, COUNT(*) AS T FROM visits GROUP BY id", "COUNT(*) AS T"),
        ("SELECT id, SUM(cost) AS t FROM visits GROUP BY id HAVING COUNT(*) > 2", "HAVING"),
        ("SELECT id, SUM(cost) AS t FROM visits GROUP BY id ORDER BY t", "ORDER BY"),
    ],
)
def test_other_inner_groups_are_refused_where_they_stand(inner, span):
    with pytest.raises(SqlRefused) as refused:
        read(f"SELECT AVG(t) FROM ({inner}) AS p")
    assert refused.value.value == span


def test_a_relation_of_people_without_values_is_refused():
    with pytest.raises(SqlRefused, match="nothing is computed for each person"):
        read("SELECT COUNT(*) FROM (SELECT id FROM visits GROUP BY id) AS p")


def test_people_behind_a_link_are_not_called_rows():
    with pytest.raises(SqlRefused, match="told by a link") as refused:
        read_linked("SELECT AVG(n) FROM (SELECT orderkey, COUNT(*) AS n FROM items GROUP BY orderkey) AS p")
    assert "rows are protected" not in refused.value.why
