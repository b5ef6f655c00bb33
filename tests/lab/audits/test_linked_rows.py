"""Made-up rows of linked tables: every key once, each row led to its own person, the same keys for those who stay."""

import pytest

import discreet as dp
from discreet.core.errors import BadParameter
from discreet.core.schema import Table
from discreet.lab.audits.linked_rows import in_order, owner, reached, tied
from discreet.lab.audits.made_up_rows import OWNER, header

CUSTOMERS = Table("customers", dp.person("id", max_rows=1), {"city": dp.text()})
ORDERS = Table(
    "orders", dp.person(via=dp.link("customer", "customers", "key"), max_rows=2), {"number": dp.between(0, 9)}
)
ITEMS = Table("items", dp.person(via=dp.link("order", "orders", "number"), max_rows=3), {"size": dp.between(0, 9)})
TABLES = in_order({"items": ITEMS, "orders": ORDERS, "customers": CUSTOMERS})


def rows_of(**people):
    return [{"size": "1", OWNER: who} for who, many in people.items() for _ in range(many)]


def led_to(made):
    """Return whose each item is, by its links alone."""
    customers = {row["key"]: row["id"] for row in made["customers"]}
    orders = {row["number"]: customers.get(row["customer"]) for row in made["orders"]}
    return [orders.get(row["order"]) for row in made["items"]]


def test_rows_of_linked_tables_lead_to_their_own_person_by_keys_that_occur_once():
    found = {"items": rows_of(ann=3, ben=1), "orders": rows_of(ann=2, ben=1)}
    made = tied(TABLES, found)
    assert led_to(made) == ["ann", "ann", "ann", "ben"]
    assert len({row["number"] for row in made["orders"]}) == 3
    assert len({row["order"] for row in made["items"][:3]}) == 2  # of both orders of one person
    assert {row["id"] for row in made["customers"]} == {"ann", "ben"}  # of whom the question asked nothing


def test_rows_of_others_keep_their_keys_when_a_person_comes():
    before = tied(TABLES, {"items": rows_of(ann=2), "orders": rows_of(ann=1)})
    after = tied(TABLES, {"items": rows_of(ann=2, ben=4), "orders": rows_of(ann=1, ben=2)})
    for name in ("items", "orders"):
        assert after[name][: len(before[name])] == before[name]
    assert led_to(after)[2:] == ["ben"] * 4


def test_rows_of_nobody_refer_to_nothing():
    found = {"items": [{"size": "1", OWNER: None}], "orders": [{OWNER: None}]}
    made = tied(TABLES, found)
    assert made["items"][0]["order"] is None
    assert owner(ITEMS, made["items"][0]) is None


def test_tables_come_after_those_they_refer_to_and_have_the_columns_of_links():
    assert list(TABLES) == ["customers", "orders", "items"]
    assert reached(["orders"], TABLES) == {"orders", "customers"}
    assert header(ORDERS, ("number",)) == ["customer", "number"]
    assert header(CUSTOMERS, ("key",)) == ["id", "key", "city"]


def test_a_key_with_too_few_values_is_refused():
    with pytest.raises(BadParameter, match="too few declared values"):
        tied(TABLES, {"items": [], "orders": rows_of(ann=11)})
