"""Whole schemas in one go: order, one account, repetition, and what is refused before anything is registered."""

import itertools

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.curator.curator import Curator
from discreet.curator.policy import read
from discreet.ledger.refusals import Conflict
from tests.curator.questions import PLENTY, answered

LINES = {
    "source": {"orderkey": [10, 10, 11, 12, None], "part": [1, 2, 1, 2, 1], "n": [1, 2, 3, 4, 5]},
    "unit": dp.person(via=dp.link("orderkey", "orders", "orderkey"), max_rows=9),
    "columns": {"part": dp.between(1, 9), "n": dp.between(0, 9)},
}
ORDERS = {
    "source": {"orderkey": [10, 11, 12], "custkey": [1, 2, 2]},
    "via": dp.link("custkey", "customer", "custkey"),
    "max_rows": 5,
    "columns": {"orderkey": dp.between(1, 99)},
}
CUSTOMER = {"source": {"custkey": [1, 2]}, "max_rows": 1, "columns": {"custkey": dp.between(1, 9)}}
PART = {"source": {"partkey": [1, 2], "brand": ["A", "B"]}, "key": "partkey"}
SCHEMA = {"lines": LINES, "orders": ORDERS, "customer": CUSTOMER}
TERMS = {"public": {"part": PART}, "person": "customer.custkey", "budget": PLENTY}

_vaults = itertools.count()


@pytest.fixture
def curator(tmp_path):
    with Curator(tmp_path / f"schema{next(_vaults)}.discreet") as found:
        yield found


def brands(curator):
    session = curator.session(curator.grant("alice", ["lines", "orders", "customer"]))
    joined = session.table("lines").join(session.public("part"), on={"part": "partkey"})
    (answer,) = answered(joined.group_by("brand").agg(n=dp.count(), p=dp.people()).asked(epsilon=10**5))
    return [(round(row["n"]), round(row["p"])) for row in answer]


def test_a_schema_is_registered_in_one_go_on_one_account_and_again_without_a_change(curator):
    found = curator.schema(SCHEMA, **TERMS)
    assert [*found] == ["customer", "orders", "lines", "part"]
    assert {curator.table(name).account for name in SCHEMA} == {"customer"}
    assert brands(curator) == [(2, 2), (2, 2)]
    again = curator.schema(SCHEMA, **TERMS)
    assert {name: each.revision for name, each in again.items()} == {
        name: each.revision for name, each in found.items()
    }


def changed(name, **terms):
    return {**SCHEMA, name: {word: value for word, value in {**SCHEMA[name], **terms}.items() if value is not None}}


@pytest.mark.parametrize(
    ("tables", "terms", "error", "said"),
    [
        ({}, {}, BadParameter, "no table whose people"),
        (changed("orders", via=dp.link("orderkey", "lines", "orderkey")), {}, BadParameter, "in a circle"),
        (changed("orders", via=dp.link("custkey", "part", "partkey")), {}, BadParameter, "'part' is public"),
        (changed("orders", via=dp.link("custkey", "custmer", "custkey")), {}, UnknownName, "did you mean 'customer'"),
        (changed("orders", via=None), {}, BadParameter, "no foreign key of 'orders' leads to the people of 'customer'"),
        (changed("orders", via="customer"), {}, BadParameter, "it is not a link"),
        (changed("orders", max_rows=None), {}, BadParameter, "has to be bounded, and no catalogue tells it"),
        (changed("orders", columns=None), {}, BadParameter, "nothing is learned from protected rows"),
        (changed("orders", source=None), {}, BadParameter, "nothing says it of 'orders'"),
        (changed("orders", column={}), {}, UnknownName, "did you mean 'columns'"),
        (changed("lines", max_rows=3), {}, BadParameter, "the unit of 'lines' says it already"),
        (changed("lines", unit=dp.row()), {}, BadParameter, "a budget counted for them says nothing about single rows"),
        ({**SCHEMA, "part": ORDERS}, {}, BadParameter, "either protects people or is public"),
        ({**SCHEMA, "x": 5}, {}, BadParameter, "described by its terms"),
        (SCHEMA, {"person": None}, BadParameter, "no foreign key of 'customer'"),
    ],
)
def test_what_leads_to_no_person_or_says_too_little_is_refused_before_anything_is_registered(
    curator, tables, terms, error, said
):
    with pytest.raises(error, match=said) as refused:
        curator.schema(tables, **{**TERMS, **terms})
    assert refused.value.fix
    assert (curator.tables(), curator.public_tables()) == ([], [])


def test_a_dimension_without_a_key_and_a_key_that_is_not_unique_are_refused(curator):
    for part, said in (
        ({"source": PART["source"]}, "without a key"),
        ({**PART, "source": {"partkey": [1, 1]}}, "1 of its values"),
    ):
        with pytest.raises(Refusal, match=said):
            curator.schema(SCHEMA, **{**TERMS, "public": {"part": part}})
    twice = {**ORDERS, "source": {"orderkey": [10, 10], "custkey": [1, 2]}}
    with (
        Curator(curator.path.with_name("twice.discreet")) as other,
        pytest.raises(Conflict, match="the key 'orderkey'"),
    ):
        other.schema({**SCHEMA, "orders": twice}, **TERMS)


def test_a_second_table_of_people_shares_the_account(curator):
    calls = {
        "source": {"custkey": [1, 1], "n": [1, 2]},
        "unit": dp.person("custkey", max_rows=4),
        "columns": {"n": dp.between(0, 9)},
    }
    curator.schema({**SCHEMA, "calls": calls}, **TERMS)
    assert curator.table("calls").account == "customer"
    others = {**calls, "source": {"caller": [7], "n": [1]}, "unit": dp.person("caller", max_rows=4)}
    with pytest.raises(BadParameter, match="counted for people, identified by 'custkey'"):
        curator.schema({**SCHEMA, "others": others}, **TERMS)


POLICY = """
[tables.lines]
source = "lines.csv"
unit = { via = "orderkey = orders.orderkey", max_rows = 9 }
columns = { part = "1..9", n = "0..9" }

[tables.orders]
source = "orders.csv"
unit = { via = { column = "custkey", table = "customer", key = "custkey" }, max_rows = 5 }
columns = { orderkey = "1..99" }

[tables.customer]
source = "customer.csv"
unit = { person = "custkey", max_rows = 1 }
columns = { custkey = "1..9" }
budget = { epsilon = 1_000_000, delta = 0.5 }

[public.part]
source = "part.csv"
key = "partkey"

[public.offers]
source = "offers.csv"
key = ["part", "supplier"]
fan_out = { part = 2 }
columns = { part = "1..9", supplier = "1..9" }
"""
FILES = {
    "lines": "orderkey,part,n\n10,1,1\n10,2,2\n11,1,3\n12,2,4\n,1,5\n",
    "orders": "orderkey,custkey\n10,1\n11,2\n12,2\n",
    "customer": "custkey\n1\n2\n",
    "part": "partkey,brand\n1,A\n2,B\n",
    "offers": "part,supplier\n1,1\n2,1\n2,2\n",
}


@pytest.fixture
def policy(tmp_path):
    for name, text in FILES.items():
        (tmp_path / f"{name}.csv").write_text(text)
    (tmp_path / "discreet.toml").write_text(POLICY)
    return tmp_path / "discreet.toml"


def test_a_policy_registers_a_whole_schema_in_any_order(curator, policy):
    applied = [(each.action, each.kind, each.name) for each in read(policy).apply(curator)]
    assert applied == [
        *(("registered", "table", name) for name in ("customer", "orders", "lines")),
        *(("registered", "public table", name) for name in ("part", "offers")),
    ]
    assert {each.action for each in read(policy).apply(curator)} == {"left"}
    assert brands(curator) == [(2, 2), (2, 2)]
    assert curator.public_table("offers").dimension.fan_out(["part"]) == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'via = "orderkey = orders.orderkey"',
            'via = "orderkey = lines.orderkey"',
            "discreet.toml:4: via='orderkey = lines.orderkey",
        ),
        ('via = "orderkey = orders.orderkey"', 'via = "orderkey = part.partkey"', "'part' is public"),
        ('via = "orderkey = orders.orderkey"', 'via = "orderkey"', "discreet.toml:4: via="),
        ('key = "custkey" }', 'kee = "custkey" }', "did you mean 'key'"),
        ('key = "partkey"\n', "", "without a key nothing bounds"),
        ('key = "partkey"', 'key = "partkeys"', "did you mean 'partkey'"),
        ("fan_out = { part = 2 }", "fan_out = { part = 1 }", "1 of its values is in more than one row"),
    ],
)
def test_a_policy_that_leads_to_no_person_is_refused_with_its_line(curator, policy, old, new, said):
    assert old in POLICY
    policy.write_text(POLICY.replace(old, new))
    with pytest.raises(Refusal, match=r"discreet\.toml:[0-9]+: ") as refused:
        read(policy).apply(curator)
    assert said in str(refused.value)
