"""Sessions: what above_threshold and sparse_vector say when they are asked one by one, as analysts ask them."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.core.exact import Exact
from discreet.mechanisms import sparse_vector as sparse_module
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.above_threshold import trials as above_trials
from discreet.mechanisms.parts import threshold as threshold_module
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.mechanisms.sparse_vector import trials as sparse_trials
from discreet.testing import FALSE_ALARM, fit, seeded


@pytest.fixture
def drawn(monkeypatch):
    """Hear every scale that noise is drawn at; the noise itself is what is put into the list."""
    heard, given = [], []

    def laplace(scale, size=None):
        assert size is None
        heard.append(scale)
        return given.pop(0)

    monkeypatch.setattr(threshold_module, "laplace", laplace)
    monkeypatch.setattr(sparse_module, "laplace", laplace)
    return heard, given


def test_a_session_draws_one_threshold_and_fresh_noise_for_every_answer(drawn):
    heard, given = drawn
    mechanism = SparseVector(threshold=10, epsilon=1, cutoff=2, sensitivity=3)
    comparison = mechanism.comparison
    given += [5, 0, 1, -1, 4, -20]
    session = mechanism.session()
    assert heard == [comparison.threshold_scale]
    # The threshold is 15: 14 + 0, 14 + 1 reaches it, 15 - 1, 11 + 4 reaches it; then there is nothing more.
    assert [session.ask(Exact(value)) for value in (14, 14, 15)] == [False, True, False]
    assert session.left == 1
    assert session.ask(Exact(11)) is True
    assert session.left == 0
    assert heard == [comparison.threshold_scale, *[comparison.answer_scale] * 4]
    with pytest.raises(threshold_module.Exhausted):
        session.ask(Exact(10**9))
    assert given == [-20]  # what is refused draws nothing
    # The proof: the threshold moves by one sensitivity, each answer above by two, all of it within epsilon.
    cost = 3 / comparison.threshold_scale + comparison.cutoff * 2 * 3 / comparison.answer_scale
    assert cost <= comparison.epsilon == mechanism.loss.epsilon0


def test_given_answers_have_noise_of_their_own_at_the_price_that_was_stated(drawn):
    heard, given = drawn
    mechanism = SparseVector(threshold=0, epsilon=1, cutoff=2, sensitivity=3, answers_epsilon=Fraction(1, 2))
    session = mechanism.session
    given += [0, 100, -7, 100, 8]
    asked = session()
    assert [asked.ask(Exact(41)), asked.ask(Exact(41))] == [34, 49]
    scale = 2 * 3 / Fraction(1, 2)  # cutoff times sensitivity over epsilon
    assert heard[2::2] == [scale, scale]
    assert 2 * 3 / scale == mechanism.answers_epsilon


def test_a_watch_ends_with_the_first_answer_above(drawn):
    heard, given = drawn
    mechanism = AboveThreshold(threshold=1, epsilon=1, monotone=True)
    given += [0, 0, 0]
    watch = mechanism.session()
    assert [watch.above(Exact(0)), watch.above(Exact(1)), watch.left] == [False, True, 0]
    with pytest.raises(threshold_module.Exhausted):
        watch.above(Exact(0))
    comparison = mechanism.comparison
    assert heard == [comparison.threshold_scale, comparison.answer_scale, comparison.answer_scale]
    assert 1 / comparison.threshold_scale + 1 / comparison.answer_scale <= comparison.epsilon


def said(mechanism, exact):
    """Ask one by one, and write down what a release would have said."""
    if isinstance(mechanism, AboveThreshold):
        watch = mechanism.session()
        return next((place for place, answer in enumerate(exact) if watch.above(Exact(answer))), -1)
    session = mechanism.session()
    return tuple(int(session.ask(Exact(answer))) if session.left else -1 for answer in exact)


TRIALS = [each for trials in (above_trials, sparse_trials) for each in trials() if len(each.one) < 10]


@pytest.mark.slow
@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_sessions_have_the_exact_law_of_their_mechanism_on_both_neighbours(trial):
    """4,000 sessions on each; false-alarm rate 1e-6 each."""
    for exact in (trial.one, trial.other):
        law = trial.mechanism.chances(exact)
        places = {(said_ if not isinstance(said_, tuple) else tuple(map(int, said_))): n for n, said_ in enumerate(law)}
        with seeded(71):
            found = [places[said(trial.mechanism, exact)] for _ in range(4000)]
        chances = np.array([float(low + high) / 2 for low, high in law.values()])
        assert fit(np.bincount(found, minlength=len(law)), chances / chances.sum()) > FALSE_ALARM
