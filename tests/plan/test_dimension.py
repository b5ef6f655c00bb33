"""Registered public tables as questions know them: fan-outs that were declared, records, and what is refused."""

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, UnknownName
from discreet.plan.dimension import Dimension, dimensions_of
from discreet.plan.expressions import Name
from discreet.plan.keys import keys_of
from discreet.plan.nodes import Filter, Join, PersonJoin, Project, Scan, Union, columns_of
from discreet.plan.serial import plan_from_record, plan_record
from discreet.plan.stability import expansion, reach, unit_of

COLUMNS = tuple(
    column.named(name)
    for name, column in {
        "part": dp.between(1, 100),
        "supplier": dp.between(1, 9),
        "cost": dp.between(0, 10, step=0.5),
        "brand": dp.one_of("A", "B"),
    }.items()
)
OFFERS = Dimension("offers", COLUMNS, (), ((("part", "supplier"), 1), (("part",), 4)), 3)
LINES = dp.Table(
    "lines", dp.person("id", max_rows=5), {"part": dp.between(1, 100), "s": dp.between(1, 9), "t": dp.text()}
)
TABLES = {"lines": LINES}
BY_PART = Join(Scan("lines"), OFFERS, (("part", "part"),))
BY_BOTH = Join(Scan("lines"), OFFERS, (("part", "part"), ("s", "supplier")))


def test_the_fan_out_is_the_least_that_was_declared_of_matched_columns():
    assert OFFERS.fan_out(["part"]) == 4
    assert OFFERS.fan_out(["supplier", "part"]) == 1
    assert (expansion(BY_PART, TABLES), expansion(BY_BOTH, TABLES)) == (4, 1)
    assert reach(BY_PART, unit_of(BY_PART, TABLES), TABLES) == 5
    once = {"lines": dp.Table("lines", dp.person("id", max_rows=5, bound="table"), LINES.columns)}
    assert reach(BY_PART, unit_of(BY_PART, once), once) == 20
    rows = {"lines": dp.Table("lines", dp.row(), LINES.columns)}
    assert (reach(BY_PART, dp.row(), rows), reach(BY_BOTH, dp.row(), rows)) == (4, 1)


def test_columns_without_a_fan_out_are_no_way_to_match():
    plan = Join(Scan("lines"), OFFERS, (("s", "supplier"),))
    with pytest.raises(BadParameter, match="not declared how many rows share a value of supplier") as refused:
        columns_of(plan, TABLES)
    assert "match it by part and supplier or part" in refused.value.fix


def test_the_columns_of_a_join_are_ours_and_those_that_are_not_matched_by():
    assert [*columns_of(BY_PART, TABLES)] == ["part", "s", "t", "supplier", "cost", "brand"]
    with pytest.raises(BadParameter, match="never equals"):
        columns_of(Join(Scan("lines"), OFFERS, (("t", "part"),)), TABLES)


def test_a_plan_with_a_registered_table_is_written_and_read():
    for plan in (BY_PART, BY_BOTH, Project(BY_BOTH, (("x", "cost"),))):
        record = plan_record(plan)
        assert plan_record(plan_from_record(record)) == record
    assert plan_record(BY_PART)["public"]["version"] == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"reuses": [[["part"], 0]]}, "positive integer"),
        ({"reuses": [[["part"], True]]}, "not a public table"),
        ({"reuses": [[["part"], "1"]]}, "not a public table"),
        ({"reuses": [[["part", "part"], 1]]}, "each once"),
        ({"reuses": [[[], 1]]}, "one or more columns"),
        ({"reuses": [["part", 1]]}, "not a public table"),
        ({"reuses": 1}, "not a public table"),
        ({"reuses": []}, "nothing bounds"),
        ({"version": 0}, "versions count"),
        ({"version": "1"}, "versions count"),
        ({"rows": []}, "exactly the fields"),
    ],
)
def test_a_record_that_is_none_is_refused(change, said):
    with pytest.raises(BadParameter, match=said):
        Dimension.from_record({**OFFERS.record(), **change})


def test_a_key_is_made_of_its_columns_and_rows_lie_elsewhere():
    with pytest.raises(UnknownName, match="did you mean 'part'"):
        Dimension("offers", COLUMNS, (), ((("parts",), 1),))
    with pytest.raises(BadParameter, match="its rows lie in its source"):
        Dimension("offers", COLUMNS, ((1, 1, 1, "A"),), ((("part",), 1),))


def test_fewer_partners_than_were_declared_are_not_chosen():
    assert OFFERS.capped(["part"], 4) is OFFERS
    with pytest.raises(BadParameter, match="up to 4 rows"):
        OFFERS.capped(["part"], 3)


def test_keys_are_not_taken_from_rows_that_are_not_there():
    with pytest.raises(BadParameter, match="its rows are not in the question"):
        keys_of(["brand"], columns_of(BY_PART, TABLES), OFFERS)


def test_a_question_reads_a_registered_table_in_one_state():
    other = Dimension("offers", COLUMNS, (), OFFERS.reuses, 4)
    twice = Join(BY_BOTH, OFFERS, (("part", "part"), ("s", "supplier")))
    assert dimensions_of(Filter(twice, Name("part") > 3)) == {"offers": OFFERS}
    assert dimensions_of(Union(BY_PART, Scan("lines"))) == {"offers": OFFERS}
    with pytest.raises(BadParameter, match="in two states"):
        dimensions_of(PersonJoin(BY_PART, Join(Scan("lines"), other, (("part", "part"),))))
