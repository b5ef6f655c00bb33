"""Errata of the lectures about accounting: each test fails on the erroneous statement and passes on the right one.

E7 to E9 are in test_calibrate, E14 to E16 in test_renyi, E19 in test_zcdp, E30 in test_disjoint.
"""

import math

import pytest

from discreet.account import Exponential, Laplace, Pure, RandomizedResponse, optimal


@pytest.mark.parametrize(("bias", "measured"), [(0.01, 0.0400), (0.1, 0.4055), (0.2, 0.847), (0.2499, 1.098)])
def test_e1_biased_coins_cost_twice_what_the_lecture_says(bias, measured):
    epsilon = 2 * math.atanh(2 * bias)
    assert epsilon == pytest.approx(math.log((0.5 + bias) / (0.5 - bias)), rel=1e-12)
    assert epsilon == pytest.approx(measured, abs=6e-4)
    loss = RandomizedResponse(epsilon)
    assert loss.delta(2 * bias) > 0
    assert loss.delta(epsilon) == 0
    assert epsilon >= 4 * bias


def test_e11_the_limit_of_all_orders_is_the_maximum():
    loss = Laplace(2)
    total_variation = loss.delta(0)
    assert loss.rdp(math.inf) == 0.5
    assert loss.rdp(1e8) == pytest.approx(0.5, rel=1e-6)
    assert total_variation < 0.25


@pytest.mark.parametrize(("k", "figure"), [(100, 9.29), (500, 24.86), (1000, 38.7)])
def test_e20_a_figure_per_query_is_not_a_figure_per_month(k, figure):
    found = (Pure(0.15) * k).epsilon(1e-9)
    assert found == pytest.approx(figure, abs=0.06)
    assert found == pytest.approx(optimal(k, 0.15, slack=1e-9).epsilon, rel=1e-9)
    assert 0.15 < found < 0.15 * k
    # Top-k by the exponential mechanism is bounded range, which halves it at least.
    assert (Exponential(0.15) * k).epsilon(1e-9) < 0.6 * found


def test_e10_the_exact_cost_of_a_hundred_tenths_is_far_below_every_formula():
    assert (Pure(0.1) * 100).epsilon(1e-6) == pytest.approx(4.775, abs=0.02)
