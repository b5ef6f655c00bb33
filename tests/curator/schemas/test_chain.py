"""Chains of links: the order of registration, and circles, public tables and gaps that lead to no person."""

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, UnknownName
from discreet.curator.schemas.chain import in_order

CUSTOMER = dp.person("custkey", max_rows=1)


def linked(table):
    return dp.person(via=dp.link("ref", table, "key"), max_rows=9)


def test_each_table_comes_after_the_one_it_refers_to():
    units = {"returns": linked("lines"), "lines": linked("orders"), "customer": CUSTOMER, "orders": linked("customer")}
    assert in_order(units) == ["customer", "orders", "lines", "returns"]
    assert in_order({"lines": linked("orders")}, known=["orders"]) == ["lines"]


@pytest.mark.parametrize(
    ("units", "circle"),
    [
        ({"a": linked("a")}, "a -> a"),
        ({"a": linked("b"), "b": linked("c"), "c": linked("a")}, "a -> b -> c -> a"),
        ({"x": CUSTOMER, "a": linked("b"), "b": linked("c"), "c": linked("b")}, "b -> c -> b"),
    ],
)
def test_a_circle_leads_to_no_person(units, circle):
    with pytest.raises(BadParameter, match=f"in a circle, {circle}, and so lead to no person"):
        in_order(units)


def test_a_link_leads_to_a_table_of_people():
    with pytest.raises(BadParameter, match="'part' is public, so that nobody is the person of its rows"):
        in_order({"lines": linked("part"), "customer": CUSTOMER}, public=["part"])
    with pytest.raises(UnknownName, match="did you mean 'customer'"):
        in_order({"lines": linked("customers"), "customer": CUSTOMER})
