"""Heartbeats: who works keeps the lease, who is dead or stuck loses it, and who lost it stops."""

import os
import signal
import sys
import threading
import time

import pytest

from discreet.ledger import LeaseLost, Ledger
from discreet.ledger.lease import Heartbeat, Lease, LeaseWatch
from tests.ledger.helpers import charge, epsilon

EVERY_STORE = True
SECONDS = 0.15  # of a lease, renewed every twentieth of a second


@pytest.fixture
def short(path, clock):
    """A vault whose leases are short, on a clock that is set by hand."""
    with Ledger.create(path, clock=clock, lease_seconds=SECONDS) as made:
        made.add_account("people", epsilon(1))
        yield made


def held(ledger):
    """The lease of the one question."""
    with ledger._read() as look:
        return look.get(Lease, charge().key)


def until(condition):
    """Wait for another thread, with much more patience than it needs."""
    last = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < last, "it never happened"
        time.sleep(0.005)


def never(_draws):
    pytest.fail("the work was done again")


def test_three_impatient_callers_of_a_work_of_thirty_leases_run_it_once(short, path, clock, monkeypatch):
    now, worked, told = [0.0], [], []
    monkeypatch.setattr("discreet.ledger.lease.monotonic", lambda: now[0])

    def work(_draws):
        worked.append(1)
        for _ in range(34):
            before = held(short).expires
            clock.move(seconds=0.9 * SECONDS)
            now[0] += 0.9 * SECONDS
            until(lambda before=before: held(short).expires > before)
        return "41"

    def call():
        with Ledger.open(path, clock=clock, lease_seconds=SECONDS) as other:
            told.append(other.run(charge(), work)[0])

    callers = [threading.Thread(target=call) for _ in range(3)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    assert (worked, told) == ([1], ["41"] * 3)
    assert now[0] > 30 * SECONDS
    assert short.verify().entries == short.head[0]


@pytest.mark.soak
def test_three_impatient_callers_of_fifteen_seconds_of_work_run_it_once(path):
    worked, told = [], []

    def work(_draws):
        worked.append(1)
        time.sleep(15)
        return "41"

    def call():
        with Ledger.open(path, lease_seconds=0.5) as other:
            told.append(other.run(charge(), work)[0])

    with Ledger.create(path) as made:
        made.add_account("people", epsilon(1))
    callers = [threading.Thread(target=call) for _ in range(3)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    assert (worked, told) == ([1], ["41"] * 3)


def test_who_is_stuck_is_not_kept_alive_and_who_is_well_is(short):
    for alive, renewed in ((False, False), (True, True)):
        question = charge(f"alive {alive}")

        def work(_draws, question=question, renewed=renewed):
            with short._read() as look:
                first = look.get(Lease, question.key)
            time.sleep(4 * SECONDS)
            with short._read() as look:
                assert (look.get(Lease, question.key).expires > first.expires) is renewed
            return "41"

        assert short.run(question, work, alive=lambda alive=alive: alive)[0] == "41"


def test_a_worker_who_lost_the_lease_draws_nothing_more_and_settles_nothing(short, path, clock):
    drawn, stopped = [], []

    def late(draws):
        with draws.at("first"):
            pass
        clock.move(seconds=1)
        with Ledger.open(path, clock=clock, lease_seconds=SECONDS) as other:
            assert other.run(charge(), lambda _: "second")[0] == "second"

        def drew():
            try:
                with draws.part(f"more {len(drawn)}").at("more"):
                    drawn.append(1)
            except LeaseLost:
                return True
            return False

        until(drew)
        stopped.append("in a part")  # an error in here would be told to nobody
        with draws.at("last"):
            drawn.append("last")
        return "first"

    # It is not renewed before the other one has settled, who would have to wait.
    answer, receipt = short.run(charge(), late, alive=lambda: held(short) is None)
    assert (answer, receipt.replayed) == ("second", True)
    assert stopped == ["in a part"]
    assert "last" not in drawn
    assert [entry.kind for entry in short.entries()].count("settle") == 1


def test_who_has_worked_for_more_than_a_day_is_not_swept_away(short, clock):
    swept = []

    def work(_draws):
        clock.move(hours=30)
        until(lambda: held(short).expires > clock().timestamp())
        swept.append(short.settle_abandoned())
        return "41"

    assert short.run(charge(), work)[0] == "41"
    assert swept == [0]


@pytest.mark.skipif(sys.platform == "win32", reason="children are forked and killed")
def test_a_killed_workers_lease_ends_and_a_fork_of_a_worker_renews_nothing(short, path, clock):
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        with Ledger.open(path, lease_seconds=SECONDS) as ledger:  # on the machine's clock

            def work(_draws):
                before = held(ledger).expires
                until(lambda: held(ledger).expires > before)
                if (grandchild := os.fork()) == 0:
                    names = [thread.name for thread in threading.enumerate()]
                    os.write(write, b"-" if "discreet-heartbeat" not in names else b"!")
                    os._exit(0)
                os.waitpid(grandchild, 0)
                os.write(write, b"+")
                time.sleep(60)

            ledger.run(charge(), work)
        os._exit(1)
    assert os.read(read, 1) + os.read(read, 1) == b"-+"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with Ledger.open(path, lease_seconds=SECONDS) as other:
        assert other.run(charge(), lambda _: "41")[0] == "41"
        assert other.spent("people").loss == charge().losses["people"].epsilon0
    os.close(read)
    os.close(write)


def test_a_renewal_never_takes_back_what_was_given_up_taken_over_or_settled(short, clock):
    receipt = short.charge(charge())
    first = short.lease(receipt)
    assert short._renewed(first).fence == 1
    clock.move(seconds=1)
    second = short.lease(receipt)
    assert short._renewed(first) is None
    assert held(short) == second
    short._release(second)
    assert short._renewed(second) is None
    third = short.lease(receipt)
    short.settle(receipt, third, "41")
    assert short._renewed(third) is None
    assert held(short) is None


def test_a_renewal_is_seen_on_a_clock_that_stands_or_was_set_back(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("discreet.ledger.lease.monotonic", lambda: now[0])
    watch, lease = LeaseWatch(), Lease.first("k", 60.0, 1e9)
    for _ in range(5):
        assert not watch.expired(lease, 0.0)
        now[0] += 59.0
        lease = lease.renewed(0.0)  # the machine's clock was set back
    assert not watch.expired(lease, 0.0)
    now[0] += 60.0
    assert watch.expired(lease, 0.0)
    assert Lease.first("k", 60.0, 100.0).renewed(120.0) == Lease("k", 1, 60.0, 180.0)


def test_a_vault_that_cannot_be_written_for_a_beat_is_renewed_at_the_next(monkeypatch):
    beats = []

    def renew(lease):
        beats.append(lease)
        if len(beats) == 1:
            raise OSError("no")
        return lease

    with Heartbeat(Lease.first("k", SECONDS, 0.0), renew, lambda: True) as beat:
        until(lambda: len(beats) > 2)
        beat.check()
