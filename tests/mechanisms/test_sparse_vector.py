"""Sparse vector: exact chances of whole transcripts, the price of answers, and a cut-off that holds."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.pure import Pure
from discreet.core.errors import BadParameter
from discreet.mechanisms import sparse_vector
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.mechanisms.parts.threshold import Exhausted
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.testing import FALSE_ALARM, same, seeded
from tests.mechanisms.elementary import check_fit, check_sum, surest


def test_it_is_a_mechanism_that_can_be_repeated_and_written_down():
    mechanism = SparseVector(threshold=0, epsilon=1, cutoff=2)
    assert isinstance(mechanism, Mechanism)
    assert isinstance(mechanism, Repeatable)
    assert isinstance(mechanism, Enumerable)


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-1, 1)), min_size=1, max_size=5),
    st.integers(1, 3),
    st.sampled_from([1, 4]),
)
def test_no_transcript_loses_more_than_epsilon(pairs, cutoff, epsilon):
    mechanism = SparseVector(threshold=0, epsilon=epsilon, cutoff=cutoff)
    one, other = [answer for answer, _ in pairs], [answer + move for answer, move in pairs]
    assert surest(mechanism, one, other) <= epsilon * (1 + 1e-9)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 1)), min_size=1, max_size=5), st.integers(1, 3))
def test_monotone_answers_lose_no_more_with_less_noise(pairs, cutoff):
    mechanism = SparseVector(threshold=0, epsilon=2, cutoff=cutoff, monotone=True)
    one, other = [answer for answer, _ in pairs], [answer + move for answer, move in pairs]
    assert surest(mechanism, one, other) <= 2 * (1 + 1e-9)


@given(st.integers(1, 100), st.integers(1, 5), st.booleans())
def test_the_noise_adds_up_to_epsilon(cutoff, sensitivity, monotone):
    made = SparseVector(threshold=0, epsilon=1, cutoff=cutoff, sensitivity=sensitivity, monotone=monotone).comparison
    moves = cutoff * (1 if monotone else 2)
    assert sensitivity / made.threshold_scale + moves * sensitivity / made.answer_scale == 1


@pytest.mark.parametrize("trial", list(sparse_vector.trials()), ids=lambda trial: trial.name)
def test_releases_have_the_exact_distribution(trial):
    check_sum(trial.mechanism.chances(trial.one))
    check_fit(trial.mechanism, trial.one, seed=81)


def test_single_runs_have_the_distribution_of_repeated_ones():
    mechanism, answers = SparseVector(threshold=1, epsilon=6, cutoff=1), (0, 1, 2)
    with seeded(82):
        singles = [len(said) if any(said) else 0 for said in (mechanism.release(answers) for _ in range(5000))]
        many = mechanism.releases(answers, 5000)
    lengths = np.where((many == 1).any(axis=1), (many >= 0).sum(axis=1), 0)
    # false-alarm rate 1e-6
    assert same(np.bincount(singles, minlength=4), np.bincount(lengths, minlength=4)) > FALSE_ALARM


def test_a_cut_off_of_1_is_above_threshold():
    one, many = AboveThreshold(threshold=3, epsilon=1), SparseVector(threshold=3, epsilon=1, cutoff=1)
    assert one.comparison == many.comparison
    assert one.chances((1, 5))[0] == many.chances((1, 5))[1, -1]


def test_answers_cost_extra():
    mechanism = SparseVector(threshold=0, epsilon=1, cutoff=3, sensitivity=2, answers_epsilon=Fraction(1, 2))
    assert mechanism.loss == Pure(Fraction(1)) + DiscreteLaplace(Fraction(12), sensitivity=2) * 3
    assert mechanism.loss.epsilon(0) == pytest.approx(1.5)
    assert SparseVector(threshold=0, epsilon=1, cutoff=3).loss == Pure(Fraction(1))


def test_answers_are_given_with_fresh_noise_for_those_above_alone():
    mechanism = SparseVector(threshold=100, epsilon=20, cutoff=2, answers_epsilon=1, queries=4)
    with seeded(83):
        said = mechanism.release([0, 1000, 0, 2000, 3000])
    # Noise beyond 100 has a chance far below 1e-6.
    assert said[0] is None
    assert said[2] is None
    assert abs(said[1] - 1000) <= 100
    assert abs(said[3] - 2000) <= 100
    assert len(said) == 4
    with seeded(84):
        again = {mechanism.release([1000])[0] for _ in range(50)}
    assert len(again) > 1


def test_the_error_holds_for_comparisons_and_answers_together():
    mechanism = SparseVector(threshold=0, epsilon=4, cutoff=2, answers_epsilon=1, queries=6)
    far = int(mechanism.error(0.1)) + 1
    truth = [-far, far, -far, -far, far, far]
    with seeded(85):
        wrong = 0
        for _ in range(1000):
            said = mechanism.release(truth)
            right = [noisy is not None for noisy in said] == [False, True, False, False, True]
            wrong += not right or any(abs(said[i] - far) > far - 1 for i in (1, 4))
    # 1,000 runs at a failure rate of at most 0.1: more than 148 failures have a chance below 1e-6.
    assert wrong <= 148


def test_a_session_refuses_after_its_cut_off():
    session = SparseVector(threshold=0, epsilon=1, cutoff=2).session()
    found = 0
    while session.left:
        found += session.ask(10**6)
    assert found == 2
    with pytest.raises(Exhausted, match="2 answers above"):
        session.ask(-(10**6))


def test_answers_are_refused_where_only_comparisons_are_shown():
    mechanism = SparseVector(threshold=0, epsilon=1, cutoff=1, answers_epsilon=1)
    with pytest.raises(BadParameter, match="answers_epsilon"):
        mechanism.releases([1], 2)
    with pytest.raises(BadParameter, match="answers_epsilon"):
        mechanism.chances([1])


@pytest.mark.parametrize(
    "bad",
    [
        {"threshold": 0, "epsilon": 1, "cutoff": 0},
        {"threshold": 0, "epsilon": 1, "cutoff": 1.5},
        {"threshold": 0, "epsilon": math.nan, "cutoff": 1},
        {"threshold": 0, "epsilon": 1, "cutoff": 1, "answers_epsilon": 0},
        {"threshold": 0, "epsilon": 1, "cutoff": 1, "queries": -1},
        {"threshold": None, "epsilon": 1, "cutoff": 1},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_with_a_fix(bad):
    with pytest.raises(BadParameter, match="Fix: "):
        SparseVector(**bad)


def test_no_runs_at_all_are_an_empty_array():
    assert SparseVector(threshold=0, epsilon=1, cutoff=1).releases([1, 2], 0).shape == (0, 2)


def test_a_cutoff_beyond_the_floats_is_only_a_large_one():
    assert SparseVector(threshold=0, epsilon=1, cutoff=10**400).comparison.share == Fraction(1, 1000)
