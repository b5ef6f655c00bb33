"""Running releases at a desk: under its policy's least price and pace, for the analyst who began them."""

import time

import pytest

import discreet as dp
from discreet.ask.release import charge_of
from discreet.core.errors import Refusal
from discreet.ledger.running.runs import PartDone
from tests.curator.questions import curator_of, opened


@pytest.fixture
def session(tmp_path):
    with opened(tmp_path) as found:
        yield found


def charge(session, epsilon):
    return charge_of(session.table("visits").frozen(), '{"stream":1}', dp.Pure(epsilon), "a stream")


def test_a_price_below_the_least_is_refused_and_a_part_keeps_the_pace(session):
    curator, runs = curator_of(session), session.desk.access.runs
    with pytest.raises(Refusal, match="least"):
        runs.begin(charge(session, 1e-12), "stream")
    curator.work(pace=0.5)
    receipt = runs.begin(charge(session, 0.25), "stream")
    began = time.monotonic()
    registered = session.table("visits").registered
    assert session.desk.access.runs.part(receipt.key, "a", lambda *_: PartDone("41"), registered, 0) == (1, "41")
    assert time.monotonic() - began >= 0.4
    assert runs.parts(receipt.key) == [(1, "41")]
    runs.end(receipt.key)
    with pytest.raises(Refusal, match="has ended"):
        runs.open(receipt.key)


def test_whoever_lost_the_grant_reads_no_part(session):
    runs = session.desk.access.runs
    receipt = runs.begin(charge(session, 0.25), "stream")
    curator_of(session).revoke("alice")
    for look in (lambda: runs.parts(receipt.key), lambda: runs.open(receipt.key)):
        with pytest.raises(Refusal, match="revoked"):
            look()


def test_a_reader_begins_nothing(session):
    curator = curator_of(session)
    reader = curator.session(curator.grant("rita", "visits", role="reader"))
    with pytest.raises(Refusal, match="paid for before"):
        reader.desk.access.runs.begin(charge(reader, 0.25), "stream")
    assert curator.ledger.unsettled() == ()
