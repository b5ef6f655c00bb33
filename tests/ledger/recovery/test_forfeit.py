"""Forfeits: everything is spent but what the newest receipt shows left, and no lost head is ever one of this chain."""

import json
from fractions import Fraction

import pytest

from discreet.account.budgets.budget import Budget
from discreet.ledger import Conflict, Frozen, Ledger, LimitExceeded, QuestionFailed, Tampered
from discreet.ledger.derivation import enter
from discreet.ledger.limit import filter_of, filter_record
from discreet.ledger.recovery import forfeit
from discreet.ledger.store import Limit
from tests.ledger.helpers import charge, epsilon, kinds
from tests.ledger.recovery.worlds import put_back, saved

EVERY_STORE = True
TENTH = Fraction(1, 10)


def never(_draws):
    raise AssertionError("nothing is worked on")


@pytest.fixture
def old(ledger, path):
    """A vault that was put back after two answers were lost; it has another account, a cap, a window, and a question
    that waits. And the receipts that were given for what it lost, the newest last."""
    ledger.add_account("both", Budget(epsilon=1, delta=Fraction(1, 10**6)))
    ledger.window("people", epsilon(Fraction(9, 10)))
    ledger.grant("alice", ["visits"], {"people": epsilon(Fraction(8, 10))})
    ledger.charge(charge("waits", account="both"))
    before = saved(path)
    receipts = [ledger.run(charge(f"lost {each}"), lambda _: "41")[1] for each in range(2)]
    receipts.append(ledger.run(charge("lost both", account="both"), lambda _: "41")[1])
    ledger.close()
    put_back(path, before)
    with Ledger.open(path) as found:
        assert found.frozen
        yield found, receipts


def left(ledger, account):
    (found,) = [each for each in ledger.standing() if (each.scope, each.account) == ("account", account)]
    return found.filter.remaining.loss


def test_without_a_receipt_everything_is_spent(old):
    ledger, _ = old
    found = ledger.forfeit()
    assert kinds(ledger)[-1] == "lost"
    assert {account: Fraction(amounts["loss"]) for account, amounts in found.left.items()} == {"people": 0, "both": 0}
    for account in ("people", "both"):
        with pytest.raises(LimitExceeded):
            ledger.run(charge("new", Fraction(1, 10**6), account=account), never)
    assert ledger.frozen is None


def test_the_newest_receipt_keeps_what_it_shows_left_and_no_more(old):
    ledger, receipts = old
    ledger.forfeit([receipts[-1]])
    assert left(ledger, "people") == 0  # of which that receipt says nothing
    assert left(ledger, "both") == Fraction(8, 10)  # one waits, another was lost
    with pytest.raises(LimitExceeded):
        ledger.run(charge("too much", Fraction(81, 100), account="both"), never)
    assert ledger.run(charge("fits", Fraction(8, 10), account="both"), lambda _: "43")[0] == "43"


def test_a_receipt_tells_of_accounts_and_nothing_is_left_of_caps_and_months(ledger, path):
    ledger.window("people", epsilon(Fraction(9, 10)))
    ledger.grant("alice", ["visits"], {"people": epsilon(Fraction(8, 10))})
    before = saved(path)
    receipt = ledger.run(charge("lost"), lambda _: "41")[1]
    ledger.close()
    put_back(path, before)
    with Ledger.open(path) as found:
        found.forfeit([receipt])
        remaining = {each.scope: each.filter.remaining.loss for each in found.standing()}
        assert remaining.pop("account") == Fraction(9, 10)
        assert len(remaining) == 2
        assert set(remaining.values()) == {0}


@pytest.mark.parametrize(("attested", "left"), [("1/10", "1/2"), ("1/2", "1/2"), ("7/10", "3/10")])
def test_a_receipt_never_gives_back_what_was_spent_here_since(attested, left):
    fresh = Budget(epsilon=1).filter(relation="add_remove")
    spent = fresh.holding(fresh.amount("1/2", "0"))
    assert forfeit._spent(spent, [attested, "0"]).remaining.loss == Fraction(left)


def test_a_receipt_that_is_not_the_newest_head_known_is_refused(old):
    ledger, receipts = old
    with pytest.raises(Conflict, match="more may be spent since"):
        ledger.forfeit([receipts[0]])
    with pytest.raises(Conflict):
        ledger.forfeit(receipts)
    assert ledger.frozen
    assert "forfeit" not in kinds(ledger)


def test_caps_and_windows_are_full_and_what_waited_has_failed(old):
    ledger, receipts = old
    assert ledger.forfeit([receipts[-1]]).failed == 1
    with pytest.raises(QuestionFailed):
        ledger.run(charge("waits", account="both"), never)
    full = [each for each in ledger.standing() if each.scope in ("grant", "window")]
    assert len(full) == 2
    assert all(each.filter.remaining.loss == 0 for each in full)
    assert ledger.unsettled() == ()


def test_a_forfeited_vault_verifies_opens_and_is_frozen_by_its_own_later_heads(old, path):
    ledger, receipts = old
    upto = ledger.forfeit([receipts[-1]]).upto
    assert ledger.head[0] > upto - 1
    ledger.show(receipts)  # those of lost entries are accounted for
    assert ledger.frozen is None
    after = saved(path)
    ledger.run(charge("later", account="both"), lambda _: "41")
    assert ledger.verify().entries == ledger.head[0]
    ledger.close()
    with Ledger.open(path) as again:
        assert again.frozen is None
        assert again.verify().anchor == again.head[0]
    put_back(path, after)
    with Ledger.open(path) as rolled:
        assert rolled.frozen
        with pytest.raises(Frozen):
            rolled.run(charge("once more", account="both"), never)


def test_a_vault_that_has_lost_nothing_forfeits_nothing(ledger):
    with pytest.raises(Conflict, match="not frozen"):
        ledger.forfeit()


def test_a_forfeit_that_gives_back_or_leaves_out_is_found_when_the_vault_is_verified(ledger, clock):
    ledger.run(charge(), lambda _: "41")
    with ledger._read() as look:
        (row,) = look.all(Limit)
    fresh = filter_record(filter_of(json.loads(row.state)["filter"]).renewed())
    for limits in ([["people", "", "", fresh]], []):
        body = {"upto": 1, "limits": limits, "at": "2026-11-15T12:00:00Z"}
        with pytest.raises(Tampered, match=r"gives back|leaves out"), ledger._write() as transaction:
            enter(transaction, "forfeit", body)
    assert left(ledger, "people") == 1 - TENTH
