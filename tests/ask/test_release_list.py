"""Releases: what an analyst paid for, and how each ended."""

import pytest

import discreet as dp
from discreet.ask.release_list import releases_of
from discreet.ledger.refusals import QuestionFailed
from tests.curator.questions import curator_of, opened


def test_releases_say_how_they_ended(tmp_path, monkeypatch):
    session = opened(tmp_path)
    visits = session.table("visits")
    visits.agg(n=dp.count()).release(epsilon=1)

    def failed(*_):
        raise OSError

    monkeypatch.setattr("discreet.ask.runner.Runner.in_order", failed)
    with pytest.raises(QuestionFailed):
        visits.agg(n=dp.count()).release(epsilon=2)
    found = releases_of(curator_of(session).ledger, "alice")
    assert [each.settled for each in found] == ["answer", "failure"]
    assert [float(each.losses["visits"].peak) for each in found] == [1, 2]
    assert releases_of(curator_of(session).ledger, "bob") == []
