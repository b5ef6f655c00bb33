"""Disconnects and killed workers: nothing is overspent, nothing is lost, and what a client saw is what was settled."""

import datetime as dt
from fractions import Fraction
from functools import partial

import httpx
import pytest

import discreet as dp
from discreet.answers.answer import Answer
from discreet.curator import curator as curators
from discreet.curator.curator import Curator
from discreet.ledger.ledger import Ledger
from discreet.ledger.refusals import QuestionFailed
from tests.serve.api.rough import rough_day
from tests.serve.api.served import ROWS, TERMS, command, up

pytestmark = pytest.mark.skipif("sys.platform != 'linux'", reason="workers are found in /proc")


def later():
    """Every lease of a killed worker has ended by then."""
    return dt.datetime.now(dt.UTC) + dt.timedelta(days=2)


def asked_again(session, question):
    """The settled answer of a question; None where it failed or was never charged."""
    try:
        return session.sql(question.sql, epsilon=question.epsilon, fresh=question.name or False)
    except (QuestionFailed, dp.BudgetExceeded):
        return None


def settled(place, anchor, token, seen, cap):
    """Ask everything again once all leases have ended, compare the ledger with what clients saw, and count charges."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curators.Ledger, "open", partial(Ledger.open, clock=later))
        with Curator(place, anchor=anchor) as curator:
            session = curator.session(token)
            again = {each: asked_again(session, each) for each in seen.sent if each.name != ""}
            curator.ledger.settle_abandoned()
            assert curator.ledger.unsettled() == ()
            curator.verify()
            for question, key, text in seen.answers:
                told = [*Answer.from_json(text)]
                if question.name != "":
                    assert told == [*again[question]], question
                    assert key == again[question].receipt["key"]
                assert told == [*Answer.from_json(curator.ledger.answer(key))], question
            charges = [entry.record() for entry in curator.ledger.entries() if entry.kind == "charge"]
            keys = {each["key"] for each in charges}
            assert len(keys) == len(charges)
            named = {answer.receipt["key"] for answer in again.values() if answer is not None}
            assert named <= keys
            spent = curator.ledger.spent("visits", "alice").loss
            assert spent == curator.ledger.spent("visits").loss <= cap
            return len(charges)


def rough(place, tmp_path, *, clients, requests, questions, every, cap):
    anchor = None if isinstance(place, type(tmp_path)) else tmp_path / "head.json"
    with Curator(place, anchor=anchor) as curator:
        curator.register("visits", ROWS, budget=dp.Budget(epsilon=1000), **TERMS)
        token = curator.grant("alice", "visits", budget=dp.Budget(epsilon=cap))
    words = ["--workers", "2", "--concurrent", "500", "--rate", "1e6", "--burst", "1000000"]
    with command(place, *words, *([] if anchor is None else ["--anchor", str(anchor)])) as (url, process):
        port = httpx.URL(url).port
        up(url)
        terms = {"clients": clients, "requests": requests, "questions": questions, "every": every}
        seen, killed = rough_day(port, process, token, **terms)
    charges = settled(place, anchor, token, seen, cap)
    # How many are answered depends on what the cap pays for: not a share of the requests, but more than were charged.
    assert seen.statuses[200] > charges, (charges, seen.statuses)
    assert seen.statuses["left"]
    assert not seen.statuses[500]
    return killed


def test_nothing_is_lost_or_overspent_though_clients_leave_and_workers_are_killed(tmp_path):
    terms = {"clients": 6, "requests": 180, "questions": 45, "every": 0.3, "cap": Fraction(1, 2)}
    assert rough(tmp_path / "vault.discreet", tmp_path, **terms)


@pytest.mark.slow
def test_nor_in_postgresql(tmp_path):
    from tests.postgres import shared

    terms = {"clients": 6, "requests": 1_000, "questions": 60, "every": 4, "cap": Fraction(1, 2)}
    assert rough(shared().database(), tmp_path, **terms)


@pytest.mark.soak
def test_nor_in_ten_thousand_requests(tmp_path):
    terms = {"clients": 16, "requests": 10_000, "questions": 2_000, "every": 5, "cap": Fraction(100)}
    assert rough(tmp_path / "vault.discreet", tmp_path, **terms) >= 20
