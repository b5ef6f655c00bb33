"""Exponential mechanism: exact chances, bounded range, utility bound, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account.losses.exponential import Exponential as Loss
from discreet.core.errors import BadParameter
from discreet.mechanisms import exponential
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.testing import FALSE_ALARM, fit, same, seeded
from tests.mechanisms.elementary import check_fit, check_sum, surest

SCORES = st.lists(st.integers(-20, 20), min_size=2, max_size=6)


def test_it_is_a_mechanism_that_can_be_repeated_and_written_down():
    mechanism = Exponential(epsilon=1)
    assert isinstance(mechanism, Mechanism)
    assert isinstance(mechanism, Repeatable)
    assert isinstance(mechanism, Enumerable)


@given(SCORES, st.fractions(Fraction(1, 10), 5), st.integers(1, 3), st.booleans())
def test_the_odds_are_exponential_in_the_scores(scores, epsilon, sensitivity, monotone):
    mechanism = Exponential(epsilon=epsilon, sensitivity=sensitivity, monotone=monotone)
    chances = mechanism.chances(scores)
    check_sum(chances)
    half = 1 if monotone else 2
    weights = [math.exp(epsilon * (score - max(scores)) / (half * sensitivity)) for score in scores]
    for i, weight in enumerate(weights):
        assert float(chances[i][0]) == pytest.approx(weight / sum(weights), rel=1e-9)


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-1, 1)), min_size=2, max_size=6), st.sampled_from([0.1, 1, 3])
)
def test_the_loss_has_a_range_of_epsilon_on_any_neighbours(pairs, epsilon):
    mechanism = Exponential(epsilon=epsilon)
    one = mechanism.chances([score for score, _ in pairs])
    other = mechanism.chances([score + move for score, move in pairs])
    losses = [math.log(one[i][0] / other[i][1]) for i in one]
    assert max(losses) - min(losses) <= epsilon * (1 + 1e-9)
    assert max(map(abs, losses)) <= epsilon * (1 + 1e-9)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 2)), min_size=2, max_size=6))
def test_monotone_scores_lose_no_more_with_half_the_noise(pairs):
    mechanism = Exponential(epsilon=1, sensitivity=2, monotone=True)
    one = mechanism.chances([score for score, _ in pairs])
    other = mechanism.chances([score + move for score, move in pairs])
    losses = [math.log(one[i][0] / other[i][1]) for i in one]
    assert max(losses) - min(losses) <= 1 + 1e-9


@pytest.mark.parametrize("trial", list(exponential.trials()), ids=lambda trial: trial.name)
def test_the_declared_loss_is_kept_on_the_worst_neighbours(trial):
    assert trial.mechanism.loss == Loss(trial.mechanism.epsilon)
    assert surest(trial.mechanism, trial.one, trial.other) <= float(trial.mechanism.epsilon) * (1 + 1e-12)


def test_without_the_2_the_worst_neighbours_would_lose_nearly_twice_epsilon():
    slip = Exponential(epsilon=2)  # what weights e^(epsilon score) would be, for a claim of epsilon 1
    assert surest(slip, [1] + [0] * 40, [0] + [1] * 40) > 1.8


@pytest.mark.parametrize("trial", list(exponential.trials()), ids=lambda trial: trial.name)
def test_releases_have_the_exact_distribution(trial):
    check_fit(trial.mechanism, trial.one, seed=31)


def test_a_single_release_has_the_distribution_of_many():
    mechanism, scores = Exponential(epsilon=2), [2, 1, 0]
    with seeded(32):
        singles = np.bincount([mechanism.release(scores) for _ in range(5000)], minlength=3)
        many = np.bincount(mechanism.releases(scores, 5000), minlength=3)
    # false-alarm rate 1e-6
    assert same(singles, many) > FALSE_ALARM


@given(st.integers(2, 10**6), st.fractions(Fraction(1, 100), 10), st.sampled_from([0.5, 0.1, 0.01, 1e-6]))
def test_the_error_is_within_the_utility_bound(candidates, epsilon, beta):
    error = Exponential(epsilon=epsilon, candidates=candidates).error(beta)
    # M9: P[score <= best - (2/epsilon)(ln candidates + b)] <= e^-b
    assert error <= 2 / epsilon * (math.log(candidates) + math.log(1 / beta)) + 1


@pytest.mark.parametrize("candidates", [2, 10, 100])
def test_some_scores_attain_the_error_and_none_exceed_it(candidates):
    mechanism = Exponential(epsilon=1, candidates=candidates)
    half = int(mechanism.error(0.1))

    def missed(gap):
        return 1 - mechanism.chances([gap] + [0] * (candidates - 1))[0][1]

    assert missed(half + 1) <= Fraction(1, 10) < missed(half)


def test_the_error_with_a_base_measure_counts_its_weight():
    mechanism = Exponential(epsilon=1, weights=(1, 40, 3))
    half = int(mechanism.error(0.1))
    assert 1 - mechanism.chances([half + 1, 0, 0])[0][0] <= Fraction(1, 10)


def test_the_laplace_mechanism_is_the_exponential_one_on_distances():
    # M10: scores -|answer - candidate|, and the factor 2 removed because they are monotone along the line.
    answer, around = 3, range(-97, 104)
    scores = [-abs(answer - candidate) for candidate in around]
    chosen = Exponential(epsilon=1, monotone=True).chances(scores)
    noise = Laplace(epsilon=1).chances(answer)
    for i, candidate in enumerate(around):
        if candidate in noise:
            assert float(chosen[i][0]) == pytest.approx(float(noise[candidate][0]), rel=1e-12, abs=1e-20)
    with seeded(33):
        drawn = np.bincount(Exponential(epsilon=1, monotone=True).releases(scores, 50_000), minlength=len(scores))
        added = np.bincount(Laplace(epsilon=1).releases(answer, 50_000) + 97, minlength=len(scores))
    # false-alarm rate 1e-6
    assert same(drawn, added) > FALSE_ALARM


def test_real_scores_live_on_a_grid():
    mechanism = Exponential(epsilon=1, sensitivity=0.25, step=0.1)
    assert Fraction(*mechanism.rate) == Fraction(1, 2 * 3)
    assert mechanism.exact([0.31, math.nan, 1e308]).tolist()[:2] == [3, 0]
    assert mechanism.release(mechanism.exact([0.5, 0.1])) in (0, 1)


def test_weights_are_a_base_measure():
    chances = Exponential(epsilon=1, weights=[3, 1]).chances([0, 0])
    assert float(chances[0][0]) == pytest.approx(0.75)


def test_large_weights_and_far_scores_stay_exact():
    mechanism = Exponential(epsilon=2, weights=(1, 2**52))
    scores = [36, 0]
    with seeded(34):
        seen = np.bincount(mechanism.releases(scores, 20_000), minlength=2)
    chances = [float(low) for low, _ in mechanism.chances(scores).values()]
    # false-alarm rate 1e-6
    assert fit(seen, chances) > FALSE_ALARM


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0},
        {"epsilon": math.nan},
        {"epsilon": 1, "sensitivity": 0},
        {"epsilon": 1, "monotone": 1},
        {"epsilon": 1, "candidates": 0},
        {"epsilon": 1, "weights": [0, 1]},
        {"epsilon": 1, "weights": []},
        {"epsilon": 1, "weights": [2**53]},
        {"epsilon": 1, "weights": [1, 2], "candidates": 3},
        {"epsilon": 1, "weights": [1.5]},
        {"epsilon": 1, "relation": "other"},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_with_a_fix(bad):
    with pytest.raises(BadParameter, match="Fix: "):
        Exponential(**bad)


@pytest.mark.parametrize("scores", [[], 5, [[1, 2]], [1.5, 2], ["a"]], ids=str)
def test_what_is_no_list_of_whole_scores_is_refused(scores):
    with pytest.raises(BadParameter, match="exact"):
        Exponential(epsilon=1).release(scores)


def test_another_number_of_candidates_than_declared_is_refused():
    with pytest.raises(BadParameter, match="3 candidates were declared"):
        Exponential(epsilon=1, candidates=3).release([1, 2])


def test_an_error_without_a_public_size_is_refused():
    with pytest.raises(BadParameter, match="candidates="):
        Exponential(epsilon=1).error()
    assert Exponential(epsilon=1).error(candidates=10) == Exponential(epsilon=1, candidates=10).error()
