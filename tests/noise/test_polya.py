"""Polya numbers: right path by path, in their law, and in what they add up to."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from discreet import noise
from discreet.core.errors import BadParameter
from discreet.noise.polya import _below, _one, polya
from discreet.testing import FALSE_ALARM, fit, same, seeded
from tests.noise import truth
from tests.noise.tree import law as law_of

DRAWS = 10**6


def law(share, scale):
    """P(X = k) from its definition."""
    q, r = mp.exp(-1 / truth.number(scale)), truth.number(share)
    return lambda k: mp.gamma(k + r) / (mp.factorial(k) * mp.gamma(r)) * (1 - q) ** r * q**k


@pytest.mark.parametrize("share", [Fraction(1), Fraction(1, 2), Fraction(2, 3)], ids=str)
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 2)], ids=str)
def test_the_law_is_right_path_by_path(share, scale):
    ratios = (share.numerator, share.denominator), (scale.numerator, scale.denominator)
    found, rest = law_of(lambda source: _one(source, *ratios), 19)
    assert rest < Fraction(1, 2)
    exact = law(share, scale)
    for value, weight in found.items():
        assert truth.number(weight) <= exact(value) <= truth.number(weight + rest), value


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8, 9])
def test_bounds_of_their_own_give_every_value_the_same_weight(bound):
    with seeded(11):
        drawn = _below(noise.bits.current(), np.full(10**5, bound))
    assert fit(np.bincount(drawn, minlength=bound), np.full(bound, 1 / bound)) > FALSE_ALARM


def test_bounds_beyond_32_bits_are_reached_and_not_passed():
    bounds = np.array([2**40, 2**62 - 1, 3] * 1000)
    with seeded(12):
        drawn = _below(noise.bits.current(), bounds)
    assert (drawn < bounds).all()
    assert (drawn >= 0).all()
    assert drawn[1::3].max() > 2**61


@pytest.mark.parametrize("share", [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 3), Fraction(1)], ids=str)
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 3), Fraction(10)], ids=str)
def test_a_million_draws_follow_the_law(share, scale):
    reach = int(scale * 40) + 40
    exact = law(share, scale)
    chances = np.array([float(exact(k)) for k in range(reach + 1)])
    with seeded(20261115):
        drawn = polya(share, scale, DRAWS)
    assert fit(np.bincount(np.minimum(drawn, reach), minlength=reach + 1), chances) > FALSE_ALARM


@pytest.mark.parametrize("people", [1, 2, 7, 20])
@pytest.mark.parametrize("scale", [Fraction(7, 3), Fraction(1000)], ids=str)
def test_shares_add_up_to_a_geometric_number(people, scale):
    with seeded(people):
        sums = polya(Fraction(1, people), scale, (people, 10**5)).sum(axis=0)
        whole = noise.geometric(scale, 10**5)
    cells = np.unique(np.quantile(whole, np.linspace(0, 1, 100)[1:-1]).astype(np.int64))
    first, second = (np.bincount(np.searchsorted(cells, x), minlength=len(cells) + 1) for x in (sums, whole))
    assert same(first, second) > FALSE_ALARM


def test_single_draws_follow_the_law_of_many():
    with seeded(3):
        many = polya(Fraction(1, 3), 5, 10**5)
        single = np.array([polya(Fraction(1, 3), 5) for _ in range(2 * 10**4)])
    first, second = (np.bincount(np.minimum(x, 60), minlength=61) for x in (many, single))
    assert same(first, second) > FALSE_ALARM


def test_a_planted_error_is_found():
    # Shares of 1/2 taken for shares of 0.49: the law of the sum is no longer geometric.
    with seeded(4):
        sums = polya(0.49, 10, (2, DRAWS)).sum(axis=0)
    chances = np.array([float(truth.geometric(Fraction(10))(k)) for k in range(400)])
    assert fit(np.bincount(np.minimum(sums, 399), minlength=400), chances) < FALSE_ALARM


def test_scales_beyond_64_bits_give_python_integers_where_needed():
    with seeded(5):
        drawn = polya(Fraction(1, 2), 2**70, 40)
    assert drawn.shape == (40,)
    assert max(int(value) for value in drawn) > 2**62


@pytest.mark.parametrize("share", [0, -1, 2, Fraction(3, 2)])
def test_a_share_is_a_part_of_one_whole(share):
    with pytest.raises(BadParameter, match="share"):
        polya(share, 1)


def test_a_mean_is_that_of_the_law():
    with seeded(6):
        drawn = polya(Fraction(1, 4), 100, DRAWS)
    q = mp.exp(mpf(-1) / 100)
    mean, variance = float(q / (4 * (1 - q))), float(q / (4 * (1 - q) ** 2))
    # Five standard errors: less than one in a million.
    assert abs(drawn.mean() - mean) < 5 * (variance / DRAWS) ** 0.5


def test_a_number_drawn_beyond_64_bits_is_shared_and_not_drawn_again(monkeypatch):
    wide = np.array([1 << 70, 3, 0], dtype=object)
    monkeypatch.setattr("discreet.noise.polya.geometric", lambda scale, count: wide)
    assert polya(1, 5, 3).tolist() == wide.tolist()
