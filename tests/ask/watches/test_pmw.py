"""Interactive sessions on a vault: one charge in full, answers within their bars, and nothing run twice."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from discreet.account.budgets.budget import Budget
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.ask.watches.pmw import Weighed
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.schema import between, flag, one_of
from discreet.core.unit import person, row
from discreet.engines.engine import EngineFailed
from discreet.ledger import QuestionFailed
from discreet.publish.pmw import Weights
from discreet.publish.pmw_session import Ended, Weighing
from discreet.testing import seeded
from tests.curator.questions import PURE, curator_of, opened
from tests.publish.worlds import made

COLUMNS = {"ward": one_of("A", "B", "C"), "age": between(0, 99), "urgent": flag()}
TERMS = {"epsilon": 20, "bins": 10, "updates": 10, "questions": 100}


@pytest.fixture(scope="module")
def data():
    generator = made(5)
    ward = generator.choice(["A", "B", "C", None], 3000, p=[0.5, 0.3, 0.1, 0.1])
    age = np.where(ward == "A", generator.integers(60, 100, 3000), generator.integers(0, 40, 3000))
    return {"id": np.arange(3000), "ward": ward, "age": age, "urgent": generator.random(3000) < 0.25}


@pytest.fixture
def session(tmp_path, data):
    with opened(tmp_path, data, unit=row(), columns=COLUMNS, budget=PURE) as found:
        yield found


def test_answers_are_near_the_exact_counts_and_the_bars_hold(session, data):
    """Bars hold together with probability 1 - 1e-6."""
    with seeded(1):
        weighed = session.pmw("visits", beta=1e-6, **TERMS)
        for where, exact in (
            ({"ward": "A"}, data["ward"] == "A"),
            ({"ward": ["B", "C"], "urgent": True}, np.isin(data["ward"].astype(str), ["B", "C"]) & data["urgent"]),
            ({"ward": None}, np.equal(data["ward"], None)),
            ({"ward": "A", "age": range(60, 100)}, (data["ward"] == "A") & (data["age"] >= 60)),
            ({"ward": "A", "age": range(40)}, (data["ward"] == "A") & (data["age"] < 40)),
            ({}, data["age"] >= 0),
        ):
            found = weighed.answer(where)
            assert found.low <= exact.sum() <= found.high
    assert weighed.updates >= 1  # ward and age depend on each other, which no single column tells
    assert weighed.asked == 6
    assert weighed.left == 10 - weighed.updates


def test_a_session_can_have_all_of_an_account(tmp_path, data):
    budget = Budget(epsilon=2, delta=1e-6)
    with opened(tmp_path, data, unit=row(), columns=COLUMNS, budget=budget) as session:
        weighed = session.pmw("visits", **TERMS | {"epsilon": 2, "delta": 1e-6})
        assert weighed.answer(ward="A").value is not None
        with pytest.raises(BudgetExceeded):
            session.table("visits").count().release(epsilon=1)


def test_what_an_update_taught_is_known_afterwards(session, data):
    with seeded(2):
        weighed = session.pmw("visits", **TERMS)
        weighed.answer(ward="A", age=range(40))
        once = weighed.updates
        weighed.answer(ward="A", age=range(40))
    assert (once, weighed.updates) == (1, 1)
    assert weighed.synthetic_data().answer({"ward": "A", "age": range(40)}).value < 100


def test_a_session_is_charged_in_full_at_the_start_and_answers_cost_nothing_more(session):
    ledger = curator_of(session).ledger
    weighed = session.pmw("visits", **TERMS)
    spent = ledger.spent("visits")
    assert spent.loss == 20
    for _ in range(3):
        weighed.answer(ward="A")
    assert ledger.spent("visits") == spent
    assert [entry.kind for entry in ledger.entries()][-5:] == ["charge", "part", "part", "part", "part"]


def test_another_session_on_the_same_terms_is_paid_again_and_has_other_noise(session):
    ledger = curator_of(session).ledger
    first, second = (session.pmw("visits", **TERMS) for _ in range(2))
    assert ledger.spent("visits").loss == 40
    assert first.receipt.key != second.receipt.key
    assert not second.receipt.replayed


def test_a_session_the_budget_cannot_pay_reads_no_row(tmp_path, data, monkeypatch):
    with opened(tmp_path, data, unit=row(), columns=COLUMNS, budget=Budget(epsilon=1)) as session:
        monkeypatch.setattr(type(session.desk), "runner", lambda *_: pytest.fail("the data were read"))
        with pytest.raises(BudgetExceeded):
            session.pmw("visits", **TERMS)


def test_a_beginning_that_fails_stays_charged_and_is_never_run_again(session, monkeypatch):
    ledger = curator_of(session).ledger

    def fails(*_):
        raise RuntimeError("the power went out")

    with monkeypatch.context() as patch:
        patch.setattr("discreet.publish.pmw.Weights.begin", fails)
        with pytest.raises(QuestionFailed):
            session.pmw("visits", **TERMS)
    assert ledger.unsettled() == ()
    (dead,) = [entry.record()["key"] for entry in ledger.entries() if entry.kind == "failure"]
    weighed = session.pmw("visits", **TERMS)
    assert weighed.receipt.key != dead
    assert ledger.spent("visits").loss == 40


def test_a_failure_in_a_session_ends_it_in_one_text(session, monkeypatch):
    weighed = session.pmw("visits", **TERMS)
    for cause in (EngineFailed(), OverflowError("a value"), MemoryError()):
        with monkeypatch.context() as patch:

            def fails(*_, cause=cause):
                raise cause

            patch.setattr("discreet.ask.watches.pmw._rows", fails)
            with pytest.raises(QuestionFailed) as told:
                weighed.answer(ward="A")
        assert (str(told.value), told.value.__context__) == (str(QuestionFailed()), None)
    with pytest.raises(QuestionFailed):
        weighed.answer(ward="A")


def test_a_fork_does_not_answer(session):
    weighed = session.pmw("visits", **TERMS)
    weighed._weighing._process = os.getpid() + 1
    with pytest.raises(Ended, match="another process"):
        weighed.answer(ward="A")


def test_a_session_ends_with_its_grant(session):
    weighed = session.pmw("visits", **TERMS)
    curator_of(session).revoke("alice")
    with pytest.raises(Refusal, match="revoked"):
        weighed.answer(ward="A")
    assert weighed.asked == 0


def test_a_session_ends_with_the_version_it_was_paid_for(session, data):
    weighed = session.pmw("visits", **TERMS)
    curator_of(session).refresh("visits", pd.DataFrame(data))
    with pytest.raises(Refusal, match="refreshed"):
        weighed.answer(ward="A")


def test_people_count_for_their_rows_in_every_noise(tmp_path, data):
    """Ten people of 300 rows each: a tenth of the sensitivity would be a tenth of the bar."""
    rows = {**data, "id": np.arange(3000) // 300}
    bars = []
    for most, relation in ((1, "add_remove"), (10, "add_remove"), (10, "replace")):
        unit = person("id", max_rows=most, relation=relation)
        with opened(tmp_path, rows, unit=unit, columns=COLUMNS) as session:
            weighed = session.pmw("visits", **TERMS)
            bars.append(weighed._asked.terms.answering_error)
            assert weighed.receipt.losses["visits"].relation == relation
    assert 9 <= bars[1] / bars[0] <= 11
    assert 1.9 <= bars[2] / bars[1] <= 2.1


def test_the_curator_opens_such_a_session_at_once(session):
    curator = curator_of(session)
    token = curator.grant("bob", "visits")
    with seeded(3):
        weighed = curator.session(token, pmw=True, **TERMS)
    assert isinstance(weighed, Weighed)
    assert "all of it spent at the start" in weighed.words[0]
    with pytest.raises(BadParameter, match="pmw=True"):
        curator.session(token, epsilon=1)


def test_what_cannot_be_is_refused_before_anything_is_paid(session, tmp_path):
    ledger = curator_of(session).ledger
    wide = {f"n{number}": between(0, 999) for number in range(3)}
    with opened(tmp_path, {name: [1] for name in wide}, unit=row(), columns=wide) as other:
        with pytest.raises(Refusal, match="cells"):
            other.pmw(epsilon=1, bins=1000)
        assert curator_of(other).ledger.spent("visits").loss == 0
    for terms, refusal in (
        ({"columns": ["wrad"]}, UnknownName),
        ({"alpha": 0}, BadParameter),
        ({"updates": 0}, BadParameter),
        ({"beta": 2}, BadParameter),
    ):
        with pytest.raises(refusal):
            session.pmw("visits", **{**TERMS, **terms})
    with pytest.raises(BadParameter):
        session.pmw("visits")
    assert ledger.spent("visits").loss == 0
    weighed = session.pmw("visits", **TERMS)
    with pytest.raises(UnknownName, match="ward"):
        weighed.answer(wrad="A")
    with pytest.raises(BadParameter):
        weighed.answer(age=range(5))
    assert weighed.asked == 0


def test_a_session_goes_on_where_its_last_answer_was_settled(session, data):
    ledger = curator_of(session).ledger
    weighed = session.pmw("visits", **TERMS)
    asked = [{"ward": "A", "age": range(40)}, {"ward": "A"}, {"urgent": True}]
    told = [weighed.answer(where) for where in asked]
    spent, histogram = ledger.spent("visits"), weighed._weighing.histogram.table
    for receipt in (weighed.receipt, weighed.receipt.key, weighed.receipt.record()):
        again = session.pmw("visits", resume=receipt, **TERMS)
        assert (again.asked, again.updates, again.left) == (weighed.asked, weighed.updates, weighed.left)
        assert np.array_equal(again._weighing.histogram.table, histogram)
    assert ledger.spent("visits") == spent
    texts = [json.loads(text) for _, text in ledger.parts(weighed.receipt.key, after=1)]
    assert [each["value"] for each in texts] == [each.value for each in told]
    again.answer(ward="B")  # in the place of a process that has died
    weighed.answer(ward="C")  # which has not: they take turns
    assert weighed.asked == 5
    assert [number for number, _ in ledger.parts(weighed.receipt.key)] == [1, 2, 3, 4, 5, 6]


def test_an_answer_whose_process_died_is_the_same_when_it_is_asked_again(session, monkeypatch):
    weighed = session.pmw("visits", **TERMS)
    seen = []
    real = Weighing.told

    def dies(self, where):
        seen.append(real(self, where))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Weighing, "told", dies)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                weighed.answer(ward="A", age=range(40))
    assert weighed.asked == 0  # nothing of it is settled
    again = session.pmw("visits", resume=weighed.receipt, **TERMS)
    assert again.answer(ward="A", age=range(40)) == seen[0] == seen[1]


def test_a_beginning_whose_process_died_is_measured_again_in_the_same_way(session, monkeypatch):
    ledger = curator_of(session).ledger
    drawn = []
    real = Weights.begin

    def dies(self, measure):
        drawn.append([each.values.tolist() for each in real(self, measure)])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Weights, "begin", dies)
        with pytest.raises(KeyboardInterrupt):
            session.pmw("visits", **TERMS)
    (key,) = [key for _, key in ledger.unsettled()]
    again = session.pmw("visits", resume=key, **TERMS)
    begun = [values for _, values, _ in json.loads(ledger.parts(key)[0][1])]
    assert begun == drawn[0]
    assert ledger.spent("visits").loss == 20
    assert again.answer(ward="A").value > 0


def test_a_session_is_resumed_by_its_analyst_on_its_terms_and_its_version_alone(session, data):
    curator = curator_of(session)
    weighed = session.pmw("visits", **TERMS)
    with pytest.raises(Refusal, match="other terms"):
        session.pmw("visits", resume=weighed.receipt, **TERMS | {"updates": 11})
    stranger = curator.session(curator.grant("bob", "visits"))
    with pytest.raises(Refusal, match="another analyst"):
        stranger.pmw("visits", resume=weighed.receipt, **TERMS)
    with pytest.raises(Refusal, match="none of that name"):
        session.pmw("visits", resume="nothing", **TERMS)
    curator.refresh("visits", pd.DataFrame(data))
    with pytest.raises(Refusal, match="refreshed"):
        session.pmw("visits", resume=weighed.receipt, **TERMS)


def test_a_session_that_has_ended_is_ended_in_the_ledger_and_its_noise_is_gone(session):
    ledger = curator_of(session).ledger
    weighed = session.pmw("visits", **TERMS | {"questions": 2})
    for _ in range(2):
        weighed.answer(ward="A")
    with pytest.raises(Ended):
        weighed.answer(ward="A")
    assert ledger.unsettled() == ()
    with pytest.raises(Refusal, match="has ended"):
        session.pmw("visits", resume=weighed.receipt, **TERMS | {"questions": 2})
    (release,) = [each for each in session.releases() if each.key == weighed.receipt.key]
    assert (release.settled, release.parts) == ("answer", 3)


def test_the_noisy_threshold_is_sealed_and_is_one_for_all_comparisons(session):
    ledger = curator_of(session).ledger
    weighed = session.pmw("visits", **TERMS)
    weighed.answer(ward="A")
    threshold, _ = weighed._weighing._watch.kept
    stored = b"".join(each.read_bytes() for each in ledger._states.path.iterdir())
    kept = weighed._weighing.private
    assert kept.startswith(f"[{threshold}, ".encode())
    assert kept not in stored
    assert not any(kept.decode() in entry.body for entry in ledger.entries())
    again = session.pmw("visits", resume=weighed.receipt, **TERMS)
    again.answer(ward="B")
    assert again._weighing._watch.kept[0] == threshold
