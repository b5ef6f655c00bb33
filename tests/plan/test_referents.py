"""Referents: which columns hold keys of one table, and where no two rows have the same."""

import pytest

from discreet.plan.expressions import Name
from discreet.plan.nodes import Derive, Filter, Join, PersonJoin, Project, Scan, Union, public
from discreet.plan.referents import identifying, is_unique, most_partners, origin, referent
from tests.plan.sql.tables import LINKED

ORDERS, ITEMS = Scan("orders"), Scan("items")
ONE = public("one", {"day": ["2020-01-01", "2020-01-02"], "x": [1, 2]})
SEVERAL = public("several", {"urgent": [True, True], "x": [1, 2]})


@pytest.mark.parametrize(
    ("plan", "name", "expected"),
    [
        (ORDERS, "key", ("orders", "key")),
        (Filter(ORDERS, Name("urgent")), "key", ("orders", "key")),
        (Derive(ORDERS, "later", Name("key")), "later", None),
        (Derive(ORDERS, "later", Name("key")), "key", ("orders", "key")),
        (Derive(ORDERS, "key", Name("urgent")), "key", None),
        (Project(ORDERS, (("new", "key"),)), "new", ("orders", "key")),
        (Union(ORDERS, ORDERS), "key", None),
        (Join(ORDERS, SEVERAL, (("urgent", "urgent"),)), "x", None),
        (Join(ORDERS, SEVERAL, (("urgent", "urgent"),)), "key", ("orders", "key")),
        (PersonJoin(ITEMS, ORDERS, columns=(("theirs", "key"),)), "theirs", ("orders", "key")),
        (PersonJoin(ITEMS, ORDERS, columns=(("theirs", "key"),)), "orderkey", ("items", "orderkey")),
    ],
)
def test_the_origin_of_a_column_is_followed_through_a_plan(plan, name, expected):
    assert origin(plan, name) == expected


def test_a_reference_and_the_key_it_refers_to_have_one_referent():
    assert referent(("items", "orderkey"), LINKED) == referent(("orders", "key"), LINKED) == ("orders", "key")
    assert referent(("items", "part"), LINKED) is None
    assert referent(None, LINKED) is None
    assert identifying("orders", "custkey", LINKED) == identifying("customers", "id", LINKED) == ("customers", "id")
    assert identifying("items", "orderkey", LINKED) is None


@pytest.mark.parametrize(
    ("plan", "name", "unique"),
    [
        (ORDERS, "key", True),
        (ORDERS, "urgent", False),
        (ITEMS, "orderkey", False),
        (Filter(ORDERS, Name("urgent")), "key", True),
        (Derive(ORDERS, "later", Name("key")), "key", True),
        (Derive(ORDERS, "later", Name("key")), "later", False),
        (Derive(ORDERS, "key", Name("urgent")), "key", False),
        (Project(ORDERS, (("new", "key"),)), "new", True),
        (Union(ORDERS, ORDERS), "key", False),
        (Join(ORDERS, SEVERAL, (("urgent", "urgent"),)), "key", False),
        (Join(ORDERS, ONE, (("day", "day"),)), "key", True),
        (PersonJoin(ORDERS, Scan("customers"), most=1), "key", True),
        (PersonJoin(ORDERS, ITEMS, columns=(("part", "part"),)), "key", False),
        (PersonJoin(ITEMS, ORDERS, (("orderkey", "key"),), 1, (("key", "key"),)), "key", False),
    ],
)
def test_a_key_is_unique_until_rows_are_repeated(plan, name, unique):
    assert is_unique(plan, name, LINKED) is unique


def test_a_row_has_one_partner_only_on_the_side_of_the_key():
    assert most_partners(ORDERS, (("orderkey", "key"),), LINKED) == 1
    assert most_partners(ITEMS, (("key", "orderkey"),), LINKED) is None
    assert most_partners(ORDERS, (("sent", "day"),), LINKED) is None
    assert most_partners(ORDERS, (), LINKED) is None
