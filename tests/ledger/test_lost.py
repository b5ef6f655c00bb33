"""Lost connections: backends ended, servers shut down at once, commits whose outcome nobody told; one charge each."""

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction

import pytest

from discreet.ledger import Ledger, Unavailable
from discreet.ledger.postgres.errors import LOST
from discreet.ledger.postgres.transaction import PostgresTransaction
from tests.ledger.helpers import charge, epsilon
from tests.ledger.stores import POSTGRES, homes
from tests.postgres import Server

pytestmark = [POSTGRES, pytest.mark.skipif(sys.platform == "win32", reason="servers are killed by signals")]


@pytest.fixture(scope="module")
def server():
    """A server that may be shut down without disturbing other tests."""
    with_its_own = Server()
    yield with_its_own
    with_its_own.close()


@pytest.fixture
def path(server, tmp_path, monkeypatch):
    for name, value in homes(tmp_path).items():
        monkeypatch.setenv(name, value)
    return f"{server.url}&schema=v{time.monotonic_ns()}"


def never(_draws):
    pytest.fail("answered without a debit")


def end_backend(ledger, how=signal.SIGTERM):
    """End the server's process for a ledger's connection, as a restart of the server or its memory killer would."""
    pid = ledger._store._connection.info.backend_pid
    os.kill(pid, how)
    while os.path.exists(f"/proc/{pid}"):  # noqa: PTH110
        time.sleep(0.005)


def told(refused):
    return (refused.value.why, refused.value.fix)


def test_a_connection_lost_while_nobody_used_it_is_made_anew(ledger):
    for question in ("q", "r"):
        end_backend(ledger)
        assert ledger.run(charge(question), lambda _: "41")[0] == "41"
    end_backend(ledger)
    assert ledger.spent("people").loss == Fraction(1, 5)
    assert ledger.verify().entries == 6


def test_a_connection_lost_in_a_transaction_is_one_fixed_refusal_and_nothing_is_charged(ledger, monkeypatch):
    sent, lost = PostgresTransaction._sent, []

    def breaking(self, asked):
        if asked == [("COMMIT", ())] and not lost:
            lost.append(asked)
            end_backend(ledger)
        return sent(self, asked)

    monkeypatch.setattr(PostgresTransaction, "_sent", breaking)
    with pytest.raises(Unavailable) as refused:
        ledger.run(charge(), never)
    assert lost
    assert told(refused) == LOST
    assert refused.value.__suppress_context__
    assert ledger.spent("people").loss == 0
    assert ledger.run(charge(), lambda _: "41")[0] == "41"
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_a_commit_whose_outcome_nobody_told_is_found_on_the_next_look(ledger, monkeypatch):
    end, lost = PostgresTransaction.end, []

    def untold(self, word):
        done = end(self, word)
        if word == "COMMIT" and not lost:
            lost.append(word)
            end_backend(ledger)
            self._connection.execute("SELECT 'this fails, as the reply to the commit would have'")
        return done

    monkeypatch.setattr(PostgresTransaction, "end", untold)
    with pytest.raises(Unavailable) as refused:
        ledger.run(charge(), never)
    assert told(refused) == LOST
    assert ledger.spent("people").loss == Fraction(1, 10)  # the debit was made, and stands
    answer, receipt = ledger.run(charge(), lambda _: "41")  # at once: the lease was given back
    assert (answer, receipt.replayed) == ("41", False)
    assert ledger.spent("people").loss == Fraction(1, 10)
    assert ledger.verify().entries == 4


def test_a_settlement_whose_outcome_nobody_told_is_replayed_and_the_work_not_done_again(ledger, monkeypatch):
    end, ends = PostgresTransaction.end, []

    def untold(self, word):
        done = end(self, word)
        ends.append(word)
        if ends.count("COMMIT") == 2 and word == "COMMIT":  # the charge was the first
            end_backend(ledger)
            self._connection.execute("SELECT 'this fails, as the reply to the commit would have'")
        return done

    monkeypatch.setattr(PostgresTransaction, "end", untold)
    with pytest.raises(Unavailable) as refused:
        ledger.run(charge(), lambda _: "41")
    assert told(refused) == LOST
    assert ledger.run(charge(), never)[0] == "41"
    assert ledger.spent("people").loss == Fraction(1, 10)


def test_a_server_that_is_shut_down_at_once_forgets_no_debit(server, ledger, path, clock):
    ledger.run(charge("before"), lambda _: "41")

    def work(_draws):
        server.crash()
        return "42"

    with pytest.raises(Unavailable):
        ledger.run(charge(), work)
    with pytest.raises(Unavailable, match="no connection can be made"):
        ledger.spent("people")
    server.restart()
    assert ledger.spent("people").loss == Fraction(1, 5)
    assert [key for _, key in ledger.unsettled()] == [charge().key]
    clock.move(hours=1)
    with Ledger.open(path, clock=clock) as other:
        assert other.run(charge(), lambda _: "43")[0] == "43"
        assert other.spent("people").loss == Fraction(1, 5)
        assert other.verify().entries == other.head[0]


def test_a_backend_that_is_killed_takes_all_others_down_and_they_come_back(ledger, path, clock):
    with Ledger.open(path, clock=clock) as other:
        assert other.run(charge("q"), lambda _: "41")[0] == "41"
        end_backend(ledger, signal.SIGKILL)
        assert other.run(charge("r"), lambda _: "42")[0] == "42"
        assert ledger.run(charge("q"), never)[0] == "41"
        assert ledger.verify().entries == 6


ASKING = """
import json, sys, time
from discreet.ledger import Ledger, Unavailable
from tests.ledger.helpers import charge

number, until = 0, time.monotonic() + 60
while time.monotonic() < until:
    try:
        with Ledger.open(sys.argv[1], lease_seconds=0.001, patience=1) as ledger:
            while True:
                answer, receipt = ledger.run(charge(f"q{number}"), lambda _: f"noise {time.monotonic_ns()}")
                print(json.dumps([number, answer, receipt.sequence]), flush=True)
                number += 1
    except Unavailable:
        time.sleep(0.01)
"""


def test_whatever_was_told_between_crashes_of_the_server_was_charged_once(server, path, tmp_path):
    with Ledger.create(path) as ledger:
        ledger.add_account("people", epsilon(10**6))
    words = [sys.executable, "-c", ASKING, path]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=os.environ | homes(tmp_path)) as asking:
        lines = []
        for crash in range(4):
            lines += [asking.stdout.readline() for _ in range(5)]
            time.sleep(0.0037 * crash)
            server.crash()
            server.restart()
        lines += [asking.stdout.readline() for _ in range(5)]
        asking.kill()
        lines += asking.stdout.readlines()
    found = [json.loads(line) for line in lines if line.endswith("\n")]
    with Ledger.open(path) as ledger:
        charges = {entry.sequence: entry.record()["key"] for entry in ledger.entries() if entry.kind == "charge"}
        for number, answer, sequence in found:
            assert charges[sequence] == charge(f"q{number}").key
            assert ledger.answer(charge(f"q{number}").key) == answer
        assert len(charges) == len(set(charges.values())) >= len(found) >= 25
        assert ledger.spent("people").loss == len(charges) * Fraction(1, 10)
        assert ledger.verify().entries == ledger.head[0]
