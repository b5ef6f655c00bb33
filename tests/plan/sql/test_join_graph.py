"""Join graphs: tables separated by commas are joined in the order in which people are bounded best."""

import pytest

from discreet.plan.nodes import Filter, Join, PersonJoin, Scan, columns_of
from discreet.plan.serial import plan_record
from discreet.plan.sql.refusals import SqlRefused
from discreet.plan.stability import reach, unit_of
from tests.plan.sql.tables import LINKED, read, read_linked

CHAIN = PersonJoin(
    PersonJoin(Scan("items"), Scan("orders"), (("orderkey", "key"),), 1, (("day", "day"), ("urgent", "urgent"))),
    Scan("customers"),
    (),
    None,
    (("nation", "nation"),),
)


@pytest.mark.parametrize(
    "written",
    [
        "customers, orders, items WHERE id = custkey AND orderkey = key",
        "items, orders, customers WHERE key = orderkey AND custkey = id",
        "orders o, customers c, items i WHERE (i.orderkey = o.key) AND (c.id = o.custkey)",
        "customers JOIN orders ON id = custkey JOIN items ON orderkey = key",
        "items JOIN orders ON orderkey = key, customers WHERE orders.custkey = customers.id",
        "items CROSS JOIN orders CROSS JOIN customers WHERE orderkey = key AND id = custkey",
    ],
)
def test_a_row_and_what_it_refers_to_are_joined_from_the_row_however_they_are_written(written):
    found = read_linked(f"SELECT COUNT(*) FROM {written}").plan
    assert plan_record(found) == plan_record(CHAIN)
    assert reach(found, unit_of(found, LINKED), LINKED) == 9


def test_conditions_of_one_private_table_narrow_it_before_it_is_joined():
    text = "SELECT COUNT(*) FROM orders, items WHERE orderkey = key AND urgent AND price > 3 AND sent > day"
    found = read_linked(text).plan
    assert isinstance(found, Filter)
    assert isinstance(found.source, PersonJoin)
    assert str(found.predicate) == "(sent > day)"
    assert str(found.source.one.predicate) == "(price > 3)"
    assert str(found.source.other.predicate) == "urgent"


def test_public_tables_are_joined_by_all_that_is_equal_and_may_be_named_twice():
    text = (
        "SELECT n1.name, n2.name, COUNT(*) FROM parts, customers, nations n1, nations n2, items, orders"
        " WHERE id = custkey AND orderkey = key AND part = part_key AND customers.nation = n1.nation_key"
        " AND parts.nation_key = n2.nation_key GROUP BY n1.name, n2.name"
    )
    found = read_linked(text)
    assert found.keys.names == ("name_2", "name")
    assert {"name", "name_2"} <= set(columns_of(found.plan, LINKED))
    both = "SELECT COUNT(*) FROM items, orders, customers, parts WHERE part = part_key AND nation = nation_key"
    found = read_linked(f"{both} AND orderkey = key AND custkey = id").plan
    assert isinstance(found, Join)
    assert found.on == (("part", "part_key"), ("nation", "nation_key"))


def test_what_is_equal_in_every_branch_of_an_or_joins():
    text = "SELECT COUNT(*) FROM items, parts WHERE (part = part_key AND price < 3) OR (part = part_key AND price > 9)"
    found = read_linked(text).plan
    assert isinstance(found, Filter)
    assert found.source.on == (("part", "part_key"),)
    with pytest.raises(SqlRefused, match="every row would meet every other"):
        read_linked("SELECT COUNT(*) FROM items, parts WHERE (part = part_key AND price < 3) OR price > 9")


def test_rows_of_one_order_meet_on_it_and_on_the_person():
    text = "SELECT COUNT(*) FROM items a, items b WHERE a.orderkey = b.orderkey AND a.part <> b.part"
    found = read_linked(text).plan.source
    assert (found.on, found.most) == ((("orderkey", "orderkey"),), None)
    assert reach(found, unit_of(found, LINKED), LINKED) == 9


def test_tables_of_people_without_links_are_joined_by_commas_as_by_join():
    commas = read("SELECT COUNT(*) FROM visits v, stays s WHERE v.id = s.id").plan
    assert plan_record(commas) == plan_record(read("SELECT COUNT(*) FROM visits JOIN stays USING (id)").plan)


@pytest.mark.parametrize(
    ("text", "span", "why"),
    [
        ("SELECT COUNT(*) FROM orders, items", "items", "every row would meet every other"),
        ("SELECT COUNT(*) FROM orders, items WHERE day = sent", "day = sent", "joined on the person"),
        ("SELECT COUNT(*) FROM nations, parts WHERE nations.nation_key = parts.nation_key", "nations", "public"),
        ("SELECT COUNT(*) FROM orders, parts", "parts", "every row would meet every other"),
        ("SELECT COUNT(*) FROM orders, items WHERE orderkey = kee", "kee", "no column of that name"),
        ("SELECT COUNT(*) FROM orders JOIN items ON sent = day", "sent = day", "joined on the person"),
    ],
)
def test_what_nothing_joins_is_refused_where_it_stands(text, span, why):
    with pytest.raises(SqlRefused, match=why) as refused:
        read_linked(text)
    assert text[slice(*refused.value.span)] == span


def test_the_refusal_of_two_linked_tables_names_their_link():
    with pytest.raises(SqlRefused, match=r"write JOIN \.\.\. ON orderkey = key"):
        read_linked("SELECT COUNT(*) FROM orders, items WHERE day = sent")
