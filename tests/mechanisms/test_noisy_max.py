"""Report noisy maximum: exact chances, ties, pure loss, error."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account.losses.pure import Pure
from discreet.core.errors import BadParameter
from discreet.mechanisms import noisy_max
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts import tails
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.testing import seeded
from tests.mechanisms.elementary import check_fit, check_sum, surest


def test_it_is_a_mechanism_that_can_be_repeated_and_written_down():
    mechanism = NoisyMax(epsilon=1)
    assert isinstance(mechanism, Mechanism)
    assert isinstance(mechanism, Repeatable)
    assert isinstance(mechanism, Enumerable)


@pytest.mark.parametrize("scores", [[1, 0], [0, 0, 0], [0, 2, 1]], ids=str)
def test_the_chances_are_those_of_every_combination_of_noises(scores):
    mechanism = NoisyMax(epsilon=6)
    noise = {k: low / 2**_chances.BITS for k, (low, _) in _chances.laplace(mechanism.scale).items() if abs(k) <= 12}
    expected = [0.0] * len(scores)
    for noises in product(noise, repeat=len(scores)):
        noisy = [score + k for score, k in zip(scores, noises, strict=True)]
        expected[noisy.index(max(noisy))] += math.prod(noise[k] for k in noises)
    chances = mechanism.chances(scores)
    check_sum(chances)
    assert [float(low) for low, _ in chances.values()] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(-1, 1)), min_size=2, max_size=5), st.sampled_from([1, 3]))
def test_ties_included_no_neighbours_lose_more_than_epsilon(pairs, epsilon):
    one, other = [score for score, _ in pairs], [score + move for score, move in pairs]
    assert surest(NoisyMax(epsilon=epsilon), one, other) <= epsilon * (1 + 1e-9)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(0, 2)), min_size=2, max_size=5))
def test_monotone_scores_lose_no_more_with_half_the_noise(pairs):
    one, other = [score for score, _ in pairs], [score + move for score, move in pairs]
    assert surest(NoisyMax(epsilon=2, sensitivity=2, monotone=True), one, other) <= 2 * (1 + 1e-9)


@pytest.mark.parametrize("trial", list(noisy_max.trials()), ids=lambda trial: trial.name)
def test_the_declared_loss_is_pure_and_kept_on_the_worst_neighbours(trial):
    assert trial.mechanism.loss == Pure(trial.mechanism.epsilon)
    assert surest(trial.mechanism, trial.one, trial.other) <= float(trial.mechanism.epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("trial", list(noisy_max.trials()), ids=lambda trial: trial.name)
def test_releases_have_the_exact_distribution(trial):
    check_fit(trial.mechanism, trial.one, seed=51)


@settings(max_examples=30)
@given(st.fractions(Fraction(1, 4), 30), st.sampled_from([0.5, 0.1, 0.01, 1e-5]))
def test_the_difference_of_two_noises_keeps_within_its_tail(scale, beta):
    half = tails.laplace_difference(scale, Fraction(beta))
    noise = np.exp(-np.abs(np.arange(-2000, 2001)) / float(scale))
    noise /= noise.sum()
    difference = np.convolve(noise, noise)  # from -4000 to 4000
    assert difference[4000 + half + 1 :].sum() <= beta * (1 + 1e-6)
    assert half == 0 or difference[4000 + half :].sum() >= beta * (1 - 1e-6)


def test_the_error_holds_for_many_equal_rivals():
    mechanism = NoisyMax(epsilon=1, candidates=50)
    half = int(mechanism.error(0.05))
    with seeded(52):
        chosen = mechanism.releases([half + 1] + [0] * 49, 20_000)
    # 20,000 runs at a failure rate of at most 0.05: more than 1,155 failures have a chance below 1e-6.
    assert (chosen != 0).sum() <= 1155


def test_one_candidate_is_always_chosen():
    mechanism = NoisyMax(epsilon=1, candidates=1)
    assert mechanism.release([7]) == 0
    assert mechanism.error() == 0


def test_scores_at_the_ends_of_64_bits_do_not_wrap():
    assert set(NoisyMax(epsilon=1).releases([2**63 - 1, -(2**63)], 500).tolist()) == {0}
    assert set(NoisyMax(epsilon=1).releases([2**90, 0], 50).tolist()) == {0}


@pytest.mark.parametrize("bad", [{"epsilon": 0}, {"epsilon": 1, "candidates": 1.5}, {"epsilon": 1, "step": 0}], ids=str)
def test_bad_parameters_are_refused_with_a_fix(bad):
    with pytest.raises(BadParameter, match="Fix: "):
        NoisyMax(**bad)
