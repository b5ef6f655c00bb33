"""Tails of coins: exact, for two kinds of them together and for coins of any chances."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.local.parts.binomial import at_least, at_most, chances, mean_within
from discreet.local.protocols.one_bit import away


def law_of(coins):
    """Return the exact law of how many coins of these chances come up."""
    law = np.ones(1)
    for chance in coins:
        law = np.convolve(law, [1 - chance, chance])
    return law


@pytest.mark.parametrize(("p", "q"), [("1/2", "1/4"), ("999999/1000000", "1/1000000"), ("3/100", "1/100")])
@pytest.mark.parametrize(("n", "t"), [(1, 0), (1, 1), (40, 13), (300, 200)])
def test_tails_of_two_kinds_of_coins_are_those_of_their_law(n, t, p, q):
    own, other = chances(Fraction(p)), chances(Fraction(q))
    law = law_of([own[0]] * t + [other[0]] * (n - t))
    every, count = np.arange(n + 1), np.full(n + 1, t)
    assert np.allclose(at_most(every, count, n, own, other), np.cumsum(law), rtol=1e-9, atol=1e-15)
    assert np.allclose(at_least(every, count, n, own, other), np.cumsum(law[::-1])[::-1], rtol=1e-9, atol=1e-15)


def test_a_chance_next_to_one_keeps_its_opposite():
    assert chances(1 - Fraction(1, 2**62)) == (1.0, 2.0**-62)
    one = at_most(np.array([9]), np.array([10]), 10, chances(1 - Fraction(1, 2**62)), chances(Fraction(1, 2)))
    assert one[0] == pytest.approx(10 * 2.0**-62)


@pytest.mark.parametrize("beta", [0.05, 0.001])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 12.0])
@pytest.mark.parametrize("n", [1, 2, 10, 150])
@pytest.mark.parametrize("kind", ["all low", "all high", "either bound", "all between", "one high"])
def test_a_mean_is_covered_whatever_the_chances_of_the_coins_are(kind, n, epsilon, beta):
    places = {
        "all low": np.zeros(n),
        "all high": np.ones(n),
        "either bound": np.arange(n) % 2,
        "all between": np.full(n, 0.5),
        "one high": np.arange(n) == 0,
    }[kind]
    turned = 1 / (1 + np.exp(epsilon))
    coins = turned + (1 - 2 * turned) * places
    law, truth = law_of(coins), coins.sum()
    low, high = mean_within(np.arange(n + 1), np.full(n + 1, n), beta / 2)
    assert law[(low > truth) | (truth > high)].sum() <= beta
    far = np.array([abs(ones - truth) > away(ones, n, beta) for ones in range(n + 1)])
    assert law[far].sum() <= beta


def test_with_many_coins_the_bounds_are_as_close_as_a_normal_law_allows():
    low, high = mean_within(np.array([50_000]), np.array([100_000]), 0.025)
    assert (high - low)[0] <= 1.01 * 2 * 1.96 * np.sqrt(25_000)
