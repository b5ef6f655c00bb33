"""Vaults that were made with another filter keep it: `golden/one_order.json` is one, with a single Renyi order."""

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.account import DiscreteGaussian, Pure
from discreet.account.budgets.budget import Budget
from discreet.account.budgets.filter import ApproxFilter
from discreet.account.budgets.union import UnionFilter
from discreet.ledger import Charge, Ledger
from discreet.ledger.refusals import Conflict, LimitExceeded
from discreet.ledger.sqlite import schema
from tests.ledger.helpers import Clock

BUDGET = Budget(epsilon=3, delta=Fraction(1, 10**6))


@pytest.fixture
def old(tmp_path):
    """The vault as it was: its accounts people, of epsilon 3 and delta 1e-6, and pure; a cap and a window."""
    golden = json.loads((Path(__file__).parent / "golden" / "one_order.json").read_text())
    place, anchor = tmp_path / "vault.discreet", tmp_path / "anchor"
    connection = sqlite3.connect(place)
    connection.executescript("PRAGMA journal_mode = WAL;" + "\n".join(golden["sql"]))
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    place.chmod(0o600)
    for path, content in ((anchor, golden["anchor"]), (tmp_path / "anchor.draws", golden["draws"])):
        path.write_bytes(bytes.fromhex(content).ljust(golden["pages"] if path == anchor else 0))
        path.chmod(0o600)
    with Ledger.open(place, anchor=anchor, clock=Clock()) as ledger:
        yield ledger


def filters(ledger):
    return {(each.account, each.scope): each.filter for each in ledger.standing()}


def test_an_old_vault_opens_verifies_and_goes_on_with_its_own_filter(old):
    assert old.verify().entries == 12
    limits = filters(old)
    assert {type(limits["people", scope]) for scope in ("account", "grant", "window")} == {ApproxFilter}
    before = old.spent("people")
    old.run(Charge("new", {"people": Pure(Fraction(1, 10))}, {"visits": 1}, "ann"), lambda _: "41")
    assert old.spent("people") == before + limits["people", "account"].cost(Pure(Fraction(1, 10)))
    with pytest.raises(LimitExceeded):
        old.charge(Charge("much", {"people": Pure(2)}, {"visits": 1}))  # which a union would admit
    old.verify()


def test_the_same_budget_is_the_same_account_whatever_filter_it_has(old):
    old.add_account("people", BUDGET)
    with pytest.raises(Conflict):
        old.add_account("people", Budget(epsilon=3, delta=Fraction(1, 10**7)))
    assert type(filters(old)["people", "account"]) is ApproxFilter


def test_what_restricts_an_old_account_counts_as_it_does_and_new_accounts_have_the_union(old):
    old.window("people", BUDGET, period="year")
    old.grant("ann", ["visits"], {"people": Budget(epsilon=1, delta=Fraction(1, 10**6))}, existing="add")
    old.add_account("more", BUDGET)
    limits = filters(old)
    assert type(limits["people", "grant"]) is type(limits["people", "window"]) is ApproxFilter
    assert limits["people", "grant"].spent.loss > 0
    assert type(limits["more", "account"]) is UnionFilter
    old.run(Charge("new", {"more": DiscreteGaussian(30)}, {"visits": 1}, "bob"), lambda _: "41")
    old.verify()
