"""Units: what they hold, what they refuse, and that they survive JSON."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadParameter
from discreet.core.unit import Unit, check_bound, check_relation, person, row

NO_COUNTS = [0, -1, 2.0, True, "3", None, float("nan")]

units = st.one_of(
    st.builds(row, relation=st.sampled_from(["add_remove", "replace"])),
    st.integers(1, 10**12).flatmap(
        lambda rows: st.builds(
            person,
            st.text(st.characters(codec="utf-8")).map("id{}".format),
            max_rows=st.just(rows),
            max_groups=st.none() | st.integers(1, rows),
            relation=st.sampled_from(["add_remove", "replace"]),
            bound=st.sampled_from(["query", "table"]),
        )
    ),
)


def test_a_row_is_one_row_in_one_group():
    assert row() == Unit(None, 1, 1, "add_remove", "query")
    assert row().is_row


def test_a_person_may_touch_as_many_groups_as_rows_unless_told_otherwise():
    assert person("id", max_rows=20).max_groups == 20
    assert person("id", max_rows=20, max_groups=3).max_groups == 3
    assert not person("id", max_rows=1).is_row


def test_a_unit_is_a_frozen_hashable_value():
    unit = person("id", max_rows=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        unit.max_rows = 3
    assert len({unit, person("id", max_rows=2)}) == 1


@pytest.mark.parametrize("value", NO_COUNTS)
def test_a_bound_that_is_no_positive_whole_number_is_refused(value):
    with pytest.raises(BadParameter, match="positive integer") as refused:
        person("id", max_rows=value)
    assert refused.value.name == "max_rows"
    assert refused.value.value is value


@pytest.mark.parametrize("value", [value for value in NO_COUNTS if value is not None])
def test_a_bound_on_groups_that_is_no_positive_whole_number_is_refused(value):
    with pytest.raises(BadParameter) as refused:
        person("id", max_rows=5, max_groups=value)
    assert refused.value.name == "max_groups"


def test_more_groups_than_rows_are_refused():
    with pytest.raises(BadParameter, match="at most 3 groups") as refused:
        person("id", max_rows=3, max_groups=4)
    assert refused.value.value == 4


@pytest.mark.parametrize("value", ["", "  ", 3, b"id", True])
def test_an_identifier_that_names_no_column_is_refused(value):
    with pytest.raises(BadParameter) as refused:
        person(value, max_rows=3)
    assert refused.value.name == "identifier"


@pytest.mark.parametrize("value", ["swap", "", None, 1, "ADD_REMOVE", ["replace"]])
def test_a_third_relation_is_refused_with_the_two_that_exist(value):
    with pytest.raises(BadParameter) as refused:
        check_relation(value)
    assert "add_remove" in refused.value.fix
    assert "replace" in refused.value.fix
    with pytest.raises(BadParameter):
        row(relation=value)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"max_rows_per_group": 6}, "at most 5 rows in all groups"),
        ({"max_rows_per_group": 0}, "positive integer"),
        ({"max_rows_per_group": True}, "positive integer"),
        ({"max_rows_per_group": 2, "bound": "table"}, "groups belong to a question"),
    ],
)
def test_a_cap_by_group_that_caps_nothing_is_refused(given, why):
    with pytest.raises(BadParameter, match=why) as refused:
        person("id", max_rows=5, **given)
    assert refused.value.name == "max_rows_per_group"


def test_a_cap_by_group_is_written_only_where_there_is_one():
    plain, capped = person("id", max_rows=5), person("id", max_rows=5, max_rows_per_group=2)
    assert "max_rows_per_group" not in plain.record()
    assert [Unit.from_json(each.to_json()) for each in (plain, capped)] == [plain, capped]


@pytest.mark.parametrize("value", ["row", None, 0])
def test_a_third_place_to_bound_is_refused(value):
    with pytest.raises(BadParameter) as refused:
        check_bound(value)
    assert refused.value.name == "bound"
    with pytest.raises(BadParameter):
        person("id", max_rows=2, bound=value)


@pytest.mark.parametrize("parts", [(None, 2, 1), (None, 1, 1, "add_remove", "table")])
def test_a_row_unit_has_nothing_to_bound(parts):
    with pytest.raises(BadParameter, match="nothing to bound"):
        Unit(*parts)


@given(units)
def test_a_unit_survives_json(unit):
    assert Unit.from_json(unit.to_json()) == unit


def test_a_stored_unit_keeps_its_form():
    stored = (
        '{"discreet": 1, "unit": {"identifier": "id", "max_rows": 20, "max_groups": 3,'
        ' "relation": "replace", "bound": "table"}}'
    )
    unit = person("id", max_rows=20, max_groups=3, relation="replace", bound="table")
    assert Unit.from_json(stored) == unit
    assert unit.to_json() == stored


@pytest.mark.parametrize(
    "change",
    [{"max_rows": 0}, {"max_rows": "2"}, {"relation": "swap"}, {"bound": None}, {"extra": 1}, {"max_groups": 99}],
)
def test_stored_units_are_checked_anew(change):
    record = {**person("id", max_rows=20).record(), **change}
    with pytest.raises(BadParameter):
        Unit.from_json(json.dumps({"discreet": 1, "unit": record}))
