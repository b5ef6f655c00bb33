"""Alerts: a charge that leaves less of a limit than a share is an entry, once, and tells nothing of a row."""

from fractions import Fraction

import pytest

from discreet.account.budgets.budget import Budget
from discreet.account.losses.approx import Approx
from discreet.ledger import Charge
from discreet.ledger.oversight.charge_policy import KIND, NAME, ChargePolicy
from tests.ledger.helpers import charge, kinds

EVERY_STORE = True


def told(ledger):
    return [(each.account, each.analyst, each.window, each.below) for each in ledger.alerts()]


@pytest.fixture
def watched(ledger):
    ledger.put(KIND, NAME, ChargePolicy((), (Fraction(1, 2), Fraction(1, 5))).record())
    return ledger


def test_a_budget_that_falls_below_a_share_alerts_once_for_each(watched, caplog):
    for number in range(9):
        watched.run(charge(f"q{number}"), lambda _: "1")
    assert told(watched) == [("people", "", "", Fraction(1, 2)), ("people", "", "", Fraction(1, 5))]
    charges = [entry.sequence for entry in watched.entries() if entry.kind == "charge"]
    assert [each.charge for each in watched.alerts()] == [charges[5], charges[8]]
    assert [record.args for record in caplog.records if "custodian" in record.getMessage()] == [(), ()]
    assert "people" not in caplog.text
    watched.verify()


def test_a_charge_past_several_shares_alerts_for_the_lowest(watched):
    watched.run(charge(epsilon=Fraction(9, 10)), lambda _: "1")
    assert told(watched) == [("people", "", "", Fraction(1, 5))]


def test_caps_and_windows_alert_by_themselves_and_a_window_again_in_its_next_period(watched, clock):
    watched.window("people", Budget(epsilon=Fraction(1, 10)))
    watched.grant("ann", ["visits"], {"people": Budget(epsilon=Fraction(3, 10))})
    (grant,) = watched.grants()
    for number in range(2):
        asked = charge(f"q{number}", Fraction(1, 10), analyst="ann", grant=grant.id)
        watched.run(asked, lambda _: "1")
        clock.move(days=31)
    fifth, half = Fraction(1, 5), Fraction(1, 2)
    assert sorted(told(watched)) == [
        ("people", "", "2026-11", fifth),
        ("people", "", "2026-12", fifth),
        ("people", "ann", "", half),
    ]


def test_delta_is_counted_like_epsilon(watched):
    watched.add_account("others", Budget(epsilon=1, delta=Fraction(1, 100)))
    loss = Approx(Fraction(1, 10**6), Fraction(9, 4000))  # of a pool of a quarter of the delta
    watched.run(Charge("q", {"others": loss}, {"stays": 1}), lambda _: "1")
    assert [each[0] for each in told(watched)] == ["others"]


def test_without_a_policy_there_are_no_alerts_and_a_refused_charge_makes_none(ledger, watched):
    ledger.put(KIND, NAME, ChargePolicy().record())
    ledger.run(charge(epsilon=Fraction(19, 20)), lambda _: "1")
    with pytest.raises(Exception, match="epsilon"):
        ledger.run(charge("more"), lambda _: "1")
    assert not told(ledger)
    assert "refusal" in kinds(ledger)
