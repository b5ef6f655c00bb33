"""Links: what they refer to, what they refuse, and that units keep them."""

import pytest

import discreet as dp
from discreet.core.errors import BadParameter
from discreet.core.link import Link
from discreet.core.unit import Unit, person

LINK = dp.link("l_orderkey", "orders", "o_orderkey")


def test_a_link_is_a_value_that_says_what_is_equal_and_what_that_rests_on():
    assert Link("l_orderkey", "orders", "o_orderkey") == LINK
    assert LINK.words == "l_orderkey = orders.o_orderkey, which is unique"
    assert Link.from_record(LINK.record()) == LINK


def test_a_linked_unit_protects_people_whom_no_column_names():
    unit = person(via=LINK, max_rows=7)
    assert (unit.identifier, unit.is_row, unit.max_groups) == (None, False, 7)
    assert unit.whom == LINK.words
    assert Unit.from_json(unit.to_json()) == unit
    assert unit != person(via=dp.link("l_orderkey", "orders", "o_clerk"), max_rows=7)


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("value", ["", " ", None, 3, "\n"])
def test_a_link_that_names_no_column_or_table_is_refused(part, value):
    parts = ["l_orderkey", "orders", "o_orderkey"]
    parts[part] = value
    with pytest.raises(BadParameter, match="printable text"):
        dp.link(*parts)


@pytest.mark.parametrize("via", ["l_orderkey", [LINK], (LINK, LINK), {"column": "a"}, 1])
def test_what_is_no_one_link_is_refused(via):
    with pytest.raises(BadParameter, match="linked to one other") as refused:
        person(via=via, max_rows=1)
    assert refused.value.name == "via"


def test_an_identifier_and_a_link_are_one_too_many():
    with pytest.raises(BadParameter, match="says already whose a row is"):
        person("custkey", via=LINK, max_rows=1)


def test_people_whom_nothing_tells_apart_are_refused():
    with pytest.raises(BadParameter, match="by a link to a table that tells") as refused:
        person(max_rows=3)
    assert "person(via=link(" in refused.value.fix
