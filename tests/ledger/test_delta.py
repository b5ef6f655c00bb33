"""Delta is money: it is debited as often as it is risked, it runs out, and a vault that understates it is found."""

from contextlib import suppress
from fractions import Fraction

import pytest

from discreet.account import Approx, Pure
from discreet.account.budgets.budget import Budget
from discreet.ledger import Charge, LimitExceeded, Tampered
from discreet.ledger.derivation import enter

EVERY_STORE = True
DELTA = Fraction(1, 10**7)
ONE = Approx(Fraction(1, 1000), DELTA)


@pytest.fixture
def loose(ledger):
    """A vault with an account that has a pool of 5 such deltas: a quarter of its delta."""
    ledger.add_account("loose", Budget(epsilon=1, delta=20 * DELTA))
    return ledger


def ask(ledger, question, loss, **more):
    return ledger.run(Charge(question, {"loose": loss}, {"visits": 1}, **more), lambda _: "41")[1]


def test_every_delta_is_debited_as_often_as_it_is_risked(loose):
    receipt = ask(loose, "once", ONE)
    assert loose.spent("loose").delta == DELTA
    assert Fraction(receipt.remaining["loose"]["delta"]) == 4 * DELTA
    ask(loose, "thrice", ONE * 3)
    assert loose.spent("loose").delta == 4 * DELTA
    ask(loose, "among others", ONE + Pure(Fraction(1, 1000)))
    assert loose.spent("loose").delta == 5 * DELTA
    assert loose.verify().entries == loose.head[0]


def test_an_account_without_delta_refuses_what_may_fail_and_goes_on_with_the_rest(loose):
    ask(loose, "all of it", ONE * 5)
    with pytest.raises(LimitExceeded, match="delta"):
        ask(loose, "one more", ONE)
    ask(loose, "without", Pure(Fraction(1, 1000)))
    assert loose.spent("loose").delta == 5 * DELTA


def test_what_is_refused_for_its_delta_takes_no_epsilon(loose):
    before = loose.spent("loose")
    with pytest.raises(LimitExceeded, match="delta"):
        ask(loose, "too much", ONE * 6)
    assert loose.spent("loose") == before


def test_a_charge_that_was_entered_with_less_than_its_delta_is_found(loose):
    """As a forger who has the vault's keys would enter it: with costs of their own."""
    charge = Charge("forged", {"loose": ONE * 3}, {"visits": 1})
    cost = loose.spent("loose")
    ask(loose, "honest", ONE * 3)
    honest = loose.spent("loose")
    entry = next(each.record() for each in loose.entries() if each.kind == "charge")
    for delta in (0, DELTA, 2 * DELTA):
        forged = {**entry, **charge.record(), "costs": [[(honest - cost).texts()[0], str(delta)]]}
        with pytest.raises(Tampered, match="less than the loss costs"), loose._write() as transaction:
            enter(transaction, "charge", forged)
    with pytest.raises(Tampered, match="does not cover"), loose._write() as transaction:
        enter(transaction, "charge", {**forged, "costs": [[(honest - cost).texts()[0], str(3 * DELTA)]]})
    with suppress(Tampered):
        loose.verify()
    assert loose.spent("loose") == honest
