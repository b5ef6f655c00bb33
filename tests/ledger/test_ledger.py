"""The ledger: charge first, answer after; one answer; nothing charged twice; refusals recorded."""

import threading
import traceback
from fractions import Fraction

import pytest

from discreet.account import DiscreteGaussian, Pure
from discreet.account.budgets.budget import Budget, BudgetExceeded
from discreet.account.budgets.cost import Uncountable
from discreet.core.errors import BadParameter, UnknownName
from discreet.ledger import Charge, Conflict, LeaseLost, Ledger, LimitExceeded, QuestionFailed
from tests.ledger.helpers import charge, epsilon, kinds

EVERY_STORE = True


def never(_draws):
    pytest.fail("the work was done again")


def lines(error):
    """Where an exception was raised, below the test itself."""
    return [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:]]


def test_a_question_is_charged_before_its_work_and_settled_after(ledger):
    seen = []

    def work(_draws):
        seen.extend([ledger.spent("people").loss, kinds(ledger)[-1]])
        return "41"

    answer, receipt = ledger.run(charge(), work)
    assert (answer, receipt.replayed) == ("41", False)
    assert seen == [Fraction(1, 10), "charge"]
    assert kinds(ledger)[-2:] == ["charge", "settle"]


def test_a_repeated_question_is_replayed_without_charge(ledger):
    first = ledger.run(charge(), lambda _: "41")
    again = ledger.run(charge(analyst="bob"), never)
    assert again[0] == first[0]
    assert again[1].replayed
    assert again[1].sequence == first[1].sequence
    assert ledger.spent("people").loss == Fraction(1, 10)
    assert kinds(ledger).count("charge") == 1


def test_a_fresh_answer_pays_again(ledger):
    ledger.run(charge(), lambda _: "41")
    answer, receipt = ledger.run(charge(), lambda _: "43", fresh=True)
    assert (answer, receipt.replayed) == ("43", False)
    assert ledger.spent("people").loss == Fraction(1, 5)
    assert ledger.run(charge(), never)[0] == "41"


def test_another_version_of_the_table_is_another_question(ledger):
    ledger.run(charge(), lambda _: "41")
    assert ledger.run(charge(tables={"visits": 2}), lambda _: "40")[0] == "40"


def test_a_question_beyond_the_budget_is_refused_with_the_amounts_and_recorded(ledger):
    ledger.run(charge("q", Fraction(7, 10)), lambda _: "41")
    with pytest.raises(BudgetExceeded) as refused:
        ledger.run(charge("r", Fraction(2, 5)), never)
    refusal = refused.value
    assert isinstance(refusal, LimitExceeded)
    assert (refusal.requested, refusal.remaining, refusal.difference) == (
        Fraction(2, 5),
        Fraction(3, 10),
        Fraction(1, 10),
    )
    assert (refusal.limit, refusal.account) == ("account 'people'", "people")
    assert "at most 0.3" in refusal.fits
    assert str(refusal).startswith("account 'people': epsilon 0.4 requested: 0.3 of 1 remains, 0.1 too little")
    recorded = [*ledger.entries()][-1]
    assert recorded.kind == "refusal"
    assert recorded.record()["refused"]["what"] == refusal.what
    assert ledger.spent("people").loss == Fraction(7, 10)


def test_the_last_unit_can_be_spent_exactly_and_nothing_after_it(ledger):
    for number in range(10):
        ledger.run(charge(f"q{number}"), lambda _: "41")
    with pytest.raises(BudgetExceeded, match="nothing of this currency is left"):
        ledger.run(charge("last", Fraction(1, 10**9)), never)


def test_a_loss_that_the_budget_cannot_count_is_refused_and_recorded(ledger):
    with pytest.raises(Uncountable):
        ledger.run(Charge("q", {"people": DiscreteGaussian(1)}, {"visits": 1}), never)
    assert kinds(ledger)[-1] == "refusal"


def test_a_loss_under_another_relation_is_refused(ledger):
    with pytest.raises(BadParameter, match="relation"):
        ledger.run(Charge("q", {"people": Pure(1, relation="replace")}, {"visits": 1}), never)


def test_an_unknown_account_is_refused_with_the_nearest(ledger):
    with pytest.raises(UnknownName, match="people"):
        ledger.charge(charge(account="peple"))


def test_two_accounts_are_charged_together_or_not_at_all(ledger):
    ledger.add_account("staff", epsilon(Fraction(1, 20)))
    with pytest.raises(LimitExceeded) as refused:
        ledger.charge(charge(account=["people", "staff"]))
    assert refused.value.account == "staff"
    assert ledger.spent("people").loss == ledger.spent("staff").loss == 0
    ledger.charge(charge("r", Fraction(1, 20), account=["people", "staff"]))
    assert ledger.spent("people").loss == ledger.spent("staff").loss == Fraction(1, 20)


@pytest.mark.parametrize(
    ("budget", "loss"),
    [
        (Budget(epsilon=1), Pure(Fraction(1, 3))),
        (Budget(epsilon=1, delta=1e-6), DiscreteGaussian(Fraction(20))),
        (Budget(rho=0.01), DiscreteGaussian(Fraction(20))),
    ],
)
def test_every_kind_of_budget_is_kept_exactly(ledger, budget, loss):
    ledger.add_account("more", budget)
    filter_ = budget.filter()
    for number in range(3):
        ledger.charge(Charge(f"q{number}", {"more": loss}, {"visits": 1}))
        filter_ = filter_.admit(loss)
    assert ledger.spent("more") == filter_.spent
    assert ledger.verify().entries == ledger.head[0]


def test_a_failing_work_is_settled_as_failed_for_good_and_tells_nothing(ledger):
    with pytest.raises(QuestionFailed) as first:
        ledger.run(charge(), lambda _: str(1 // 0))
    with pytest.raises(QuestionFailed) as again:
        ledger.run(charge(), never)
    for told in (first.value, again.value):
        assert (told.__cause__, told.__context__) == (None, None)
        assert str(told) == str(QuestionFailed())
    # Not even the lines at which it was raised differ.
    assert lines(first.value) == lines(again.value)
    assert kinds(ledger)[-2:] == ["charge", "failure"]
    assert ledger.spent("people").loss == Fraction(1, 10)
    assert (ledger.unsettled(), ledger.answer(charge().key)) == ((), None)
    assert ledger.run(charge(), lambda _: "41", fresh=True)[0] == "41"
    assert ledger.spent("people").loss == Fraction(1, 5)
    with pytest.raises(QuestionFailed):
        ledger.run(charge(), never)
    assert ledger.verify().entries == ledger.head[0]


@pytest.mark.parametrize("answer", [b"41", None, "\ud800"])
def test_an_answer_that_cannot_be_stored_has_failed(ledger, answer):
    with pytest.raises(QuestionFailed):
        ledger.run(charge(), lambda _: answer)
    with pytest.raises(QuestionFailed):
        ledger.run(charge(), never)


def test_a_large_answer_comes_back_unchanged(ledger):
    large = "ä\x00'" * 500_000
    assert ledger.run(charge(), lambda _: large)[0] == large
    assert ledger.answer(charge().key) == large
    assert ledger.verify().entries == ledger.head[0]


def test_a_key_with_another_question_is_refused(ledger):
    ledger.run(charge(key="mine"), lambda _: "41")
    with pytest.raises(Conflict, match="another question"):
        ledger.run(charge("r", key="mine"), never)
    with pytest.raises(Conflict, match="another question"):
        ledger.run(charge(tables={"visits": 2}, key="mine"), never)
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_an_unsettled_debit_that_is_asked_for_at_another_price_has_failed(ledger):
    ledger.charge(charge("q", Fraction(1, 10)))
    for price in (Fraction(2, 10), Fraction(1, 10)):
        with pytest.raises(QuestionFailed):
            ledger.run(charge("q", price), never)
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_a_settled_answer_is_replayed_at_any_price(ledger):
    ledger.run(charge("q", Fraction(1, 10)), lambda _: "41")
    assert ledger.run(charge("q", Fraction(2, 10)), never)[0] == "41"


def test_charging_twice_charges_once(ledger):
    first, again = ledger.charge(charge()), ledger.charge(charge())
    assert (first.replayed, again.replayed) == (False, True)
    assert first.head == again.head
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_what_was_charged_by_hand_is_settled_once(ledger):
    receipt = ledger.charge(charge())
    lease = ledger.lease(receipt)
    ledger.settle(receipt, lease, "41")
    assert ledger.answer(receipt.key) == "41"
    with pytest.raises(LeaseLost):
        ledger.settle(receipt, lease, "42")
    with pytest.raises(Conflict, match="no charge that waits"):
        ledger.lease(receipt)
    assert ledger.run(charge(), never)[0] == "41"


def test_spending_is_counted_for_each_analyst(ledger):
    ledger.run(charge("q", analyst="alice"), lambda _: "1")
    ledger.run(charge("r", Fraction(1, 5), analyst="bob"), lambda _: "1")
    ledger.run(charge("s", analyst="alice"), lambda _: "1")
    assert ledger.spent("people", "alice").loss == Fraction(1, 5)
    assert ledger.spent("people", "bob").loss == Fraction(1, 5)
    assert ledger.spent("people", "carol").loss == 0
    assert ledger.spent("people").loss == Fraction(2, 5)


def test_a_refusal_before_a_charge_can_be_recorded(ledger):
    ledger.refused("alice", "SELECT \ud800", "it is no valid text")
    body = [*ledger.entries()][-1].record()
    assert (body["analyst"], body["question"]) == ("alice", "SELECT \\ud800")
    assert body["refused"] == {"why": "it is no valid text"}


def test_entries_are_listed_in_pages_and_in_order(ledger, monkeypatch):
    monkeypatch.setattr("discreet.ledger.vault._PAGE", 3)
    for number in range(8):
        ledger.refused(None, f"q{number}", "why")
    assert [entry.sequence for entry in ledger.entries()] == list(range(1, 11))
    assert [entry.sequence for entry in ledger.entries(after=4, limit=4)] == [5, 6, 7, 8]
    assert [*ledger.entries(limit=0)] == []


def test_threads_share_a_ledger_and_one_of_them_works(ledger):
    works, answers = [], []

    def ask():
        answers.append(ledger.run(charge(), lambda _: works.append(1) or "41")[0])

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (works, answers) == ([1], ["41"] * 8)
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_a_vault_is_the_same_when_opened_again(ledger, path, clock):
    token = ledger.grant("alice", "visits")
    ledger.run(charge(), lambda _: "41")
    state = (ledger.vault_id, ledger.secret("rows"), ledger.head, ledger.spent("people"))
    ledger.close()
    with Ledger.open(path, clock=clock) as again:
        assert (again.vault_id, again.secret("rows"), again.head, again.spent("people")) == state
        assert again.authenticate(token).analyst == "alice"
        assert again.run(charge(), never)[0] == "41"


def test_every_purpose_has_a_secret_of_its_own(ledger):
    found = {ledger.secret(purpose) for purpose in ("rows", "rows ", "blocks", "commitment", "private records")}
    assert len(found) == 5
    assert all(len(secret) == 32 for secret in found)
    shown = repr(ledger) + "".join(entry.body for entry in ledger.entries())
    assert not any(secret.hex() in shown for secret in found)
