"""Sessions: one copy, one thread at a time, and a step that is taken whole or not at all."""

import contextlib
import copy
import os
import pickle
import threading

import pytest

from discreet.mechanisms import counter
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.counter import Counter
from discreet.mechanisms.parts import threshold
from discreet.mechanisms.parts.session import Elsewhere
from discreet.mechanisms.sparse_vector import SparseVector

BEGUN = {
    "above": lambda: AboveThreshold(threshold=0, epsilon=1).session(),
    "sparse": lambda: SparseVector(threshold=0, epsilon=1, cutoff=2, answers_epsilon=1).session(),
    "stream": lambda: Counter(horizon=4, epsilon=1).session(),
}


def test_threads_that_ask_at_once_find_no_more_than_was_paid_for(monkeypatch):
    watch, said, both = AboveThreshold(threshold=0, epsilon=1).session(), [], threading.Barrier(2)

    def met(scale):
        # Both threads are here at once, having seen that one answer is left, or they take turns and one waits in vain.
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.5)
        return 10**9

    monkeypatch.setattr(threshold, "laplace", met)

    def ask():
        try:
            said.append(watch.above(0))
        except threshold.Exhausted:
            said.append(None)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said, key=str) == [None, True]


@pytest.mark.parametrize("begin", BEGUN.values(), ids=BEGUN)
@pytest.mark.parametrize("twice", [copy.deepcopy, pickle.dumps])
def test_a_session_is_not_copied(begin, twice):
    with pytest.raises(Elsewhere):
        twice(begin())


@pytest.mark.parametrize("name", ["above", "stream"])
def test_a_shallow_copy_with_a_count_of_its_own_is_refused_too(name):
    with pytest.raises(Elsewhere):
        copy.copy(BEGUN[name]())


def test_a_forked_child_does_not_go_on_with_its_parent_s_session(monkeypatch):
    watch, stream = BEGUN["above"](), BEGUN["stream"]()
    elsewhere = os.getpid() + 1
    monkeypatch.setattr(os, "getpid", lambda: elsewhere)
    with pytest.raises(Elsewhere):
        watch.above(0)
    with pytest.raises(Elsewhere):
        stream.add(0)


@pytest.mark.parametrize("at", range(1, 9))
def test_a_step_that_was_interrupted_takes_no_noise_out_of_later_totals(at, monkeypatch):
    drawn = []

    def noise(scale):
        drawn.append(scale)
        if len(drawn) == at:
            raise KeyboardInterrupt
        return 1 << 20

    monkeypatch.setattr(counter, "laplace", noise)
    stream = Counter(horizon=8, epsilon=1).session()
    for _ in range(9):
        before = stream.time
        try:
            total = stream.add(1)
        except KeyboardInterrupt:
            assert stream.time == before  # the step was not taken, and may be tried again
            continue
        assert total == stream.time + (stream.time.bit_count() << 20)
    assert stream.time == 8
