"""Above threshold: exact chances, pure loss however long the sequence, error, and a watch that stops."""

import math
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account.losses.pure import Pure
from discreet.core.errors import BadParameter
from discreet.mechanisms import above_threshold
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.mechanisms.parts.threshold import Exhausted
from discreet.testing import FALSE_ALARM, same, seeded
from tests.mechanisms.elementary import check_fit, check_sum, surest


def test_it_is_a_mechanism_that_can_be_repeated_and_written_down():
    mechanism = AboveThreshold(threshold=0, epsilon=1)
    assert isinstance(mechanism, Mechanism)
    assert isinstance(mechanism, Repeatable)
    assert isinstance(mechanism, Enumerable)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(-1, 1)), min_size=1, max_size=6),
    st.integers(-2, 2),
    st.sampled_from([1, 3]),
)
def test_no_neighbours_lose_more_than_epsilon(pairs, threshold, epsilon):
    mechanism = AboveThreshold(threshold=threshold, epsilon=epsilon)
    one, other = [answer for answer, _ in pairs], [answer + move for answer, move in pairs]
    assert surest(mechanism, one, other) <= epsilon * (1 + 1e-9)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 2)), min_size=1, max_size=6))
def test_monotone_answers_lose_no_more_with_less_noise(pairs):
    mechanism = AboveThreshold(threshold=0, epsilon=2, sensitivity=2, monotone=True)
    one, other = [answer for answer, _ in pairs], [answer + move for answer, move in pairs]
    assert surest(mechanism, one, other) <= 2 * (1 + 1e-9)


@pytest.mark.parametrize("trial", list(above_threshold.trials()), ids=lambda trial: trial.name)
def test_the_declared_loss_is_kept_on_the_worst_neighbours(trial):
    mechanism = trial.mechanism
    assert mechanism.loss == Pure(mechanism.epsilon, relation=mechanism.comparison.relation)
    assert surest(mechanism, trial.one, trial.other) <= float(mechanism.epsilon) * (1 + 1e-12)
    check_sum(mechanism.chances(trial.one))


def test_the_noise_adds_up_to_epsilon():
    comparison = AboveThreshold(threshold=0, epsilon=1, sensitivity=3).comparison
    assert 3 / comparison.threshold_scale + 2 * 3 / comparison.answer_scale == 1
    monotone = AboveThreshold(threshold=0, epsilon=1, sensitivity=3, monotone=True).comparison
    assert 3 / monotone.threshold_scale + 3 / monotone.answer_scale == 1


@pytest.mark.parametrize("trial", list(above_threshold.trials()), ids=lambda trial: trial.name)
def test_releases_have_the_exact_distribution(trial):
    check_fit(trial.mechanism, trial.one, seed=71)


def test_single_runs_have_the_distribution_of_repeated_ones():
    mechanism, answers = AboveThreshold(threshold=1, epsilon=3), (0, 1, 2)
    with seeded(72):
        places = [mechanism.release(answers) for _ in range(5000)]
        many = mechanism.releases(answers, 5000)
    singles = np.bincount([3 if place is None else place for place in places], minlength=4)
    # false-alarm rate 1e-6
    assert same(singles, np.bincount(many % 4, minlength=4)) > FALSE_ALARM


def test_it_reads_no_further_than_the_first_answer_above():
    with seeded(73):
        place = AboveThreshold(threshold=1000, epsilon=1).release(count(0, 10))
    assert 0 < place < 300


def test_the_error_holds_for_all_comparisons_together():
    mechanism = AboveThreshold(threshold=0, epsilon=1, queries=20)
    far = int(mechanism.error(0.05)) + 1
    with seeded(74):
        places = mechanism.releases([-far] * 19 + [far], 20_000)
    # 20,000 runs at a failure rate of at most 0.05: more than 1,155 failures have a chance below 1e-6.
    assert (places != 19).sum() <= 1155


@given(st.integers(1, 10**6), st.sampled_from([0.1, 0.01]))
def test_the_error_is_within_the_textbook_bound(queries, beta):
    # Dwork and Roth 2014, Theorem 3.24: 8 (ln k + ln(2/beta)) / epsilon
    error = AboveThreshold(threshold=0, epsilon=Fraction(1, 2), queries=queries).error(beta)
    assert error <= 8 * (math.log(queries) + math.log(2 / beta)) / 0.5 + 2


def test_a_watch_refuses_after_it_said_above():
    watch = AboveThreshold(threshold=0, epsilon=1).session()
    assert watch.left == 1
    while not watch.above(10**6):
        pass
    assert watch.left == 0
    with pytest.raises(Exhausted, match="start a new session"):
        watch.above(0)


@pytest.mark.parametrize("exact", [1.5, [1, 2], "1", None], ids=str)
def test_what_is_not_one_whole_number_is_refused(exact):
    with pytest.raises(BadParameter, match="exact"):
        AboveThreshold(threshold=0, epsilon=1).session().above(exact)


def test_nothing_is_above_in_an_empty_sequence():
    mechanism = AboveThreshold(threshold=0, epsilon=1)
    assert mechanism.release([]) is None
    assert mechanism.releases([], 3).tolist() == [-1, -1, -1]
    assert mechanism.release([-(2**80), 2**80]) == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"threshold": 0.5, "epsilon": 1},
        {"threshold": math.inf, "epsilon": 1},
        {"threshold": 0, "epsilon": 0},
        {"threshold": 0, "epsilon": 1, "sensitivity": 0},
        {"threshold": 0, "epsilon": 1, "sensitivity": 0.5},
        {"threshold": 0, "epsilon": 1, "monotone": None},
        {"threshold": 0, "epsilon": 1, "queries": 0},
        {"threshold": 0, "epsilon": 1, "relation": ""},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_with_a_fix(bad):
    with pytest.raises(BadParameter, match="Fix: "):
        AboveThreshold(**bad)


def test_an_error_without_a_public_size_is_refused():
    with pytest.raises(BadParameter, match="queries="):
        AboveThreshold(threshold=0, epsilon=1).error()


def test_no_runs_at_all_are_an_empty_array():
    assert AboveThreshold(threshold=0, epsilon=1).releases([1, 2], 0).shape == (0,)
