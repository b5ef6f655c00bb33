"""The tables that tests of reading SQL speak of; nothing is registered, since nothing is asked."""

import discreet as dp
from discreet.plan.from_sql import from_sql
from discreet.plan.nodes import public
from discreet.plan.sql.scope import Catalogue

COLUMNS = {
    "ward": dp.one_of("A", "B", "C"),
    "age": dp.between(0, 110),
    "cost": dp.between(0, 500, step=0.5),
    "city": dp.text(),
    "urgent": dp.flag(),
    "day": dp.date("2020-01-01", "2021-12-31"),
}
UNIT = dp.person("id", max_rows=3)
TABLES = {
    "visits": dp.Table("visits", UNIT, COLUMNS),
    "stays": dp.Table("stays", UNIT, {"ward": dp.one_of("A", "B"), "nights": dp.between(0, 30)}),
    "drugs": dp.Table("drugs", dp.person("person", max_rows=3), {"dose": dp.between(0, 9)}),
    "files": dp.Table(
        "files",
        dp.person("Patient ID", max_rows=3),
        {
            "Age (years)": dp.between(0, 110),
            "Length of stay": dp.between(0, 30),
            "a-b": dp.between(0, 9),
            "a": dp.text(),
            "b": dp.text(),
            "unit": dp.one_of("Cardiology", "Intensive Care"),
            "order": dp.between(0, 9),
        },
    ),
    "sales": dp.Table("sales", dp.row(), {"x": dp.between(0, 9)}),
}
PUBLIC = {"wards": public("wards", {"ward": ["A", "B"], "floor": [1, 2]})}


def read(text, keys=None):
    """Read a question about these tables."""
    return from_sql(text, Catalogue(list(TABLES), TABLES.__getitem__, PUBLIC, keys or {}))


ORDERS = dp.person(via=dp.link("custkey", "customers", "id"), max_rows=5)
ITEMS = dp.person(via=dp.link("orderkey", "orders", "key"), max_rows=9)
LINKED = {
    "customers": dp.Table("customers", dp.person("id", max_rows=1), {"nation": dp.between(0, 9)}),
    "orders": dp.Table(
        "orders",
        ORDERS,
        {"key": dp.between(1, 99), "day": dp.date("2020-01-01", "2021-12-31"), "urgent": dp.flag()},
    ),
    "items": dp.Table(
        "items",
        ITEMS,
        {
            "orderkey": dp.between(1, 99),
            "part": dp.between(0, 9),
            "price": dp.between(0, 99),
            "sent": dp.date("2020-01-01", "2021-12-31"),
        },
    ),
}
NATIONS = public("nations", {"nation_key": [0, 1, 2], "name": ["A", "B", "B"]})
PARTS = public("parts", {"part_key": [0, 1, 2], "nation_key": [1, 1, 2], "kind": ["x", "y", "x"]})


def read_linked(text, keys=None):
    """Read a question about customers, their orders and the items of these, beside public nations and parts."""
    public = {"nations": NATIONS, "parts": PARTS}
    return from_sql(text, Catalogue(list(LINKED), LINKED.__getitem__, public, keys or {}))
