"""Looks: what one says, again and again the same; what a look that fails or is killed leaves."""

import json

import pytest

from discreet.core.errors import BadParameter
from discreet.engines.engine import EngineFailed
from discreet.ledger import QuestionFailed
from discreet.ledger.running.part import RunEnded
from discreet.testing import seeded
from tests.curator.questions import curator_of

SPARSE = {"threshold": 300, "cutoff": 2, "epsilon": 50}


def test_counts_above_are_told_within_the_bar_where_that_is_paid_for(session, visits):
    with seeded(3):
        watch = session.watch(visits, "sparse_vector", answers=0.5, **SPARSE)
        found = watch.look()
    assert abs(found.value - 600) <= watch.preview.error
    assert watch.look(visits.n < 3).value is None


def test_the_last_look_is_read_again_by_whoever_lost_it(session, visits):
    watch = session.watch(visits, "above_threshold", threshold=300, epsilon=50)
    first = watch.look()
    watch._said.pop()  # as if the connection had broken before the reply
    assert watch.look() == first
    assert len(watch.looks) == 1


def test_a_look_that_was_killed_is_drawn_again_in_the_same_way(session, visits, monkeypatch):
    ledger = curator_of(session).ledger
    watch = session.watch(visits, "sparse_vector", answers=0.5, **SPARSE | {"epsilon": 1})
    settled = type(ledger)._settle_part
    lost = []

    def killed(self, run, mine, answer, digest):
        lost.append(answer.text)
        raise KeyboardInterrupt

    for _ in range(2):
        with monkeypatch.context() as patched:
            patched.setattr(type(ledger), "_settle_part", killed)
            with pytest.raises(KeyboardInterrupt):
                watch.look()
    assert type(ledger)._settle_part is settled
    found = watch.look()
    assert lost[0] == lost[1]
    assert (json.loads(lost[0])["above"], json.loads(lost[0])["value"]) == (found.above, found.value)


def test_a_failed_look_ends_the_watch_in_one_text(session, visits, monkeypatch):
    watch = session.watch(visits, "sparse_vector", **SPARSE)

    def fails(*_):
        raise EngineFailed

    with monkeypatch.context() as patched:
        patched.setattr("discreet.ask.watches.watch.tallied", fails)
        with pytest.raises(QuestionFailed):
            watch.look()
    with pytest.raises(RunEnded, match="failed"):
        watch.look()
    assert curator_of(session).ledger.spent("visits").loss == 50


def test_what_is_no_count_of_the_watch_is_refused_and_settles_nothing(session, visits):
    watch = session.watch(visits.where(visits.n < 50), "sparse_vector", **SPARSE)
    watch._query = visits
    with pytest.raises(BadParameter, match="rows that it was begun with"):
        watch.look(visits.n < 60)
    counter = session.watch(visits, "counter", by="month", epsilon=1)
    with pytest.raises(BadParameter, match="key by key"):
        counter.look(visits.n < 60)
    assert (watch.looks, counter.looks) == ([], [])
