"""The TPC-H schema as a custodian declares it: bounds and keys from the specification, customers protected.

What the specification leaves open is how many rows one customer has: about 15 orders of about 4 lines on average, of
those who order at all, drawn at random. The limits leave room for nearly all; what they cut off is part of the error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discreet as dp

TABLES = ("customer", "orders", "lineitem")
PUBLIC = ("part", "supplier", "partsupp", "nation", "region")
# Of one customer: orders, lines, and the groups of one question that count.
ORDERS, LINES, GROUPS = 40, 160, 7
PERSON = "customer.c_custkey"

# The seven modes of section 4.2.2.13, and AIR REG, which is that of no row, but which query 19 names.
_MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB", "AIR REG")
_INSTRUCTIONS = ("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")
_PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
_SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD")


def columns(scale: float) -> dict[str, dict[str, dp.Column]]:
    """Bounds and keys of the private tables: sections 1.4 and 4.2.3 of the specification."""
    people, orders, parts, suppliers = (round(scale * each) for each in (150_000, 6_000_000, 200_000, 10_000))
    cents = 0.01
    return {
        "customer": {
            "c_name": dp.text(),
            "c_address": dp.text(),
            "c_nationkey": dp.between(0, 24),
            "c_phone": dp.text(),
            "c_acctbal": dp.between(-999.99, 9999.99, step=cents),
            "c_mktsegment": dp.one_of(*_SEGMENTS),
            "c_comment": dp.text(),
        },
        "orders": {
            "o_orderkey": dp.between(1, orders),
            "o_custkey": dp.between(1, people),
            "o_orderstatus": dp.one_of("F", "O", "P"),
            "o_totalprice": dp.between(0, 800_000, step=cents),
            "o_orderdate": dp.date("1992-01-01", "1998-08-02"),
            "o_orderpriority": dp.one_of(*_PRIORITIES),
            "o_shippriority": dp.between(0, 0),
            "o_comment": dp.text(),
        },
        "lineitem": {
            "l_orderkey": dp.between(1, orders),
            "l_partkey": dp.between(1, parts),
            "l_suppkey": dp.between(1, suppliers),
            "l_quantity": dp.between(1, 50),
            "l_extendedprice": dp.between(900, 105_000, step=cents),
            "l_discount": dp.between(0, 0.1, step=cents),
            "l_tax": dp.between(0, 0.08, step=cents),
            "l_returnflag": dp.one_of("A", "N", "R"),
            "l_linestatus": dp.one_of("F", "O"),
            "l_shipdate": dp.date("1992-01-02", "1998-12-01"),
            "l_commitdate": dp.date("1992-01-31", "1998-10-31"),
            "l_receiptdate": dp.date("1992-01-03", "1998-12-31"),
            "l_shipinstruct": dp.one_of(*_INSTRUCTIONS),
            "l_shipmode": dp.one_of(*_MODES),
        },
    }


def schema(folder: Path, scale: float) -> dict[str, Any]:
    """The arguments of `Curator.schema`: one call registers all eight tables."""
    declared = columns(scale)
    limits = {
        "customer": {"max_rows": 1},
        "orders": {"max_rows": ORDERS, "max_groups": GROUPS, "via": dp.link("o_custkey", "customer", "c_custkey")},
        "lineitem": {"max_rows": LINES, "max_groups": GROUPS, "via": dp.link("l_orderkey", "orders", "o_orderkey")},
    }
    keys: dict[str, dict[str, Any]] = {
        "part": {"key": "p_partkey"},
        "supplier": {"key": "s_suppkey"},
        "partsupp": {"key": ("ps_partkey", "ps_suppkey"), "fan_out": {"ps_partkey": 4}},
        "nation": {"key": "n_nationkey"},
        "region": {"key": "r_regionkey"},
    }
    return {
        "tables": {
            name: {"source": folder / f"{name}.parquet", "columns": declared[name], **limits[name]} for name in TABLES
        },
        "public": {name: {"source": folder / f"{name}.parquet", **keys[name]} for name in PUBLIC},
        "person": PERSON,
    }
