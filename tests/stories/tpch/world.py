"""A small TPC-H: made-up rows in which every query finds some, and a vault over them that protects customers."""

import datetime as dt
from hashlib import blake2b
from itertools import count

import pandas as pd

import discreet as dp
from discreet.curator.curator import Curator
from tests.stories.desks import remote

FIRST, LAST = dt.date(1992, 1, 1), dt.date(1998, 12, 31)
NATIONS = ["FRANCE", "GERMANY", "BRAZIL", "CANADA", "SAUDI ARABIA", "CHINA", "INDIA", "ARGENTINA"]
REGIONS = ["EUROPE", "AMERICA", "ASIA", "MIDDLE EAST"]
OF_REGION = [0, 0, 1, 1, 3, 2, 2, 1]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
MODES = ["MAIL", "SHIP", "AIR", "AIR REG", "TRUCK"]
TYPES = ["ECONOMY ANODIZED STEEL", "PROMO PLATED BRASS", "MEDIUM POLISHED TIN"]
BRANDS = ["Brand#12", "Brand#23", "Brand#34"]
BOXES = [["SM CASE", "SM BOX", "SM PACK", "SM PKG"], ["MED BAG", "MED BOX", "MED PKG", "MED PACK"]]
BOXES.append(["LG CASE", "LG BOX", "LG PACK", "LG PKG"])
REMARKS = ["regular", "Customer is full of Complaints", "even"]
SIZES = {"customer": 40, "orders": 240, "lineitem": 1500, "supplier": 12, "part": 36}


class Chance:
    """Choices that are the same for the same name."""

    def __init__(self, name):
        self._name, self._count = name, count()

    def below(self, most):
        digest = blake2b(f"{self._name} {next(self._count)}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) % most

    def one(self, of):
        return of[self.below(len(of))]

    def day(self, first, last):
        return first + dt.timedelta(self.below((last - first).days + 1))


def tables():
    """Return the eight tables as lists of rows."""
    made = {"nation": [], "region": []}
    chance, others = Chance("tpch"), Chance("customers")
    made["region"] = [{"r_regionkey": key, "r_name": name} for key, name in enumerate(REGIONS)]
    made["nation"] = [
        {"n_nationkey": key, "n_name": name, "n_regionkey": OF_REGION[key]} for key, name in enumerate(NATIONS)
    ]
    made["supplier"] = [
        {
            "s_suppkey": key,
            "s_name": f"Supplier#{key}",
            "s_nationkey": key % len(NATIONS),
            "s_comment": REMARKS[key % 3],
        }
        for key in range(1, SIZES["supplier"] + 1)
    ]
    made["part"] = [
        {
            "p_partkey": key,
            "p_name": f"{chance.one(['green', 'forest', 'blue'])} {chance.one(['almond', 'green', 'rose'])} {key}",
            "p_type": TYPES[key % 3],
            "p_brand": "Brand#45" if key == SIZES["part"] else BRANDS[key // 3 % 3],
            "p_container": BOXES[key // 3 % 3][key % 4],
            "p_size": 1 + chance.below(15),
        }
        for key in range(1, SIZES["part"] + 1)
    ]
    made["partsupp"] = [
        {
            "ps_partkey": part,
            "ps_suppkey": supplier,
            "ps_supplycost": (part * 37 + supplier * 11) % 1000 / 4,
            "ps_availqty": (part * 7 + supplier) % 90,
        }
        for part in range(1, SIZES["part"] + 1)
        for supplier in range(1, SIZES["supplier"] + 1)
    ]
    made["customer"] = [
        {
            "c_custkey": key,
            "c_nationkey": key % len(NATIONS),
            "c_mktsegment": chance.one(["BUILDING", "MACHINERY"]),
            "c_acctbal": (others.below(1_100_000) - 100_000) / 100,
            "c_phone": f"{others.one([13, 31, 23, 17, 44])}-555-{key}",
        }
        for key in range(1, SIZES["customer"] + 1)
    ]
    made["orders"] = [
        {
            "o_orderkey": 4 * key,
            "o_custkey": 1 + chance.below(SIZES["customer"] - 5),
            "o_orderstatus": chance.one("FOP"),
            "o_orderdate": chance.day(FIRST, dt.date(1998, 6, 1)),
            "o_orderpriority": chance.one(PRIORITIES),
        }
        for key in range(1, SIZES["orders"] + 1)
    ]
    made["lineitem"] = [_line(chance, made) for _ in range(SIZES["lineitem"])]
    return made


def _line(chance, made):
    order = chance.one(made["orders"])
    sent = order["o_orderdate"] + dt.timedelta(1 + chance.below(120))
    return {
        "l_orderkey": order["o_orderkey"],
        "l_partkey": 1 + chance.below(SIZES["part"]),
        "l_suppkey": 1 + chance.below(SIZES["supplier"]),
        "l_quantity": 1 + chance.below(50),
        "l_extendedprice": (1 + chance.below(400_000)) / 100,
        "l_discount": chance.below(11) / 100,
        "l_tax": chance.below(9) / 100,
        "l_returnflag": chance.one("RAN"),
        "l_linestatus": chance.one("OF"),
        "l_shipdate": sent,
        "l_commitdate": order["o_orderdate"] + dt.timedelta(30 + chance.below(60)),
        "l_receiptdate": sent + dt.timedelta(1 + chance.below(30)),
        "l_shipinstruct": chance.one(["DELIVER IN PERSON", "NONE"]),
        "l_shipmode": chance.one(MODES),
    }


DAY = dp.date(FIRST, LAST)
COLUMNS = {
    "customer": {
        "c_nationkey": dp.between(0, len(NATIONS) - 1),
        "c_mktsegment": dp.one_of("BUILDING", "MACHINERY"),
        "c_acctbal": dp.between(-1000, 10_000, step=0.01),
        "c_phone": dp.text(),
    },
    "orders": {
        "o_orderkey": dp.text(),
        "o_orderstatus": dp.one_of("F", "O", "P"),
        "o_orderdate": DAY,
        "o_orderpriority": dp.one_of(*PRIORITIES),
        "o_shippriority": dp.between(0, 0),
        "o_totalprice": dp.between(0, 600_000, step=0.01),
        "o_comment": dp.text(),
    },
    "lineitem": {
        "l_orderkey": dp.text(),
        "l_partkey": dp.between(1, SIZES["part"]),
        "l_suppkey": dp.between(1, SIZES["supplier"]),
        "l_quantity": dp.between(0, 50),
        "l_extendedprice": dp.between(0, 4000, step=0.01),
        "l_discount": dp.between(0, 0.1, step=0.01),
        "l_tax": dp.between(0, 0.08, step=0.01),
        "l_returnflag": dp.one_of("R", "A", "N"),
        "l_linestatus": dp.one_of("O", "F"),
        "l_shipdate": DAY,
        "l_commitdate": DAY,
        "l_receiptdate": DAY,
        "l_shipinstruct": dp.one_of("DELIVER IN PERSON", "NONE"),
        "l_shipmode": dp.one_of(*MODES),
    },
}
UNITS = {
    "customer": dp.person("c_custkey", max_rows=1),
    "orders": dp.person(via=dp.link("o_custkey", "customer", "c_custkey"), max_rows=60),
    "lineitem": dp.person(via=dp.link("l_orderkey", "orders", "o_orderkey"), max_rows=300),
}
PUBLIC = ("nation", "region", "supplier", "part", "partsupp")


def frames(made):
    """Return the rows as data frames, days as DuckDB reads them; columns that were declared and not made are null."""
    found = {}
    for name, rows in made.items():
        frame = pd.DataFrame(rows)
        for column in COLUMNS.get(name, {}):
            if column not in frame:
                frame[column] = None
        for column in frame:
            if str(column).endswith("date"):
                frame[column] = pd.to_datetime(frame[column])
        found[name] = frame
    return found


KEYS = {
    "nation": "n_nationkey",
    "region": "r_regionkey",
    "supplier": "s_suppkey",
    "part": "p_partkey",
    "partsupp": ["ps_partkey", "ps_suppkey"],
}


COSTS = {
    "ps_partkey": dp.between(1, SIZES["part"]),
    "ps_suppkey": dp.between(1, SIZES["supplier"]),
    "ps_supplycost": dp.between(0, 250, step=0.25),
    "ps_availqty": dp.between(0, 90),
}


def session_of(folder, found, stack, *, registered=False, served=False):
    """Return the session of an analyst who may ask about customers, orders and lines, and the public tables.

    These are registered, or go with each question; the vault is at hand, or served for as long as the stack is open.
    """
    curator = Curator(folder / "tpch.discreet")
    for name, unit in UNITS.items():
        budget = {"budget": dp.Budget(epsilon=10**12, delta=0.9)} if name == "customer" else {}
        curator.register(name, found[name], unit=unit, columns=COLUMNS[name], **budget)
    if registered:
        for name, key in KEYS.items():
            curator.register_public(name, found[name], key=key, columns=COSTS if name == "partsupp" else None)
    token = curator.grant("alice", list(UNITS))
    session = stack.enter_context(remote(curator, token))[0] if served else curator.session(token)
    if registered:
        return session, []
    return session, [session.public(name, found[name].to_dict("list")) for name in PUBLIC]
