"""Reconstruction: exact and rounded counts give everybody away, and noise at a small epsilon nobody."""

import math

import numpy as np
import pytest

from discreet import noise
from discreet.core.errors import BadParameter
from discreet.lab.reconstruction import ceiling, exact, private, reconstruction, rounded
from discreet.testing import seeded

PEOPLE = 200
# How far the number of heads among 200 fair coins strays from half, but for one time in a million (Hoeffding).
STRAY = math.sqrt(math.log(2 / 1e-6) / (2 * PEOPLE))


@pytest.fixture
def secret():
    with seeded(1):
        yield noise.bernoulli(1 / 2, PEOPLE)


def test_exact_counts_give_everybody_away(secret):
    found = reconstruction(secret, exact)
    assert found.share == 1.0
    assert found.guesses == tuple(secret.tolist())


@pytest.mark.parametrize(("base", "least"), [(5, 0.99), (10, 0.9)])
def test_rounded_counts_give_nearly_everybody_away(secret, base, least):
    assert reconstruction(secret, rounded(base)).share >= least


def test_at_a_small_epsilon_the_attacker_might_as_well_throw_coins(secret):
    mechanism = private(1, 800)
    assert mechanism.loss.epsilon(delta=0) == 1
    assert abs(reconstruction(secret, mechanism.release).share - 0.5) <= STRAY


def test_the_noise_is_all_that_protects(secret):
    assert reconstruction(secret, private(100_000).release).share == 1.0


def test_with_fewer_questions_than_people_many_are_still_guessed(secret):
    # Half as many equations as unknowns leave a coin's 50% far behind.
    assert reconstruction(secret, exact, queries=PEOPLE // 2).share > 0.5 + STRAY


def test_rounding_goes_to_the_nearest_multiple_with_halves_up():
    assert rounded(5)(np.arange(9)).tolist() == [0, 0, 0, 5, 5, 5, 5, 5, 10]
    assert rounded(10)(np.array([4, 5, 14, 15])).tolist() == [0, 10, 10, 20]


def test_no_attack_can_expect_more_than_the_ceiling():
    assert ceiling(0) == 0.5
    assert ceiling(1) == pytest.approx(math.e / (1 + math.e))


def test_the_best_guess_of_one_bit_reaches_no_more_than_the_ceiling():
    # One person, one question: guess 1 where the noisy count is nearer to 1. False alarm 1e-6 (Hoeffding).
    runs, mechanism = 20_000, private(1, 1)
    with seeded(2):
        bits = noise.bernoulli(1 / 2, runs)
        guessed = np.asarray(mechanism.release(bits)) >= 1
    share = float((guessed == (bits == 1)).mean())
    assert share <= ceiling(1) + math.sqrt(math.log(1 / 1e-6) / (2 * runs))
    assert share > 0.6


@pytest.mark.parametrize("secret", [[], [0, 2], [[0, 1]], ["yes"]])
def test_what_is_not_a_list_of_bits_is_refused(secret):
    with pytest.raises(BadParameter, match="bits"):
        reconstruction(secret, exact)


def test_a_defence_that_loses_answers_is_refused(secret):
    with pytest.raises(BadParameter, match="800 answers"):
        reconstruction(secret, lambda counts: counts[:-1])


@pytest.mark.parametrize("queries", [0, -1, 1.5])
def test_questions_are_counted(secret, queries):
    with pytest.raises(BadParameter, match="queries"):
        reconstruction(secret, exact, queries)
