"""Work limits: what a question costs at least, how many rows joins make of one, deadlines, and response times."""

import logging
import threading
import time
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import pytest

import discreet as dp
from discreet.account import Pure, Zcdp
from discreet.ask import work_limits
from discreet.ask.programme import Programme
from discreet.ask.work_limits import WorkLimits
from discreet.core.errors import BadParameter, Refusal
from discreet.curator.curator import Curator
from discreet.curator.policy import read
from discreet.engines.engine import EngineFailed
from discreet.ledger import Charge
from discreet.ledger.refusals import QuestionFailed
from discreet.plan.stability import MOST_PAIRS
from tests.curator.questions import curator_of, head, opened


def small(tmp_path, **budget):
    return opened(tmp_path, budget=dp.Budget(**(budget or {"epsilon": 2})))


def spent(session):
    return curator_of(session).ledger.spent("visits").loss


# The least price -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "least", "below"),
    [
        ({"epsilon": 2}, {"epsilon": 2e-6}, {"epsilon": 1.9e-6}),
        ({"epsilon": 2, "delta": 1e-6}, {"epsilon": 5e-4}, {"epsilon": 3e-4}),
        ({"epsilon": 2, "delta": 1e-6}, {"epsilon": 1e-3, "delta": 1e-7}, {"epsilon": 1e-90, "delta": 1e-7}),
        ({"rho": 0.5}, {"rho": 5e-7}, {"rho": 4.9e-7}),
        ({"rho": 0.5}, {"epsilon": 1.1e-3}, {"epsilon": 9e-4}),
        ({"epsilon": 10**6}, {"epsilon": 1e-4}, {"epsilon": 9e-5}),
    ],
)
def test_a_question_costs_a_millionth_of_the_budget_or_is_refused_before_the_charge(tmp_path, budget, least, below):
    session = small(tmp_path, **budget)
    count = session.table("visits").count()
    with pytest.raises(Refusal, match=r"a price below 1e-06 of the budget of visits.*without limit.*pay at least"):
        count.release(**below)
    assert spent(session) == 0
    assert any("is refused: pay at least" in note for note in count.preview(**below).notes)
    assert not any("is refused" in note for note in count.preview(**least).notes)
    count.release(**least)
    assert spent(session) > 0


def test_the_price_named_in_the_refusal_is_enough(tmp_path):
    session = small(tmp_path, epsilon=3, delta=1e-6)
    count = session.table("visits").count()
    with pytest.raises(Refusal) as refused:
        count.release(epsilon=1e-90)
    named = refused.value.fix.split("epsilon=")[1].split(" ")[0]
    assert count.release(epsilon=Decimal(named)).receipt["replayed"] is False


@pytest.mark.parametrize(
    "budget", [{"epsilon": 3}, {"epsilon": 3, "delta": 1e-6}, {"epsilon": 1, "delta": 1e-9}, {"rho": 0.5}]
)
@pytest.mark.parametrize("share", [Fraction(1, 10**6), Fraction(1, 100)])
def test_no_more_questions_fit_than_the_share_says(budget, share):
    filter_ = dp.Budget(**budget).filter()
    limits = WorkLimits(least_price=share)
    for price in (Fraction(1, 10**place) for place in range(10)):
        for loss in (Pure(price), Zcdp(price)):
            if "delta" not in budget and "rho" not in budget and isinstance(loss, Zcdp):
                continue
            try:
                limits.check_price("visits", filter_, loss)
            except Refusal:
                continue
            assert filter_.more(loss) <= 1.001 / share


def test_the_price_of_a_question_is_that_of_all_its_columns(tmp_path):
    session = small(tmp_path)
    answer = session.table("visits").agg(n=dp.count(), cost=dp.sum("cost"), age=dp.median("age")).release(epsilon=2e-6)
    assert len(answer.columns) == 3


def test_a_partition_and_synthetic_data_cost_the_least_price_too(tmp_path):
    session = small(tmp_path)
    with pytest.raises(Refusal, match="a price below"):
        session.table("visits").partition("ward").release(lambda part: part.count(), epsilon=1e-7)
    with pytest.raises(Refusal, match="a price below"):
        session.table("visits").synthesize("independent", epsilon=1e-9, columns=["ward"])
    assert spent(session) == 0


def test_a_custodian_changes_the_least_price_and_a_paid_answer_is_replayed_all_the_same(tmp_path):
    session = small(tmp_path)
    curator = curator_of(session)
    assert curator.work(least_price=0) == WorkLimits(least_price=Fraction(0))
    first = session.table("visits").count().release(epsilon=1e-9)
    curator.work(least_price=0.1)
    again = session.table("visits").count().release(epsilon=1e-9)
    assert (again.value(), again.receipt["replayed"]) == (first.value(), True)
    with pytest.raises(Refusal, match=r"below 0.1 of the budget.*epsilon=0.2"):
        session.table("visits").count().release(epsilon=0.1)
    before = head(session)
    with pytest.raises(Refusal, match=r"below 0.1 of the budget.*epsilon=0.2"):
        session.table("visits").count().release(epsilon=1e-9, fresh=True)
    assert head(session) == before


@pytest.mark.parametrize("large", ["a", "b", "c"])
def test_a_question_that_several_accounts_pay_for_costs_the_least_price_of_each(tmp_path, large):
    session = small(tmp_path)
    ledger = curator_of(session).ledger
    for account in "abc":
        ledger.add_account(account, dp.Budget(epsilon=1000 if account == large else 1))
    charge = Charge(
        "q", dict.fromkeys("abc", Pure(Fraction(1, 10**5))), {"visits": 1}, session.analyst, session.desk.grant
    )
    before = head(session)
    with pytest.raises(Refusal, match=f"of the budget of {large}: .*pay at least epsilon="):
        session.desk.charge(charge, lambda _: pytest.fail("the work was done"), fresh=False, engine=lambda: "engine")
    assert head(session) == before


# Partners --------------------------------------------------------------------------------------------------------


def chained(session, sizes):
    found = session.table("visits")
    for place, size in enumerate(sizes):
        data = {"ward": ["A"] * size, f"x{place}": list(range(size))}
        found = found.join(session.public(f"p{place}", data), on="ward")
    return found


def test_public_joins_that_make_very_many_rows_of_one_are_refused_in_previews_too(tmp_path):
    session = small(tmp_path)
    assert chained(session, [100, 100]).count().release(epsilon=1) is not None
    for sizes in ([400, 400, 400], [101, 100]):
        question = chained(session, sizes).count()
        with pytest.raises(BadParameter, match=r"rows of one, and the policy allows 10,000.*most=3"):
            question.release(epsilon=1e-90)
        with pytest.raises(BadParameter, match="rows of one"):
            question.preview(epsilon=1)
        with pytest.raises(BadParameter, match="rows of one"):
            chained(session, sizes).synthesize("independent", epsilon=0.1, columns=["ward"])
    assert spent(session) == 1


def test_a_custodian_sets_how_many_rows_joins_may_make_of_one(tmp_path):
    session = small(tmp_path)
    curator_of(session).work(partners=3)
    chained(session, [3]).count().preview(epsilon=1)
    with pytest.raises(BadParameter, match="the policy allows 3"):
        chained(session, [4]).count().preview(epsilon=1)
    with pytest.raises(BadParameter, match="up to 4 rows") as told:
        session.sql("SELECT COUNT(*) FROM visits JOIN (VALUES ('A'), ('A'), ('A'), ('A')) AS p(ward) USING (ward)", 1)
    assert "most=" not in told.value.fix


def test_rows_that_meet_rows_of_the_same_person_over_and_over_are_refused(tmp_path):
    session = small(tmp_path)
    found = session.table("visits")
    for place in range(9):
        found = found.join(session.table("visits"), columns={f"age{place}": "age"})
    with pytest.raises(BadParameter, match="its joins make up to 19,683 rows"):
        found.count().preview(epsilon=1)


# Deadlines -------------------------------------------------------------------------------------------------------


def test_a_question_that_passes_its_deadline_fails_like_any_other_and_the_custodian_is_told(tmp_path, caplog):
    session = small(tmp_path)
    curator = curator_of(session)
    curator.work(deadline=1e-6)
    with caplog.at_level(logging.WARNING, logger="discreet"), pytest.raises(Refusal) as refused:
        session.table("visits").agg(n=dp.count(), age=dp.median("age")).release(epsilon=1)
    assert "deadline" not in str(refused.value)
    assert [record.message for record in caplog.records] == [
        "a question was stopped at its deadline",
        "a question failed after it was paid for, and is settled as failed",
    ]
    (late,) = curator.late()
    assert (late.analyst, late.question) == ("alice", "a question about visits")
    assert spent(session) == 1
    assert curator.verify().entries > 0


def test_a_runner_turns_a_passed_deadline_into_the_one_failure_of_engines(tmp_path):
    session = small(tmp_path)
    curator_of(session).work(deadline=1e-6)
    registered = {"visits": session.desk.registered("visits")}

    def asked():
        with session.desk.runner(registered) as runner:
            time.sleep(0.1)
            runner.engine.rows("SELECT 1")

    with pytest.raises(EngineFailed) as failed:
        asked()
    assert type(failed.value) is EngineFailed


# Pace ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [0.0, 0.4, 1.0, 1.3])
@pytest.mark.parametrize("fails", [False, True])
def test_a_response_takes_a_whole_number_of_paces_whether_it_succeeds_or_fails(monkeypatch, taken, fails):
    clock = [100.0]
    monkeypatch.setattr(work_limits.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(work_limits.time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    try:
        with WorkLimits(pace=Fraction(1, 2)).paced():
            clock[0] += taken
            if fails:
                raise EngineFailed
    except EngineFailed:
        assert fails
    assert (clock[0] - 100) % 0.5 == pytest.approx(0, abs=1e-9)
    assert taken <= clock[0] - 100 < taken + 0.5


def test_answers_replays_and_refusals_of_a_paced_vault_take_their_pace(tmp_path):
    session = small(tmp_path)
    curator_of(session).work(pace=0.5)
    for price in (1, 1, 5):
        begun = time.monotonic()
        try:
            session.table("visits").count().release(epsilon=price)
        except dp.BudgetExceeded:
            assert price == 5
        assert time.monotonic() - begun >= 0.5


class Clock:
    """A clock for paces: sleeping takes no time, and is the moment at which someone else looks."""

    def __init__(self, monkeypatch, look):
        self.begun = self.now = 100.0
        self.look, self.seen = look, []
        monkeypatch.setattr(work_limits, "time", self)

    def monotonic(self):
        self.now += 0.001
        return self.now

    def sleep(self, seconds):
        self.seen.append(self.look())
        self.now += seconds


@pytest.mark.parametrize("fails", [False, True])
def test_nobody_sees_an_answer_or_a_failure_settled_before_the_pace_of_its_work(tmp_path, monkeypatch, fails):
    session = small(tmp_path)
    curator = curator_of(session)
    curator.work(pace=0.5)
    count = curator.session(curator.grant("bob", "visits")).table("visits").count()
    if fails:
        monkeypatch.setattr(Programme, "run", lambda *_: 1 / 0)
    clock = Clock(monkeypatch, lambda: (clock.now, len(curator.ledger.unsettled()), count.preview(epsilon=1).answered))
    with suppress(QuestionFailed):
        session.table("visits").count().release(epsilon=1)
    (worked, *waiting), (settled, *done) = clock.seen
    assert (waiting, done) == ([1, False], [0, not fails])
    assert worked < settled == pytest.approx(100.45, abs=0.01)
    assert clock.now == pytest.approx(100.5, abs=0.01)


def test_work_that_ends_just_before_a_pace_is_settled_with_the_next_one(monkeypatch):
    clock = Clock(monkeypatch, lambda: None)
    with WorkLimits(pace=Fraction(1)).paced() as pace:
        with suppress(EngineFailed), pace.working():
            clock.now += 0.95
            raise EngineFailed
        assert clock.now == pytest.approx(101.9, abs=0.01)
    assert clock.now == pytest.approx(102, abs=0.01)


def test_other_threads_wait_for_the_pace_of_an_answer_of_a_session_whatever_they_want_to_know(tmp_path, monkeypatch):
    session = small(tmp_path)
    weighed = session.pmw("visits", epsilon=1, columns=["ward"], alpha=0.1, updates=2, questions=5)
    curator_of(session).work(pace=0.5)
    found, threads = [], []

    def look():
        for told in (weighed.synthetic_data, lambda: weighed.asked, lambda: weighed.updates, lambda: weighed.left):
            threads.append(threading.Thread(target=lambda told=told: found.append(told())))
            threads[-1].start()
        threads[-1].join(0.05)
        return list(found)

    clock = Clock(monkeypatch, look)
    weighed.answer(ward="A")
    assert clock.seen  # the work waits, and then the response
    assert not any(clock.seen)
    for thread in threads:
        thread.join()
    assert len(found) == 4 * len(clock.seen)


# Setting them ----------------------------------------------------------------------------------------------------


def test_limits_stand_in_the_vault_and_say_what_they_are(tmp_path):
    curator = curator_of(small(tmp_path))
    assert curator.work() == WorkLimits() == WorkLimits(Fraction(1, 10**6), MOST_PAIRS, Fraction(3600), Fraction(0))
    made = curator.work(deadline=60, pace=0.5)
    assert WorkLimits.of(curator.ledger) == made == WorkLimits(deadline=Fraction(60), pace=Fraction(1, 2))
    entries = curator.verify().entries
    assert curator.work(deadline=60) == made
    assert curator.verify().entries == entries


@pytest.mark.parametrize(
    "wrong",
    [
        *({"least_price": value} for value in (-1, 2)),
        *({"partners": value} for value in (0, True, 1.5)),
        *({"deadline": value} for value in (0, -1, 10**7)),
        *({"pace": value} for value in (-1, 10**6)),
    ],
    ids=str,
)
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(BadParameter, match=next(iter(wrong))):
        WorkLimits().with_changes(wrong)


def test_a_policy_sets_them_and_says_so_once(tmp_path):
    curator = curator_of(small(tmp_path))
    file = tmp_path / "discreet.toml"
    file.write_text("[work]\nleast_price = 1e-5\npartners = 500\ndeadline = 90\npace = 0.25\n")
    assert [(each.action, each.kind) for each in read(file).apply(curator)] == [("limits set", "work")]
    assert [each.action for each in read(file).apply(curator)] == ["left"]
    assert curator.work() == WorkLimits(Fraction(1, 10**5), 500, Fraction(90), Fraction(1, 4))
    file.write_text("[work]\npartners = 0\n")
    with pytest.raises(BadParameter, match=r"discreet\.toml:1: partners"):
        read(file)
    file.write_text("[work]\ndeadlin = 3\n")
    with pytest.raises(KeyError, match="did you mean 'deadline'"):
        read(file)


def test_a_limit_that_the_section_of_a_policy_leaves_out_is_at_its_default(tmp_path):
    with Curator(tmp_path / "vault.discreet") as curator:
        for text, expected in (("deadline = 600\npace = 2", {"deadline": 600, "pace": 2}), ("pace = 3", {"pace": 3})):
            (tmp_path / "discreet.toml").write_text(f"[work]\n{text}\n")
            assert [each.action for each in read(tmp_path / "discreet.toml").apply(curator)] == ["limits set"]
            assert curator.work().changed == expected
        (tmp_path / "discreet.toml").write_text("")
        assert read(tmp_path / "discreet.toml").apply(curator) == []
        assert curator.work().changed == {"pace": 3}
