"""Approvals: a question waits as an entry, an approval fits one charge of it alone, and waiting costs nothing."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.core.errors import BadParameter, UnknownName
from discreet.ledger import Ledger
from discreet.ledger.oversight.approval import ApprovalNeeded, name_of
from discreet.ledger.oversight.charge_policy import EVERY, KIND, NAME, ChargePolicy
from discreet.ledger.refusals import Conflict, LimitExceeded
from discreet.ledger.store import StoredDraw
from tests.ledger.helpers import charge, epsilon, kinds

EVERY_STORE = True


@pytest.fixture
def strict(ledger):
    ledger.put(KIND, NAME, ChargePolicy((EVERY,)).record())
    return ledger


def asked(**more):
    return charge(**{"analyst": "ann", "label": "a count", **more})


def never(_):
    raise AssertionError("it was worked on")


def drawn(ledger):
    with ledger._read() as transaction:
        return [*transaction.all(StoredDraw)]


def test_a_question_waits_as_one_entry_and_has_drawn_nothing_and_costs_nothing(strict):
    before = strict.spent("people")
    for _ in range(2):
        with pytest.raises(ApprovalNeeded, match="nothing was charged"):
            strict.run(asked(), never)
    (request,) = strict.requests()
    assert (request.name, request.state, request.analyst) == (name_of(asked()), "pending", "ann")
    assert (request.losses, request.tables, request.label) == (asked().losses, {"visits": 1}, "a count")
    assert strict.spent("people") == before
    assert not drawn(strict)
    assert kinds(strict) == ["vault", "account", "document", "document"]
    strict.verify()


def test_an_approved_question_is_charged_once_and_replayed_to_whoever_asks(strict):
    with pytest.raises(ApprovalNeeded):
        strict.run(asked(), never)
    strict.approve(name_of(asked())[:8])
    assert strict.run(asked(), lambda _: "7")[0] == "7"
    assert strict.run(asked(), never)[0] == "7"
    assert strict.run(asked(analyst="bob"), never)[0] == "7"
    assert [each.state for each in strict.requests()] == ["used"]
    assert strict.spent("people").texts() == ("1/10", "0")
    with pytest.raises(Conflict, match="was used"):
        strict.deny(name_of(asked()))
    strict.verify()


OTHERS = {
    "question": {"question": "another"},
    "version": {"tables": {"visits": 2}},
    "price": {"epsilon": Fraction(1, 5)},
    "analyst": {"analyst": "bob"},
    "account": {"account": ["people", "others"]},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_an_approval_fits_no_other_question_version_price_or_analyst(strict, other):
    strict.add_account("others", epsilon(1))
    with pytest.raises(ApprovalNeeded):
        strict.run(asked(), never)
    strict.approve(name_of(asked()))
    with pytest.raises(ApprovalNeeded):
        strict.run(asked(**other), never)
    assert len(strict.requests()) == 2
    assert strict.run(asked(), lambda _: "7")[0] == "7"


def test_a_fresh_answer_needs_an_approval_of_its_own_however_many_ask_at_once(strict):
    for _ in range(2):
        with pytest.raises(ApprovalNeeded):
            strict.run(asked(), never, fresh=True)
    strict.approve(name_of(asked()))

    def one(_):
        try:
            return strict.run(asked(), lambda _: "7", fresh=True)[0]
        except ApprovalNeeded:
            return None

    with ThreadPoolExecutor(4) as pool:
        assert sorted(map(str, pool.map(one, range(4)))) == ["7", "None", "None", "None"]
    assert strict.spent("people").texts() == ("1/10", "0")
    (request,) = strict.requests()
    assert request.state == "pending"  # the others asked for another


def test_a_denied_question_is_refused_with_the_custodians_words_until_it_is_approved(strict):
    with pytest.raises(ApprovalNeeded):
        strict.run(asked(), never)
    strict.deny(name_of(asked()), "ask by month")
    with pytest.raises(ApprovalNeeded, match="denied it: ask by month"):
        strict.run(asked(), never)
    assert strict.spent("people").texts() == ("0", "0")
    strict.approve(name_of(asked()))
    assert strict.run(asked(), lambda _: "7")[0] == "7"


def test_an_approved_question_can_still_be_denied_before_it_is_charged(strict):
    with pytest.raises(ApprovalNeeded):
        strict.run(asked(), never)
    strict.approve(name_of(asked()))
    strict.deny(name_of(asked()))
    with pytest.raises(ApprovalNeeded, match="denied"):
        strict.run(asked(), never)


def test_a_question_that_the_budget_does_not_cover_asks_for_no_approval(strict):
    with pytest.raises(LimitExceeded):
        strict.run(asked(epsilon=2), never)
    assert not strict.requests()


def test_bills_of_analysts_wait_as_well_and_those_of_the_custodian_do_not(strict):
    bill = replace(asked(), key="a bill")
    with pytest.raises(ApprovalNeeded):
        strict.bill(bill)
    strict.approve(name_of(bill))
    strict.bill(bill)
    strict.bill(charge(question="the custodian's own", key="another"))
    assert strict.spent("people").texts() == ("1/5", "0")


def test_only_the_tables_of_the_policy_wait(ledger):
    ledger.put(KIND, NAME, ChargePolicy(("stays",)).record())
    ledger.run(asked(), lambda _: "7")
    with pytest.raises(ApprovalNeeded):
        ledger.run(asked(tables={"stays": 1, "visits": 1}), never)


def test_what_began_before_the_policy_goes_on_and_a_request_survives_the_process(path, strict, clock):
    strict.put(KIND, NAME, ChargePolicy().record())
    strict.charge(asked(question="begun"))
    strict.put(KIND, NAME, ChargePolicy((EVERY,)).record())
    with pytest.raises(ApprovalNeeded):
        strict.run(asked(), never)
    strict.close()
    with Ledger.open(path, clock=clock) as again:
        again.approve(name_of(asked()))
        assert again.run(asked(), lambda _: "7")[0] == "7"
        assert again.charge(asked(question="begun")).replayed


@pytest.mark.parametrize("named", ["", "12", "0" * 64])
def test_a_request_that_is_not_there_or_is_named_too_shortly_is_refused(strict, named):
    with pytest.raises(ApprovalNeeded):
        strict.run(asked(), never)
    with pytest.raises(UnknownName):
        strict.approve(named)


@pytest.mark.parametrize("reason", ["two\nlines", 7, "x" * 2000])
def test_a_reason_is_a_line_of_text(strict, reason):
    with pytest.raises(BadParameter, match="line of text"):
        strict.deny("0" * 64, reason)
