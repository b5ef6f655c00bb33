"""Leases: one worker at a time, takeover when one is lost, and no answer from whoever came too late."""

import threading
import time
from fractions import Fraction

import pytest

from discreet.ledger import Conflict, LeaseLost, Ledger, QuestionFailed
from discreet.ledger.lease import Lease, LeaseWatch
from discreet.noise import bits
from tests.ledger.helpers import charge

EVERY_STORE = True


def never(_draws):
    pytest.fail("the work was done again")


def test_a_second_worker_waits_for_the_settled_answer(ledger, path, clock):
    started, finish, answers = threading.Event(), threading.Event(), []

    def slow(_draws):
        started.set()
        assert finish.wait(20)
        return "first"

    with Ledger.open(path, clock=clock) as other:
        one = threading.Thread(target=lambda: answers.append(ledger.run(charge(), slow)))
        two = threading.Thread(target=lambda: answers.append(other.run(charge(), never)))
        one.start()
        assert started.wait(20)
        two.start()
        time.sleep(0.1)
        finish.set()
        one.join()
        two.join()
    assert [answer for answer, _ in answers] == ["first", "first"]
    assert sorted(receipt.replayed for _, receipt in answers) == [False, True]


def test_a_dead_workers_question_is_taken_over_without_a_new_charge(ledger, path, clock):
    receipt = ledger.charge(charge())
    ledger.lease(receipt)
    with Ledger.open(path, clock=clock) as other:
        with pytest.raises(Conflict, match="someone is working"):
            other.lease(receipt)
        clock.move(seconds=60)
        answer, again = other.run(charge(), lambda _: "second")
    assert (answer, again.replayed) == ("second", False)
    assert again.sequence == receipt.sequence
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_a_late_answer_is_discarded_and_the_settled_one_returned(ledger, path, clock):
    with Ledger.open(path, clock=clock) as other:

        def late(_draws):
            clock.move(seconds=61)
            assert other.run(charge(), lambda _: "second")[0] == "second"
            return "first"

        answer, receipt = ledger.run(charge(), late)
    assert (answer, receipt.replayed) == ("second", True)
    assert ledger.answer(charge().key) == "second"
    assert ledger.verify().entries == ledger.head[0]


def test_a_late_answer_whose_question_was_only_taken_over_is_discarded_too(ledger, clock):
    receipt = ledger.charge(charge())
    first = ledger.lease(receipt)
    clock.move(seconds=60)
    second = ledger.lease(receipt)
    with pytest.raises(LeaseLost, match="taken the question over"):
        ledger.settle(receipt, first, "first")
    ledger.settle(receipt, second, "second")
    assert (second.fence, ledger.answer(receipt.key)) == (2, "second")


def test_an_expired_lease_that_nobody_took_still_settles(ledger, clock):
    receipt = ledger.charge(charge())
    lease = ledger.lease(receipt)
    clock.move(days=1)
    ledger.settle(receipt, lease, "41")
    assert ledger.answer(receipt.key) == "41"


def test_a_lease_of_another_charge_settles_nothing(ledger):
    one, two = ledger.charge(charge("q")), ledger.charge(charge("r"))
    with pytest.raises(LeaseLost):
        ledger.settle(two, ledger.lease(one), "41")


def test_a_clock_set_back_does_not_keep_a_dead_workers_lease_alive(path, clock):
    with Ledger.create(path, clock=clock, lease_seconds=0.05) as ledger:
        from tests.ledger.helpers import epsilon

        ledger.add_account("people", epsilon(1))
        ledger.lease(ledger.charge(charge()))
        clock.move(days=-1000)
        assert ledger.run(charge(), lambda _: "41")[0] == "41"


def test_each_takeover_doubles_the_lease_and_a_lease_given_back_does_not():
    first = Lease.first("k", 60.0, 0.0)
    second = first.next(60.0, 60.0)
    assert (first.fence, second.fence, second.seconds, second.expires) == (1, 2, 120.0, 180.0)
    assert first.released().next(60.0, 1.0) == Lease("k", 2, 60.0, 61.0)
    for _ in range(20):
        second = second.next(60.0, 0.0)
    assert (second.fence, second.seconds) == (22, 3840.0)


def test_a_watch_begins_anew_with_each_lease(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("discreet.ledger.lease.monotonic", lambda: now[0])
    watch, first = LeaseWatch(), Lease.first("k", 60.0, 1e9)
    assert not watch.expired(first, 0.0)
    now[0] = 59.0
    assert not watch.expired(first, 0.0)
    now[0] = 60.0
    assert watch.expired(first, 0.0)
    assert not watch.expired(first.next(60.0, 1e9), 0.0)
    assert [watch.next_pause() for _ in range(7)] == [0.002, 0.004, 0.008, 0.016, 0.032, 0.05, 0.05]


def test_whoever_asks_for_work_that_is_done_once_meanwhile_is_refused_at_once(ledger, path, clock):
    with Ledger.open(path, clock=clock) as other:

        def slow(_draws):
            clock.move(hours=5)
            with pytest.raises(Conflict, match="someone is working on it"):
                other.run(charge(once=True), never)
            return "first"

        assert ledger.run(charge(once=True), slow)[0] == "first"
        assert other.run(charge(once=True), never)[0] == "first"


def test_work_that_is_done_once_and_died_has_failed_when_its_lease_is_over(ledger, path, clock):
    with Ledger.open(path, clock=clock) as other:

        def slower(_draws):
            clock.move(hours=7)
            with pytest.raises(QuestionFailed):
                other.run(charge(once=True), never)
            return "late"

        with pytest.raises(QuestionFailed):
            ledger.run(charge(once=True), slower)


def interrupted(_draws):
    raise KeyboardInterrupt


def test_a_debit_is_begun_sixteen_times_and_then_has_failed(ledger):
    for _ in range(16):
        with pytest.raises(KeyboardInterrupt):
            ledger.run(charge(), interrupted)
    with pytest.raises(QuestionFailed):
        ledger.run(charge(), never)
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_work_that_is_done_once_never_draws_from_the_stream_of_another_debit(ledger):
    leaked, seen = bits.drawing(bits.BitSource(fixed=True)), []
    leaked.__enter__()

    def work(_draws):
        seen.append(bits.current().fixed)
        leaked.__enter__()
        return "41"

    ledger.run(charge(once=True), work)
    assert [*seen, bits.current().fixed] == [False, False]
