"""Row bound: a number of rows that the custodian buys at registration, from the table's own budget."""

import json
from fractions import Fraction

import pytest

import discreet as dp
from discreet.curator.curator import Curator
from discreet.curator.row_bound import ASKED_BY
from discreet.testing import seeded

# Four hundred people of up to three rows, and one of ninety.
WHO = [who for who in range(400) for _ in range(1 + who % 3)] + [1000] * 90
ROWS, COLUMNS = {"id": WHO, "x": [0] * len(WHO)}, {"x": dp.between(0, 1)}
UNIT = dp.person("id", max_rows=100)
EPSILON = Fraction(1, 2)


def registered(curator, unit=UNIT, budget=None, auto_rows=EPSILON, name="visits", **others):
    budget = budget or dp.Budget(epsilon=2)
    with seeded(5):
        return curator.register(name, ROWS, unit=unit, columns=COLUMNS, budget=budget, auto_rows=auto_rows, **others)


@pytest.fixture
def curator(tmp_path):
    with Curator(tmp_path / "vault.discreet") as found:
        yield found


def test_a_good_number_of_rows_is_bought_and_declared(curator):
    found = registered(curator)
    assert 1 <= found.table.unit.max_rows < 40  # not those of the one person who has most
    assert found.table.unit == dp.person("id", max_rows=found.table.unit.max_rows)
    assert (found.version, found.bought["most"], found.bought["epsilon"]) == (2, 100, "1/2")
    assert "was bought among 1 to 100 (epsilon 0.5, entry " in repr(found)
    assert curator.table("visits") == found


def test_it_is_charged_to_the_account_of_the_table_and_its_grant_ends(curator):
    entry = registered(curator).bought["entry"]
    assert curator.ledger.spent("visits").loss == EPSILON
    (charged,) = [each for each in curator.ledger.entries() if each.sequence == entry]
    assert ASKED_BY in json.dumps(charged.body)
    assert curator.revoke(ASKED_BY) == ()  # nothing is left to end


def test_the_same_registration_again_changes_and_costs_nothing(curator):
    first, head = registered(curator), curator.ledger.head
    assert registered(curator) == first
    assert curator.ledger.head == head


def test_what_was_paid_for_before_a_crash_is_not_paid_for_again(curator, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr("discreet.curator.tables.Tables.declare", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            registered(curator)
    assert curator.table("visits").table.unit == UNIT
    found = registered(curator)
    assert found.bought["rows"] == found.table.unit.max_rows
    assert curator.ledger.spent("visits").loss == EPSILON


def test_where_nothing_can_be_told_the_declared_bound_stays(curator):
    with seeded(5):
        rows = {"id": [1, 1, 2], "x": [0, 0, 0]}
        budget = dp.Budget(epsilon=1)
        found = curator.register("few", rows, unit=UNIT, columns=COLUMNS, budget=budget, auto_rows=Fraction(1, 100))
    assert (found.table.unit, found.bought["rows"]) == (UNIT, 100)
    assert curator.ledger.spent("few").loss == Fraction(1, 100)


def test_bounds_on_groups_follow_the_number_that_was_bought(curator):
    unit = dp.person("id", max_rows=100, max_groups=50, max_rows_per_group=40)
    found = registered(curator, unit).table.unit
    assert found.max_groups == min(50, found.max_rows)
    assert found.max_rows_per_group == min(40, found.max_rows)


def test_another_declaration_is_no_longer_the_one_that_was_bought(curator):
    registered(curator)
    curator.declare("visits", unit=UNIT, columns=COLUMNS)
    assert curator.table("visits").bought is None


def test_an_account_that_has_too_little_left_refuses_and_reads_nothing(curator):
    with pytest.raises(dp.Refusal, match="until then visits is registered with max_rows=100"):
        registered(curator, budget=dp.Budget(epsilon=Fraction(1, 4)))
    assert curator.table("visits").table.unit == UNIT
    assert registered(curator, budget=dp.Budget(epsilon=Fraction(1, 4)), auto_rows=Fraction(1, 5)).bought["most"] == 100


@pytest.mark.parametrize("unit", [dp.row(), dp.person("id", max_rows=1)])
def test_where_there_is_one_number_of_rows_none_is_bought(curator, unit):
    with pytest.raises(dp.Refusal, match="here there is one"):
        registered(curator, unit)
    assert curator.tables() == []


def test_a_price_that_is_none_is_refused_before_anything_is_registered(curator):
    with pytest.raises(dp.Refusal, match="auto_rows"):
        registered(curator, auto_rows=0)
    assert curator.tables() == []


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("bound", ["query", "table"])
def test_it_is_bought_under_every_relation_and_bound(curator, relation, bound):
    found = registered(curator, dp.person("id", max_rows=100, relation=relation, bound=bound))
    assert (found.table.unit.relation, found.table.unit.bound) == (relation, bound)
    assert curator.ledger.spent("visits").loss == EPSILON
