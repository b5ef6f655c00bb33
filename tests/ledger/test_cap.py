"""Caps: one analyst has one cap on an account, over all grants, whatever was spent before and whoever raced."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from discreet.account import Approx, Gaussian
from discreet.account.budgets.budget import Budget
from discreet.core.errors import BadParameter
from discreet.ledger import Charge, Ledger
from discreet.ledger.cap import recounted
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.limit import filter_record, new_limit
from discreet.ledger.refusals import Conflict, LimitExceeded, Tampered
from tests.ledger.helpers import START, charge, epsilon

EVERY_STORE = True
TENTH = Fraction(1, 10)


def spend(ledger, token, question, amount=TENTH, **more):
    grant = ledger.authenticate(token)
    return ledger.run(charge(question, amount, analyst=grant.analyst, grant=grant.id, **more), lambda draws: "41")


def cap(ledger, analyst="alice", scope="grant"):
    return next(each.filter for each in ledger.standing(analyst) if each.scope == scope)


def test_three_grants_of_one_do_not_let_anybody_spend_three(ledger):
    token = ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)})
    for _ in range(2):
        with pytest.raises(Conflict) as refused:
            ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)})
    assert "existing='replace' or existing='add'" in refused.value.fix
    assert "over all grants of one analyst" in refused.value.why
    spend(ledger, token, "a")
    with pytest.raises(LimitExceeded, match="the cap of alice"):
        spend(ledger, token, "b")


def test_replacing_thrice_leaves_one_cap_for_all_tokens(ledger):
    tokens = [ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)}, existing="replace") for _ in range(3)]
    spend(ledger, tokens[0], "a")
    for token in tokens:
        with pytest.raises(LimitExceeded, match="the cap of alice"):
            spend(ledger, token, "b")
    assert ledger.spent("people", "alice").loss == TENTH


def test_a_top_up_adds_to_the_cap_and_keeps_what_was_spent(ledger):
    first = ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)})
    spend(ledger, first, "a")
    ledger.grant("alice", ["visits"], {"people": epsilon(2 * TENTH)}, existing="add")
    assert cap(ledger).budget.loss == 3 * TENTH
    assert cap(ledger).spent.loss == TENTH
    spend(ledger, first, "b", 2 * TENTH)
    with pytest.raises(LimitExceeded):
        spend(ledger, first, "c")


@pytest.mark.parametrize("ended", ["revoked", "expired"])
@pytest.mark.parametrize("amount", [None, epsilon(3 * TENTH)])
def test_a_new_grant_after_an_ended_one_starts_from_what_was_spent(ledger, clock, ended, amount):
    token = ledger.grant("alice", ["visits"], {"people": epsilon(3 * TENTH)}, expires=START + timedelta(days=1))
    spend(ledger, token, "a", 2 * TENTH)
    if ended == "revoked":
        ledger.revoke("alice")
    else:
        clock.move(days=2)
    assert cap(ledger).remaining.loss == TENTH
    token = ledger.grant("alice", ["visits"], {"people": amount}, existing="replace" if amount else None)
    with pytest.raises(LimitExceeded):
        spend(ledger, token, "b", 2 * TENTH)
    spend(ledger, token, "b")
    assert cap(ledger).remaining.loss == 0
    ledger.verify()


def test_a_second_amount_after_the_end_of_all_grants_says_what_it_means(ledger):
    ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)}, monthly={"people": epsilon(TENTH)})
    ledger.revoke("alice")
    with pytest.raises(Conflict, match="ended ones too"):
        ledger.grant("alice", ["visits"], {"people": epsilon(1)})
    ledger.grant("alice", ["visits"], {"people": None})
    assert [each.filter.budget.loss for each in ledger.standing("alice")] == [TENTH, TENTH]


def test_replacing_one_amount_keeps_the_other_cap(ledger):
    both = {"monthly": {"people": epsilon(TENTH)}}
    ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)}, **both)
    ledger.grant("alice", ["visits"], {"people": epsilon(1)}, monthly={"people": None}, existing="replace")
    assert cap(ledger).budget.loss == 1
    assert cap(ledger, scope="window").budget.loss == TENTH
    ledger.grant("alice", ["visits"], {"people": epsilon(2 * TENTH)}, monthly={"people": None}, existing="end")
    assert [each.filter.budget.loss for each in ledger.standing("alice")] == [2 * TENTH]
    ledger.verify()


@pytest.mark.parametrize("existing", ["replace", "add"])
def test_nothing_takes_no_place_of_a_cap(ledger, existing):
    ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)})
    with pytest.raises(BadParameter, match="existing='end'"):
        ledger.grant("alice", ["visits"], {"people": None}, existing=existing)


@pytest.mark.parametrize("late", [timedelta(), timedelta(seconds=-1), timedelta(days=-400)])
def test_a_grant_that_has_ended_before_it_began_is_refused(ledger, late):
    with pytest.raises(BadParameter, match="it has passed"):
        ledger.grant("alice", ["visits"], expires=START + late)
    assert ledger.grants() == ()


def test_a_cap_counts_what_was_asked_before_there_was_one(ledger):
    token = ledger.grant("alice", ["visits"], {"people": None})
    spend(ledger, token, "a", 2 * TENTH)
    ledger.grant("alice", ["visits"], {"people": epsilon(3 * TENTH)})
    assert cap(ledger).spent.loss == 2 * TENTH


def test_a_cap_below_what_was_spent_is_full(ledger):
    token = ledger.grant("alice", ["visits"], {"people": epsilon(1)})
    spend(ledger, token, "a", 3 * TENTH)
    ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)}, existing="replace")
    assert cap(ledger).remaining.loss == 0
    with pytest.raises(LimitExceeded):
        spend(ledger, token, "b", Fraction(1, 10**9))
    ledger.grant("alice", ["visits"], {"people": epsilon(3 * TENTH)}, existing="add")
    assert cap(ledger).remaining.loss == TENTH  # 4/10 in all, 3/10 of them spent: nothing came back
    ledger.verify()


def test_a_cap_is_counted_in_its_own_currency(ledger):
    ledger.add_account("smooth", Budget(epsilon=5, delta=Fraction(1, 10**6)))
    token = ledger.grant("alice", ["visits"], {"smooth": None})
    grant = ledger.authenticate(token).id
    ledger.run(Charge("q", {"smooth": Gaussian(4)}, {"visits": 1}, "alice", grant), lambda draws: "41")
    ledger.grant("alice", ["visits"], {"smooth": Budget(rho=1)})
    assert cap(ledger).spent.loss == Fraction(1, 32)
    with pytest.raises(Conflict, match="cannot be counted in epsilon"):
        ledger.grant("alice", ["visits"], {"smooth": epsilon(1)}, existing="replace")


def test_a_second_month_is_a_second_cap_and_counts_the_month(ledger, clock):
    token = ledger.grant("alice", ["visits"], monthly={"people": epsilon(2 * TENTH)})
    spend(ledger, token, "a", 2 * TENTH)
    clock.move(days=30)
    spend(ledger, token, "b")
    with pytest.raises(Conflict, match="a cap of epsilon=1/5 a month"):
        ledger.grant("alice", ["visits"], monthly={"people": epsilon(1)})
    ledger.grant("alice", ["visits"], monthly={"people": epsilon(2 * TENTH)}, existing="replace")
    assert cap(ledger, scope="window").spent.loss == TENTH


def test_a_grant_without_an_amount_leaves_the_cap_unless_it_says_so(ledger):
    ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)})
    ledger.grant("alice", ["wards"], {"people": None})
    assert cap(ledger).budget.loss == TENTH
    ledger.grant("alice", ["wards"], {"people": None}, existing="end")
    assert ledger.standing("alice") == ()
    ledger.verify()


def test_caps_on_other_accounts_and_of_others_are_left_alone(ledger):
    ledger.add_account("staff", epsilon(1))
    ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)})
    ledger.grant("alice", ["wages"], {"staff": epsilon(TENTH)})
    ledger.grant("bob", ["visits"], {"people": epsilon(TENTH)})
    assert len(ledger.standing("alice")) == 2


@pytest.mark.parametrize(
    ("known", "name"),
    [
        *(("alice", name) for name in ("Alice", "alice ", "ALICE", "\uff41\uff4c\uff49\uff43\uff45")),
        ("ann lee", "ann  lee"),
        ("ann lee", "Ann Lee"),
        ("strau\u00df", "STRAUSS"),
        ("strauss", "strau\u00df"),
    ],
)
def test_an_analyst_spelled_otherwise_is_refused(ledger, known, name):
    ledger.grant(known, ["visits"], {"people": epsilon(TENTH)})
    with pytest.raises(BadParameter, match="one analyst has one cap"):
        ledger.grant(name, ["visits"], {"people": epsilon(TENTH)})


def test_what_cannot_be_added_is_refused(ledger):
    with pytest.raises(BadParameter, match="no cap on 'people'"):
        ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)}, existing="add")
    ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)})
    with pytest.raises(BadParameter, match="do not add up"):
        ledger.grant("alice", ["visits"], {"people": Budget(rho=1)}, existing="add")
    with pytest.raises(BadParameter, match="replace, add, end"):
        ledger.grant("alice", ["visits"], {"people": epsilon(TENTH)}, existing="more")


def test_of_two_custodians_who_grant_at_once_one_is_asked_what_was_meant(ledger, path):
    def granted(_):
        with Ledger.open(path) as mine:
            try:
                return mine.grant("alice", ["visits"], {"people": epsilon(TENTH)})
            except Conflict:
                return None

    with ThreadPoolExecutor(4) as pool:
        tokens = [token for token in pool.map(granted, range(4)) if token]
    assert len(tokens) == 1
    assert cap(ledger).budget.loss == TENTH


def test_a_forged_cap_that_forgets_what_was_spent_is_found(ledger):
    token = ledger.grant("alice", ["visits"], {"people": epsilon(2 * TENTH)})
    spend(ledger, token, "a", 2 * TENTH)
    body = next(each.record() for each in ledger.entries() if each.kind == "grant")
    with ledger._write() as transaction:
        enter(transaction, "grant", {**body, "grant": "0" * 12})
    with pytest.raises(Tampered, match="forgets what its analyst had spent"):
        ledger.verify()


def forged_again(ledger, **changes):
    """Enter the first grant once more, with other words, as a forger who has the vault's keys would."""
    body = next(each.record() for each in ledger.entries() if each.kind == "grant")
    with ledger._write() as transaction:
        enter(transaction, "grant", {**body, "grant": "0" * 12, **changes})


def test_a_forged_cap_that_forgets_delta_alone_is_found(ledger):
    budget, delta = Budget(epsilon=1, delta=Fraction(1, 10**6)), Fraction(1, 10**7)
    ledger.add_account("loose", budget)
    grant = ledger.authenticate(ledger.grant("alice", ["visits"], {"loose": budget})).id
    ledger.run(Charge("q", {"loose": Approx(TENTH, delta)}, {"visits": 1}, "alice", grant), lambda draws: "41")
    spent = cap(ledger).spent
    assert spent.delta == delta
    record = filter_record(cap(ledger))
    forged_again(ledger, caps={"loose": record})  # a cap that forgets nothing
    ledger.verify()
    forged_again(ledger, grant="1" * 12, caps={"loose": record | {"spent": {"loss": spent.texts()[0], "delta": "0"}}})
    with pytest.raises(Tampered, match="forgets what its analyst had spent"):
        ledger.verify()


def test_a_forged_monthly_cap_that_forgets_what_was_spent_is_found(ledger, clock):
    token = ledger.grant("alice", ["visits"], monthly={"people": epsilon(2 * TENTH)})
    spend(ledger, token, "a", 2 * TENTH)
    clock.move(days=30)
    forged_again(ledger, at=written(clock.now))  # of a new month, in which nothing is spent
    ledger.verify()
    spend(ledger, token, "b", 2 * TENTH)
    forged_again(ledger, grant="1" * 12, at=written(clock.now))
    with pytest.raises(Tampered, match="forgets what its analyst had spent"):
        ledger.verify()


def test_a_cap_of_an_earlier_month_counts_from_the_newest_month_seen(ledger, clock):
    token = ledger.grant("alice", ["visits"], monthly={"people": epsilon(3 * TENTH)})
    spend(ledger, token, "a", 3 * TENTH)
    clock.move(days=30)
    spend(ledger, token, "b")
    november = new_limit("people", "alice", "month", epsilon(3 * TENTH).filter(), written(START), 0)
    december = replace(november, label="2026-12")
    entries = [*ledger.entries()]
    with ledger._read() as look:
        found = [recounted(each, look, entries).spent.loss for each in (november, december)]
    assert found == [TENTH, TENTH]
