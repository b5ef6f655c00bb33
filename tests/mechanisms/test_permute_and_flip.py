"""Permute-and-flip: exact chances, pure loss, never worse than the exponential mechanism."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account.losses.pure import Pure
from discreet.core.errors import BadParameter
from discreet.mechanisms import permute_and_flip
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from tests.mechanisms.elementary import check_fit, check_sum, surest


def by_definition(scores, rate):
    """Visit the candidates in every order, flipping coins."""
    coins = [math.exp(-rate * (max(scores) - score)) for score in scores]
    found = [0.0] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1 / len(orders)
        for i in order:
            found[i] += left * coins[i]
            left *= 1 - coins[i]
    return found


def test_it_is_a_mechanism_that_can_be_repeated_and_written_down():
    mechanism = PermuteAndFlip(epsilon=1)
    assert isinstance(mechanism, Mechanism)
    assert isinstance(mechanism, Repeatable)
    assert isinstance(mechanism, Enumerable)


@settings(max_examples=30)
@given(st.lists(st.integers(-8, 8), min_size=1, max_size=5), st.fractions(Fraction(1, 5), 4), st.booleans())
def test_flipping_all_coins_at_once_is_permuting_and_flipping(scores, epsilon, monotone):
    mechanism = PermuteAndFlip(epsilon=epsilon, monotone=monotone)
    chances = mechanism.chances(scores)
    check_sum(chances)
    expected = by_definition(scores, float(epsilon) / (1 if monotone else 2))
    assert [float(chances[i][0]) for i in range(len(scores))] == pytest.approx(expected, rel=1e-9)


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-1, 1)), min_size=2, max_size=6), st.sampled_from([0.1, 1, 3])
)
def test_no_neighbours_lose_more_than_epsilon(pairs, epsilon):
    one, other = [score for score, _ in pairs], [score + move for score, move in pairs]
    assert surest(PermuteAndFlip(epsilon=epsilon), one, other) <= epsilon * (1 + 1e-9)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 2)), min_size=2, max_size=6))
def test_monotone_scores_lose_no_more_with_half_the_noise(pairs):
    one, other = [score for score, _ in pairs], [score + move for score, move in pairs]
    assert surest(PermuteAndFlip(epsilon=1, sensitivity=2, monotone=True), one, other) <= 1 + 1e-9


@pytest.mark.parametrize("trial", list(permute_and_flip.trials()), ids=lambda trial: trial.name)
def test_the_declared_loss_is_pure_and_kept_on_the_worst_neighbours(trial):
    assert trial.mechanism.loss == Pure(trial.mechanism.epsilon)
    assert surest(trial.mechanism, trial.one, trial.other) <= float(trial.mechanism.epsilon) * (1 + 1e-12)


def test_it_has_no_bounded_range():
    one, other = PermuteAndFlip(epsilon=1).chances([1, 0, 0]), PermuteAndFlip(epsilon=1).chances([0, 1, 1])
    losses = [math.log(one[i][0] / other[i][1]) for i in one]
    assert max(losses) - min(losses) > 1.01


@given(st.lists(st.integers(-8, 8), min_size=2, max_size=6), st.fractions(Fraction(1, 5), 4))
def test_it_falls_short_by_any_gap_no_more_often_than_the_exponential_mechanism(scores, epsilon):
    ours, theirs = PermuteAndFlip(epsilon=epsilon).chances(scores), Exponential(epsilon=epsilon).chances(scores)
    for gap in range(1, max(scores) - min(scores) + 1):
        short = [i for i, score in enumerate(scores) if score <= max(scores) - gap]
        assert sum(ours[i][0] for i in short) <= sum(theirs[i][1] for i in short)


def test_the_error_is_the_exponential_mechanism_s():
    assert PermuteAndFlip(epsilon=1, candidates=99).error(0.01) == Exponential(epsilon=1, candidates=99).error(0.01)


@pytest.mark.parametrize("trial", list(permute_and_flip.trials()), ids=lambda trial: trial.name)
def test_releases_have_the_exact_distribution(trial):
    check_fit(trial.mechanism, trial.one, seed=41, draws=50_000)


def test_huge_scores_are_compared_exactly():
    assert set(PermuteAndFlip(epsilon=1).releases([2**80, 0, -(2**80)], 100).tolist()) == {0}
    assert PermuteAndFlip(epsilon=1).releases([1, 2], 0).shape == (0,)
    assert isinstance(PermuteAndFlip(epsilon=1).release(np.array([1, 2, 3])), int)


@pytest.mark.parametrize(
    "bad", [{"epsilon": -1}, {"epsilon": 1, "sensitivity": -1}, {"epsilon": 1, "monotone": "no"}], ids=str
)
def test_bad_parameters_are_refused_with_a_fix(bad):
    with pytest.raises(BadParameter, match="Fix: "):
        PermuteAndFlip(**bad)
