"""Cut rows: what is counted of each person, what one person changes, and what is refused."""

import pytest

import discreet as dp
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.plan.keys import NO_KEYS, Tally, TallyQuery, keys_of
from discreet.plan.nodes import Scan, columns_of
from discreet.plan.person_plans import cut_aggregates, cut_plan
from discreet.plan.stability import UnboundedSensitivity
from discreet.plan.to_sql.scalar import Relation
from discreet.plan.to_sql.tally_tables import tallied
from discreet.plan.types import type_of
from tests.plan.relational import SECRET

UNIT = dp.person("id", max_rows=2)
COLUMNS = {"g": dp.one_of("A", "B"), "x": dp.between(0, 9), "note": dp.text()}
NAMED = {name: column.named(name) for name, column in COLUMNS.items()}
TABLES = {"t": dp.Table("t", UNIT, COLUMNS)}


def cut(rows, keys=None, most=5):
    """The exact numbers of people above the bound, and of their rows beyond it, for rows of (person, group)."""
    plan = cut_plan(Scan("t"), keys, UNIT, most)
    tallies = tuple(Tally("sum", each.expressions) for each in cut_aggregates(2, most).values())
    written = ", ".join(f"({who}, {'NULL' if g is None else repr(g)}, 1, 'a')" for who, g in rows)
    source = f'(VALUES {written}) AS r("id", "g", "x", "note")'
    physical = {"id": "BIGINT", "g": "VARCHAR", "x": "INTEGER", "note": "VARCHAR"}
    with DuckDBEngine(SECRET, threads=2) as engine:
        relations = {"t": Relation(TABLES["t"], physical, source)}
        ((people, beyond),) = opened(tallied(engine, TallyQuery(plan, NO_KEYS, tallies), relations))
    return people, beyond


def test_people_above_the_bound_and_their_rows_up_to_the_second_bound_are_counted():
    rows = [*[(1, "A")] * 2, *[(2, "A")] * 3, *[(3, "B")] * 9, *[("NULL", "A")] * 9]
    assert cut(rows) == (2, 1 + 3)  # of nine rows five are looked at
    assert cut(rows, most=100) == (2, 1 + 7)


def test_rows_in_no_group_are_not_counted_against_the_bound():
    rows = [*[(1, "A")] * 3, *[(2, "A")] * 2, *[(2, None)] * 3, *[(3, "A"), (3, "B"), (3, "B")]]
    assert cut(rows) == (3, 1 + 3 + 1)
    assert cut(rows, keys_of(("g",), NAMED)) == (2, 1 + 1)
    assert cut(rows, keys_of(("g",), NAMED, {"g": ["A"]})) == (1, 1)


def test_one_person_changes_the_people_by_one_and_the_rows_by_the_distance_of_the_bounds():
    columns = columns_of(cut_plan(Scan("t"), None, UNIT, 30), TABLES)
    people, rows = (type_of(each.expressions[0], columns) for each in cut_aggregates(2, 30).values())
    assert people.steps == (0, 1)
    assert rows.steps == (0, 28)


@pytest.mark.parametrize("most", [2, 1, True, 2.5, None])
def test_a_second_bound_that_is_no_larger_is_refused(most):
    with pytest.raises(BadParameter, match="a second bound"):
        cut_plan(Scan("t"), None, UNIT, most)


def test_where_nothing_is_cut_or_groups_are_not_known_it_is_refused():
    with pytest.raises(UnboundedSensitivity):
        cut_plan(Scan("t"), None, dp.row(), 5)
    with pytest.raises(BadParameter, match="no rows are cut in the question"):
        cut_plan(Scan("t"), None, dp.person("id", max_rows=2, bound="table"), 5)
    with pytest.raises(BadParameter, match="column by column"):
        cut_plan(Scan("t"), keys_of(("note",), NAMED), UNIT, 5)
    with pytest.raises(BadParameter, match="column by column"):
        cut_plan(Scan("t"), keys_of(("g",), NAMED).chosen([("A",)]), UNIT, 5)
