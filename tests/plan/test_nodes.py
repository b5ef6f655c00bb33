"""Plans: what columns they have, what they refuse, and how they travel as JSON."""

import datetime as dt
import json

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.plan.expressions import Name
from discreet.plan.nodes import (
    MOST_SCANS,
    Derive,
    Filter,
    Join,
    MarkJoin,
    PersonJoin,
    Project,
    Public,
    Scan,
    Union,
    columns_of,
    public,
    scans,
    stored,
    tables_of,
)
from discreet.plan.serial import plan_from_record, plan_record
from tests.plan import worlds
from tests.plan.worlds import Chance

TABLES = {"t": dp.Table("t", dp.row(), worlds.COLUMNS), "u": dp.Table("u", dp.row(), {"age": dp.between(0, 9)})}


def test_columns_follow_from_the_declarations():
    plan = Join(Derive(Scan("t"), "twice", Name("n") * 2), worlds.WARDS, (("ward", "ward"),))
    columns = columns_of(plan, TABLES)
    assert list(columns) == [*worlds.COLUMNS, "twice", "floor", "old"]
    assert columns["twice"].steps == (0, 1000)
    assert columns["twice"].step == 2
    assert columns["floor"].steps == (1, 9)


def test_a_projection_has_the_columns_that_are_named_under_their_new_names():
    columns = columns_of(Project(Scan("t"), (("price", "x"), ("n", "n"), ("x", "ward"))), TABLES)
    assert [(name, column.name, column.kind) for name, column in columns.items()] == [
        ("price", "price", "number"),
        ("n", "n", "number"),
        ("x", "x", "category"),
    ]


def test_a_join_of_people_has_the_columns_of_one_and_those_taken_from_the_other():
    plan = PersonJoin(Scan("u"), Scan("t"), (("age", "n"),), 2, (("ward", "ward"), ("their_age", "n")))
    columns = columns_of(plan, TABLES)
    assert [(name, column.name) for name, column in columns.items()] == [
        ("age", "age"),
        ("ward", "ward"),
        ("their_age", "their_age"),
    ]
    assert tables_of(plan) == ("t", "u")
    assert scans(Union(plan, plan)) == 4
    assert list(columns_of(PersonJoin(Scan("u"), Scan("t")), TABLES)) == ["age"]


def test_a_plan_that_reads_tables_without_end_is_refused():
    plan = Scan("t")
    for _ in range(6):
        plan = Union(plan, plan)
    assert scans(plan) == MOST_SCANS
    for doubled in (Union, PersonJoin):
        with pytest.raises(BadParameter, match="at most 64 tables"):
            doubled(plan, plan)


def test_a_union_has_bounds_that_hold_both_sides():
    other = dp.Table("v", dp.row(), {"age": dp.between(5, 20)})
    columns = columns_of(Union(Scan("u"), Scan("v")), {**TABLES, "v": other})
    assert columns["age"].steps == (0, 20)
    assert tables_of(Union(Scan("v"), Union(Scan("u"), Scan("v")))) == ("u", "v")


def test_a_flag_of_other_rows_is_a_column_more_and_what_a_left_join_adds_may_be_null():
    marked = MarkJoin(Scan("u"), Scan("t"), (), ("age", "<=", "n"), "found")
    found = columns_of(marked, TABLES)
    assert list(found) == ["age", "found"]
    assert (found["found"].kind, found["found"].nullable) == ("flag", False)
    assert (tables_of(marked), scans(marked)) == (("t", "u"), 2)
    strict = {"t": dp.Table("t", worlds.unit_of(worlds.Chance(1), "rows"), {"n": dp.between(0, 9, nullable=False)})}
    for outer in (False, True):
        joined = PersonJoin(Scan("t"), Scan("t"), columns=(("theirs", "n"),), outer=outer)
        assert columns_of(joined, strict)["theirs"].nullable == outer
    assert [plan_record(plan_from_record(plan_record(each))) for each in (marked, joined)] == [
        plan_record(marked),
        plan_record(joined),
    ]


@pytest.mark.parametrize(
    "plan",
    [
        Filter(Scan("t"), Name("n") + 1),
        Derive(Scan("t"), "WARD", Name("n")),
        Derive(Scan("t"), "~person", Name("n")),
        Join(Scan("t"), worlds.WARDS, ()),
        Join(Scan("t"), worlds.WARDS, (("n", "ward"),)),
        Union(Scan("t"), Scan("u")),
        Project(Scan("t"), ()),
        Project(Scan("t"), (("a", "n"), ("A", "x"))),
        Project(Scan("t"), (("~person", "n"),)),
        PersonJoin(Scan("t"), Scan("t"), (), None, (("n", "n"),)),
        PersonJoin(Scan("t"), Scan("u"), (("ward", "age"),)),
        PersonJoin(Scan("t"), Scan("u"), (), 0),
        PersonJoin(Scan("t"), Scan("u"), (), True),
        MarkJoin(Scan("t"), Scan("u"), (("ward", "age"),), None, "found"),
        MarkJoin(Scan("t"), Scan("u"), (), None, "WARD"),
        MarkJoin(Scan("t"), Scan("u"), (), None, "~found"),
        MarkJoin(Scan("t"), Scan("t"), (), ("ill", "!=", "ill"), "found"),
        MarkJoin(Scan("t"), Scan("t"), (), ("ward", "<", "ward"), "found"),
        MarkJoin(Scan("t"), Scan("t"), (), ("n", "=", "n"), "found"),
        MarkJoin(Scan("t"), Scan("t"), (), ("n", "<", "x_"), "found"),
        Union(Scan("u"), Derive(Filter(Scan("t"), Name("ill")), "age", Name("n"))),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused_with_a_fix(plan):
    with pytest.raises(Refusal) as refused:
        columns_of(plan, TABLES)
    assert refused.value.fix


@pytest.mark.parametrize(
    ("plan", "near"),
    [
        (Scan("tt"), "t"),
        (Filter(Scan("t"), Name("warde") == "A"), "ward"),
        (Join(Scan("t"), worlds.WARDS, (("wards", "ward"),)), "ward"),
        (Join(Scan("t"), worlds.WARDS, (("ward", "wart"),)), "ward"),
        (Project(Scan("t"), (("a", "wart"),)), "ward"),
        (PersonJoin(Scan("u"), Scan("t"), (), None, (("a", "wart"),)), "ward"),
        (PersonJoin(Scan("t"), Scan("t"), (("ward", "wart"),)), "ward"),
        (PersonJoin(Scan("t"), Scan("t"), (("wart", "ward"),)), "ward"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(plan, near):
    with pytest.raises(UnknownName) as refused:
        columns_of(plan, TABLES)
    assert near in refused.value.near


def test_a_public_table_is_read_off_its_values():
    found = public(
        "p", {"day": [dt.date(2024, 2, 29), None], "cost": [0.1, 0.25], "code": ["x", "y"], "old": [True, None]}
    )
    assert [column.kind for column in found.columns] == ["date", "number", "category", "flag"]
    assert found.columns[1].steps == (2, 5)
    assert found.rows == ((19782, 2, "x", True), (None, 5, "y", None))
    assert found.fan_out(("code",)) == 1
    assert found.fan_out(("day",)) == 1


@pytest.mark.parametrize("data", [{}, {"a": [1], "b": [1, 2]}, {"a": [None]}, {"a": [object()]}])
def test_a_public_table_without_shape_is_refused(data):
    with pytest.raises(BadParameter):
        public("p", data)


def test_a_value_off_the_grid_is_refused():
    with pytest.raises(BadParameter):
        stored(dp.between(0, 10, step=0.5), 0.3)
    assert stored(dp.between(0, 10, step=0.5), 1.5) == 3


@pytest.mark.parametrize("seed", range(50))
def test_plans_travel_as_json(seed):
    chance = Chance("serial", seed)
    operators = ["filter", "derive", "project", "join", "join numbers", "union", "meet itself"]
    plan = worlds.plan_of(chance, chance.some(operators, 2)[:1])
    text = json.dumps(plan_record(plan), sort_keys=True)
    back = plan_from_record(json.loads(text))
    assert json.dumps(plan_record(back), sort_keys=True) == text
    assert columns_of(back, TABLES) == columns_of(plan, TABLES)


@pytest.mark.parametrize(
    "record",
    [
        None,
        {"node": "drop"},
        {"node": "scan"},
        {"node": "scan", "table": 1},
        {"node": "scan", "table": "t", "x": 1},
        {"node": "project", "source": {"node": "scan", "table": "t"}, "columns": [["n"]]},
        {"node": "project", "source": {"node": "scan", "table": "t"}, "columns": "n"},
        {**plan_record(PersonJoin(Scan("t"), Scan("u"))), "most": -1},
        {**plan_record(PersonJoin(Scan("t"), Scan("u"))), "on": [["n", 1]]},
        {**plan_record(MarkJoin(Scan("t"), Scan("u"), (), None, "found")), "name": 1},
        {**plan_record(MarkJoin(Scan("t"), Scan("u"), (), None, "found")), "compare": ["n", "<"]},
        {**plan_record(MarkJoin(Scan("t"), Scan("u"), (), None, "found")), "compare": 3},
    ],
)
def test_a_changed_record_is_refused(record):
    with pytest.raises(Refusal):
        plan_from_record(record)


def test_a_record_nested_without_end_is_refused():
    record = {"node": "scan", "table": "t"}
    for _ in range(300):
        record = {"node": "union", "one": record, "other": {"node": "scan", "table": "t"}}
    with pytest.raises(BadParameter):
        plan_from_record(record)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (dp.date("2020-01-01", "2020-12-31"), "yesterday"),
        (dp.date("2020-01-01", "2020-12-31"), "2020-02-30"),
        (dp.between(0, 110), 2**126),
        (dp.between(0, 110), -(10**60)),
        (dp.between(0, 1, step=1e-30), 10**9),
        (dp.text(), "a\0b"),
        (dp.text(), "\ud800"),
    ],
)
def test_what_no_engine_could_compare_with_a_row_is_refused_before_there_are_rows(column, value):
    with pytest.raises(BadParameter) as refused:
        stored(column.named("x"), value)
    assert refused.value.value == value
    assert stored(dp.between(0, 110).named("x"), 2**126 - 1) == 2**126 - 1


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (dp.between(0, 1), 1000),
        (dp.between(0, 1), "abc"),
        (dp.between(0, 1), True),
        (dp.date("2020-01-01", "2020-12-31"), 0),
        (dp.flag(), 1),
        (dp.one_of(0, 1), True),
        (dp.one_of("A"), "B"),
        (dp.text(), 5),
        (dp.text(), "a\0b"),
    ],
)
def test_a_public_table_holds_nothing_but_what_its_columns_declare(column, value):
    record = plan_record(Join(Scan("t"), worlds.WARDS, (("ward", "ward"),)))
    record["public"] |= {"columns": [column.named("x").record()], "rows": [[None], [value]]}
    with pytest.raises(BadParameter):
        plan_from_record(record)
    with pytest.raises(BadParameter):
        Public("p", (column.named("x"),), ((None,), (value,)))


def test_a_public_column_is_matched_by_one_of_ours():
    halves = public("halves", {"k": [0.5, 1], "v": [1, 2]})
    with pytest.raises(BadParameter):
        columns_of(Join(Scan("t"), halves, (("n", "k"), ("x", "k"))), TABLES)
