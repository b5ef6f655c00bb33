"""Limits: accounts for life, windows that only restrict and never go back, caps of grants."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from discreet.account import Approx, DiscreteGaussian
from discreet.account.budgets.budget import Budget
from discreet.account.budgets.cost import Cost
from discreet.core.errors import BadParameter, UnknownName
from discreet.ledger import Charge, Conflict, LimitExceeded
from discreet.ledger.derivation import enter
from discreet.ledger.limit import current, new_limit
from discreet.ledger.refusals import Tampered
from tests.ledger.helpers import charge, epsilon, kinds

EVERY_STORE = True


def spend(ledger, question, amount=Fraction(1, 10), **more):
    return ledger.run(charge(question, amount, **more), lambda _: "41")


def test_an_account_is_opened_once_and_its_promise_is_not_changed(ledger):
    before = kinds(ledger)
    ledger.add_account("people", epsilon(1))
    assert kinds(ledger) == before
    for budget, relation in ((epsilon(2), "add_remove"), (epsilon(1), "replace"), (Budget(rho=1), "add_remove")):
        with pytest.raises(Conflict, match="another budget or relation"):
            ledger.add_account("people", budget, relation)
    spend(ledger, "q")
    ledger.add_account("people", epsilon(1))
    assert ledger.accounts() == ("people",)


@pytest.mark.parametrize("name", ["", " ", "a\nb", 7])
def test_a_name_that_cannot_be_printed_is_refused(ledger, name):
    with pytest.raises(BadParameter):
        ledger.add_account(name, epsilon(1))


def test_the_filter_of_an_account_is_named_in_its_entry(ledger):
    ledger.add_account("more", Budget(epsilon=1, delta=1e-6))
    body = [*ledger.entries()][-1].record()
    assert body["filter"]["kind"] == "UnionFilter"
    assert {"delta", "epsilon", "pool", "sums"} < set(body["filter"])
    assert [each["sum"] for each in body["filter"]["sums"]] == ["pure", "renyi", "renyi", "renyi", "gaussian"]


def test_a_window_restricts_within_its_month_and_opens_again_with_the_next(ledger, clock):
    ledger.window("people", epsilon(Fraction(2, 10)))
    spend(ledger, "a")
    spend(ledger, "b")
    with pytest.raises(LimitExceeded) as refused:
        spend(ledger, "c")
    assert refused.value.limit == "the month 2026-11 of account 'people'"
    clock.move(days=30)
    spend(ledger, "c")
    assert ledger.spent("people").loss == Fraction(3, 10)
    assert ledger.verify().entries == ledger.head[0]


def test_a_clock_that_is_set_back_stays_in_the_newest_month_seen(ledger, clock):
    ledger.window("people", epsilon(Fraction(1, 10)))
    clock.move(days=30)
    spend(ledger, "a")
    for moment in (datetime(2026, 11, 20, tzinfo=UTC), datetime(1999, 1, 1, tzinfo=UTC)):
        clock.now = moment
        with pytest.raises(LimitExceeded, match="month 2026-12"):
            spend(ledger, "b")
    clock.now = datetime(2027, 1, 1, tzinfo=UTC)
    spend(ledger, "b")


def test_windows_never_admit_what_the_lifetime_does_not(ledger, clock):
    ledger.window("people", epsilon(Fraction(6, 10)))
    spend(ledger, "a", Fraction(6, 10))
    clock.move(days=60)
    with pytest.raises(LimitExceeded) as refused:
        spend(ledger, "b", Fraction(6, 10))
    assert refused.value.limit == "account 'people'"


def test_a_window_that_is_set_again_starts_anew_within_the_lifetime(ledger):
    ledger.window("people", epsilon(Fraction(1, 10)))
    spend(ledger, "a")
    ledger.window("people", epsilon(Fraction(3, 10)))
    spend(ledger, "b", Fraction(3, 10))
    assert ledger.spent("people").loss == Fraction(4, 10)
    assert ledger.verify().entries == ledger.head[0]


@pytest.mark.parametrize(("period", "step"), [("day", {"days": 1}), ("month", {"days": 20}), ("year", {"days": 60})])
def test_windows_of_days_months_and_years_open_again(ledger, clock, period, step):
    ledger.window("people", epsilon(Fraction(1, 10)), period)
    spend(ledger, "a")
    clock.move(hours=1)
    with pytest.raises(LimitExceeded, match=period):
        spend(ledger, "b")
    clock.move(**step)
    spend(ledger, "b")


@pytest.mark.parametrize("period", ["", "week", None, 30])
def test_a_window_of_another_length_is_refused(ledger, period):
    with pytest.raises(BadParameter, match="period"):
        ledger.window("people", epsilon(1), period)


def test_a_window_on_an_unknown_account_is_refused(ledger):
    with pytest.raises(UnknownName, match="people"):
        ledger.window("peple", epsilon(1))


def test_a_grant_caps_its_analyst_below_the_account(ledger):
    token = ledger.grant("alice", ["visits"], {"people": epsilon(Fraction(2, 10))})
    alice = {"analyst": "alice", "grant": ledger.authenticate(token).id}
    spend(ledger, "a", Fraction(2, 10), **alice)
    with pytest.raises(LimitExceeded) as refused:
        spend(ledger, "b", **alice)
    assert refused.value.limit == "the cap of alice on account 'people'"
    spend(ledger, "b")
    assert spend(ledger, "b", **alice)[1].replayed


def test_a_cap_never_admits_what_the_account_does_not(ledger):
    token = ledger.grant("alice", ["visits"], {"people": epsilon(5)})
    with pytest.raises(LimitExceeded, match="account 'people': epsilon 2 requested"):
        spend(ledger, "a", 2, analyst="alice", grant=ledger.authenticate(token).id)


def test_a_grant_has_months_of_its_own(ledger, clock):
    token = ledger.grant("alice", ["visits"], monthly={"people": epsilon(Fraction(1, 10))})
    alice = {"analyst": "alice", "grant": ledger.authenticate(token).id}
    spend(ledger, "a", **alice)
    with pytest.raises(LimitExceeded, match="the month 2026-11 of alice on account 'people'"):
        spend(ledger, "b", **alice)
    spend(ledger, "c")
    clock.move(days=30)
    spend(ledger, "b", **alice)


def test_a_refusal_by_a_cap_spends_nothing_anywhere(ledger):
    ledger.window("people", epsilon(1))
    token = ledger.grant("alice", ["visits"], {"people": epsilon(Fraction(1, 20))})
    with pytest.raises(LimitExceeded):
        spend(ledger, "a", analyst="alice", grant=ledger.authenticate(token).id)
    assert all(standing.filter.spent.loss == 0 for standing in ledger.standing())


def test_standings_show_every_limit_as_it_is_now(ledger, clock):
    ledger.window("people", epsilon(Fraction(1, 2)))
    caps = {"people": epsilon(Fraction(3, 10))}
    token = ledger.grant("alice", ["visits"], caps, monthly={"people": epsilon(Fraction(2, 10))})
    ledger.grant("bob", ["visits"], caps)
    grant = ledger.authenticate(token).id
    spend(ledger, "a", analyst="alice", grant=grant)

    def shown(analyst=None):
        return {(each.scope, each.analyst, each.window): each.filter.spent.loss for each in ledger.standing(analyst)}

    tenth = Fraction(1, 10)
    mine = {("grant", "alice", None): tenth, ("window", "alice", "2026-11"): tenth}
    shared = {("account", None, None): tenth, ("window", None, "2026-11"): tenth}
    assert shown() == {**shared, **mine, ("grant", "bob", None): 0}
    assert shown("alice") == mine
    clock.move(days=30)
    assert shown("alice") == {("grant", "alice", None): tenth, ("window", "alice", "2026-12"): 0}
    ledger.revoke("alice")
    assert shown("alice") == {("grant", "alice", None): tenth, ("window", "alice", "2026-12"): 0}


def test_a_sum_that_is_rounded_up_past_its_budget_is_within_it(ledger):
    # The two amounts leave less than 2^-4000 of a tenth, and their sum needs more digits than are kept.
    ledger.add_account("tenth", epsilon(Fraction(1, 10)))
    first = Fraction(3**2000, 50 * 3**2000 + 1)
    second = Fraction(int((Fraction(1, 10) - first) * 2**4000), 2**4000)
    for question, amount in (("a", first), ("b", second)):
        spend(ledger, question, amount, account="tenth")
    assert ledger.spent("tenth").loss == Fraction(1, 10)
    assert ledger.verify().entries == len(kinds(ledger))


def test_an_analysts_share_counts_every_delta(ledger):
    delta = Fraction(1, 2 * 10**7)
    ledger.add_account("loose", Budget(epsilon=1, delta=Fraction(1, 10**6)))
    for number in range(1, 3):
        asked = Charge(f"q{number}", {"loose": Approx(Fraction(1, 100), delta)}, {"visits": 1}, "ann")
        ledger.run(asked, lambda _: "41")
        assert ledger.spent("loose", "ann") == ledger.spent("loose")
        assert ledger.spent("loose", "ann").delta == number * delta


@pytest.mark.parametrize(
    ("at", "label", "spent"), [("2026-11-30", "2026-12", 1), ("2026-12-01", "2026-12", 1), ("2027-01-01", "2027-01", 0)]
)
def test_a_window_starts_anew_with_a_later_period_alone(at, label, spent):
    filter_ = replace(epsilon(1).filter(), spent=Cost(Fraction(1, 10), Fraction(0)))
    there = new_limit("people", "", "month", filter_, "2026-12-24T00:00:00Z", 1)
    found, after = current(there, f"{at}T00:00:00Z")
    assert (found.label, after.spent.loss) == (label, spent * Fraction(1, 10))


def test_standings_are_those_of_the_vaults_time_where_the_clock_runs_behind_it(ledger, clock):
    ledger.window("people", epsilon(Fraction(1, 2)))
    token = ledger.grant("ann", ["visits"], {"people": epsilon(1)}, expires=clock.now + timedelta(days=1))
    spend(ledger, "a", analyst="ann", grant=ledger.authenticate(token).id)
    clock.move(days=30)
    ledger.refused(None, "r", "an entry of the next month")
    clock.move(days=-30)
    found = {(each.scope, each.window): each.filter.spent.loss for each in ledger.standing()}
    tenth = Fraction(1, 10)
    assert found == {("account", None): tenth, ("grant", None): tenth, ("window", "2026-12"): 0}


def gaussian(question, account="loose", sigma=30, **more):
    """A charge of Gaussian noise."""
    return Charge(question, {account: DiscreteGaussian(sigma)}, {"visits": 1}, **more)


def test_a_budget_with_a_delta_admits_what_the_same_epsilon_would_for_accounts_caps_and_windows(ledger):
    budget = Budget(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6))
    ledger.add_account("loose", Budget(epsilon=1, delta=Fraction(1, 10**6)))
    ledger.window("loose", budget)
    grant = ledger.authenticate(ledger.grant("ann", ["visits"], {"loose": budget})).id
    for number in range(5):
        spend(ledger, f"q{number}", Fraction(1, 10), account="loose", analyst="ann", grant=grant)
    with pytest.raises(LimitExceeded):
        spend(ledger, "one more", Fraction(1, 10), account="loose", analyst="ann", grant=grant)
    spent = [each.filter.spent.losses[0] for each in ledger.standing() if each.account == "loose"]
    assert spent == [Fraction(1, 2)] * 3
    assert ledger.verify().entries == len(kinds(ledger))


def test_a_sum_that_was_exceeded_stays_ended_in_the_vault_and_its_revival_is_found(ledger):
    ledger.add_account("loose", Budget(epsilon=1, delta=Fraction(1, 10**6)))
    ledger.charge(gaussian("normal"))
    spend(ledger, "pure", Fraction(1, 10), account="loose")
    assert ledger.spent("loose").losses[0] is None
    with pytest.raises(LimitExceeded):
        spend(ledger, "more", Fraction(9, 10), account="loose")
    ledger.verify()
    normal, plain = (each.record() for each in ledger.entries() if each.kind == "charge")
    counted, revived = (each["costs"][0][0].replace("inf", amount) for each, amount in ((plain, "1/10"), (normal, "0")))
    with ledger._write() as transaction:
        enter(transaction, "charge", {**plain, "key": "0" * 64, "costs": [[counted, "0"]]})
    assert ledger.spent("loose").losses[0] is None  # a charge that counts there again revives nothing
    ledger.verify()
    with ledger._write() as transaction, pytest.raises(Tampered, match="charged less than the loss costs"):
        enter(transaction, "charge", {**normal, "key": "1" * 64, "costs": [[revived, "0"]]})


def test_what_is_no_amount_of_its_filter_is_no_ledgers_work(ledger):
    ledger.add_account("loose", Budget(epsilon=1, delta=Fraction(1, 10**6)))
    ledger.charge(gaussian("normal"))
    with ledger._write() as transaction:
        body = transaction.entry(transaction.head().sequence).record()
        with pytest.raises(Tampered, match="no amount of its filter"):
            enter(transaction, "charge", {**body, "key": "0" * 64, "costs": [["0 0", "0"]]})
