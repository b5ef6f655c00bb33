"""Renyi losses, stated, and the way from divergences to epsilon."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.account import Gaussian, Laplace, Pure, Renyi
from discreet.account.numeric import orders
from discreet.core.errors import BadParameter

pytestmark = pytest.mark.numeric


def test_conversion_subtracts_what_the_lecture_left_out():
    # E15: epsilon + ln(1/delta)/(alpha - 1) is valid and loose.
    alpha, tau, delta = 8, 0.5, 1e-6
    loose = tau + math.log(1 / delta) / (alpha - 1)
    found = Renyi({alpha: tau}).epsilon(delta)
    right = tau + math.log((alpha - 1) / alpha) - (math.log(delta) + math.log(alpha)) / (alpha - 1)
    assert found <= right * (1 + 1e-12)
    assert right < loose - 0.1


def test_the_divergence_is_of_the_log_ratio():
    # E14: D = ln E_P e^((alpha - 1) r) / (alpha - 1); the lecture's ln E_P r^(alpha - 1) is not even defined for r < 0.
    alpha, p = 3.0, 1 / (1 + math.exp(-1.0))
    right = math.log(p * math.exp(alpha - 1) + (1 - p) * math.exp(1 - alpha)) / (alpha - 1)
    assert Pure(1).rdp(alpha) == pytest.approx(right, rel=1e-12)


def test_a_vector_pays_half_its_squared_mahalanobis_distance_per_order():
    # E16: with covariance S the squared distance is d' S^-1 d, and the divergence is alpha/2 of it.
    covariance, change = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([0.5, -0.25])
    squared = float(change @ np.linalg.solve(covariance, change))
    loss = Gaussian(1 / math.sqrt(squared))
    assert loss.rdp(4) == pytest.approx(2 * squared, rel=1e-12)
    assert loss.rdp(4) != pytest.approx(2 * math.sqrt(squared), rel=0.1)


def test_between_given_orders_chords_hold_and_above_them_nothing():
    true = Gaussian(2)
    stated = Renyi({2: true.rdp(2), 4: true.rdp(4)})
    assert true.rdp(3) <= stated.rdp(3) <= true.rdp(4)
    assert stated.rdp(1.5) <= true.rdp(2)
    assert stated.rdp(5) == math.inf


def test_order_infinity_is_pure_privacy():
    assert Renyi({math.inf: 2}).epsilon(0) == 2
    assert Renyi({2: 0.1, math.inf: 2}).rdp([2, 1e9]) == pytest.approx([0.1, 2])


def test_sums_are_taken_order_by_order():
    one, two = Renyi({2: 0.1, 8: 0.6}), Renyi({4: 0.2, 8: 0.3})
    assert (one + two).rdp(8) == pytest.approx(0.9)
    assert (one + Laplace(10)).rdp(8) == pytest.approx(0.6 + Laplace(10).rdp(8))


def test_groups_follow_mironov():
    assert Renyi({8: Fraction(1, 10), math.inf: 1}).group(2) == Renyi({4: Fraction(3, 10), math.inf: 2})
    assert Renyi({16: Fraction(1, 10)}).group(3) == Renyi({4: Fraction(9, 10)})
    with pytest.raises(BadParameter, match="order of at least 4"):
        Renyi({3: 0.1}).group(2)


@pytest.mark.parametrize("curve", [{}, {1: 0.1}, {0.5: 0.1}, {2: -1}, {math.nan: 0.1}, {2: math.nan}])
def test_curves_that_make_no_sense_are_refused(curve):
    with pytest.raises(BadParameter):
        Renyi(curve)


def test_the_best_order_is_found_wherever_it_lies():
    for rho in (1e-8, 1e-3, 1.0, 1e4):
        found = orders.epsilon(lambda alphas, rho=rho: rho * alphas, 1e-6)
        grid = 1 + np.geomspace(1e-5, 1e8, 200_001)
        best = (rho * grid + np.log1p(-1 / grid) - (math.log(1e-6) + np.log(grid)) / (grid - 1)).min()
        assert found == pytest.approx(max(0.0, best), rel=1e-6, abs=1e-9)
