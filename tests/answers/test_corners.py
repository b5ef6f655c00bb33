"""Corners: for each fixed data set of a list, intervals hold the truth as often as they say, over the draws.

What has one or two noises is computed over all draws that are not too unlikely, and no false alarm is possible. Of the
others as many runs are drawn as time allows: an interval that misses exactly as often as it may would fail once in a
million times.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from scipy.special import bdtr

from discreet.answers.interval import interval
from discreet.answers.point import point_of
from discreet.measures import moments
from discreet.testing import seeded
from tests.answers.corners import DATA, HIGH, Corner, corner

PRICES = [{"epsilon": 1}, {"epsilon": 4}, {"rho": 0.5}]
SHORT = ["an empty group", "one row at a bound", "all at the high bound", "a mean next to a bound", "few rows"]
RUNS, MANY = 40, 600
LEVELS = (0.8, 0.95, 0.99)
TINY = 1e-9


def named(price):
    return " ".join(f"{word} {amount}" for word, amount in price.items())


def holds(ends, truth):
    low, high = (float(end) for end in ends)
    return low - TINY * (1 + abs(truth)) <= truth <= high + TINY * (1 + abs(truth))


@lru_cache(maxsize=64)
def most_misses(runs, beta):
    """Return the least number of misses that is exceeded with probability below 1e-6 where each has chance beta."""
    return next(k for k in range(runs + 1) if 1 - bdtr(k, runs, beta) < 1e-6)


@pytest.mark.parametrize("price", PRICES, ids=named)
@pytest.mark.parametrize("word", ["count", "sum"])
def test_intervals_of_sums_cover_every_data_set_over_all_draws(word, price):
    for name, (values, others) in DATA.items():
        made = corner(word, values, others, price)
        noises, chances = made.listed()
        for level in LEVELS:
            kept = [holds(interval(made.quantity(noise), level), made.truth) for noise in noises]
            assert chances @ np.array(kept) >= level - 1e-6, (name, level)


# Scales of 1 to 3 steps, so that all draws can be listed: flags, whose intervals are the coarsest.
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_intervals_of_means_cover_every_data_set_over_all_draws(law):
    one = Fraction(1)
    build = lambda noisy: moments.mean(noisy, Fraction(0), one, step=one)  # noqa: E731
    for ones, zeros in ((0, 0), (1, 0), (0, 12), (11, 1)):
        truth = ones / (ones + zeros) if ones + zeros else None
        made = Corner((ones, zeros), ((law, Fraction(3, 2)),) * 2, build, truth)
        noises, chances = made.listed(left=1e-3)
        covered = 0.0
        for noise, chance in zip(noises, chances, strict=True):
            quantity = made.quantity(noise)
            ends = interval(quantity)
            value = point_of(quantity, ends)
            assert value is None or ends[0] <= value <= ends[1]
            assert (value is None) == (ends == (0, 1))
            covered += chance * (truth is None or holds(ends, truth))
        assert covered >= 0.95 - 1e-3, (ones, zeros)


INVERTED = ["mean", "variance", "std", "covariance", "correlation", "difference of means", "sum of means"]
SHARED = [f"{word} of a pool" for word in ("rows", "count", "sum", "mean", "variance", "sum over count")]


def check(word, price, name, runs, level=0.95):
    made = corner(word, *DATA[name], price)
    with seeded(31):
        noises = made.drawn(runs)
    misses = 0
    for noise in noises:
        quantity = made.quantity(noise)
        ends = interval(quantity, level)
        value = point_of(quantity, ends)
        assert value is None or ends[0] <= value <= ends[1]
        misses += made.truth is not None and not holds(ends, made.truth)
    assert misses <= most_misses(runs, 1 - level), (name, misses)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.5}], ids=named)
@pytest.mark.parametrize("word", INVERTED)
def test_intervals_cover_at_the_corners(word, price):
    for name in SHORT:
        check(word, price, name, RUNS // 3 if word == "correlation" else RUNS)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.5}], ids=named)
@pytest.mark.parametrize("word", SHARED)
def test_intervals_of_one_measurement_cover_at_the_corners(word, price):
    for name in SHORT:
        check(word, price, name, RUNS // 2)


@pytest.mark.soak
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("price", [*PRICES, {"epsilon": 0.2}, {"rho": 0.02}], ids=named)
@pytest.mark.parametrize("word", INVERTED + SHARED)
@pytest.mark.parametrize("name", DATA)
def test_intervals_cover_every_data_set(word, price, name, level):
    check(word, price, name, MANY, level)


def test_a_mean_that_its_noise_carried_beyond_its_bound_has_no_narrow_interval():
    made = corner("mean", *DATA["all at the high bound"], {"epsilon": 1})
    scale = float(made.laws[0][1])
    far = made.quantity((0, -round(2 * scale)))  # twice its scale and more, as few noises are
    assert interval(far)[1] == HIGH
    assert interval(far)[0] < HIGH - 0.1
    farther = made.quantity((0, -round(30 * scale)))
    assert interval(farther) == (0, HIGH)
    assert point_of(farther) is None


@pytest.mark.parametrize("word", ["mean", "variance", "std", "covariance", "correlation"])
def test_a_group_of_which_nothing_is_known_has_the_whole_range_and_no_point(word):
    made = corner(word, [], [], {"epsilon": 1})
    quantity = made.quantity([0] * len(made.laws))
    whole = {
        "mean": (0, HIGH),
        "variance": (0, HIGH**2 / 4),
        "std": (0, HIGH / 2),
        "covariance": (-(HIGH**2) / 4, HIGH**2 / 4),
        "correlation": (-1, 1),
    }
    assert interval(quantity) == pytest.approx(whole[word])
    assert point_of(quantity) is None
