"""Pure losses and randomized response."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.account import Laplace, Pure, RandomizedResponse, optimal
from discreet.account.numeric.rounding import up
from tests.account.truth import response_epsilon

pytestmark = pytest.mark.numeric


@pytest.mark.parametrize("delta", [1e-6, 1e-8, 1e-10, 1e-12, 1e-15])
def test_a_thousand_responses_are_the_optimal_composition(delta):
    truth = response_epsilon(0.1, 1000, delta)
    found = (RandomizedResponse(0.1) * 1000).epsilon(delta)
    assert truth <= found <= truth * (1 + 1e-9)


def test_the_published_figures_are_reproduced():
    figures = [(Pure(0.1) * 1000).epsilon(delta) for delta in (1e-6, 1e-10, 1e-12)]
    assert figures == pytest.approx([19.34467145, 24.40669539, 26.52918692], rel=1e-9)


@pytest.mark.parametrize(("epsilon", "k"), [(0.01, 10), (0.1, 1001), (2.0, 7), (0.001, 10**5)])
def test_it_is_never_below_the_exact_theorem(epsilon, k):
    exact = optimal(k, epsilon, slack=1e-6).epsilon
    assert exact * (1 - 1e-14) <= (Pure(epsilon) * k).epsilon(1e-6) <= exact * (1 + 1e-7) + 1e-15


def test_divergences_are_those_of_two_coins():
    for epsilon in (0.01, 1.0, 20.0):
        with mpmath.workprec(200):
            p = 1 / (1 + mpmath.exp(-epsilon))
            for alpha in (1.1, 2, 10, 300):
                moment = p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha)
                truth = mpmath.log(moment) / (mpmath.mpf(alpha) - 1)
                assert truth <= RandomizedResponse(epsilon).rdp(alpha) <= truth * (1 + 1e-9) + 1e-12


def test_the_limits_of_the_orders_are_kullback_leibler_and_the_maximum():
    # E11: the privacy loss is bounded by the divergence of order infinity, not by a total variation.
    loss = RandomizedResponse(1)
    assert loss.rdp(1) == pytest.approx(math.tanh(0.5), rel=1e-12)
    assert loss.rdp(math.inf) == 1
    assert loss.rdp(1e12) == 1


def test_rho_is_below_half_of_epsilon_squared_and_no_order_needs_more():
    for epsilon in (0.01, 0.5, 3.0):
        rho = Pure(epsilon).zcdp()
        assert rho == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-12)
        assert rho < epsilon**2 / 2
        alphas = 1 + np.geomspace(1e-3, 1e5, 1000)
        assert (Pure(epsilon).divergence(alphas) <= rho * alphas * (1 + 1e-9)).all()


def test_groups_multiply_epsilon():
    assert Pure(Fraction(1, 3)).group(3) == Pure(1)
    assert RandomizedResponse(Fraction(1, 3)).group(3) == Pure(1)


def test_pure_losses_add_exactly_at_delta_zero():
    assert (Pure(Fraction(1, 10)) * 10).epsilon(0) == 1.0


@pytest.mark.parametrize("loss", [RandomizedResponse, lambda epsilon: Laplace(1 / Fraction(epsilon))])
def test_divergences_near_order_one_do_not_cancel(loss):
    # A rounding of 2^-50, divided by order - 1, was 2e-8 of the divergence at order 1.001 and epsilon 0.01.
    with mpmath.workprec(300):
        for epsilon in (1e-6, 0.01, 1.0, 30.0, 300.0):
            for alpha in (1 + 1e-6, 1.001, 1.5, 2.0, 64.0, 1e6):
                a, e = mpmath.mpf(alpha), mpmath.mpf(up(loss(epsilon).peak))
                if loss is RandomizedResponse:
                    moment = mpmath.cosh((a - 0.5) * e) / mpmath.cosh(e / 2)
                else:
                    moment = (a * mpmath.exp((a - 1) * e) + (a - 1) * mpmath.exp(-a * e)) / (2 * a - 1)
                truth = mpmath.log(moment) / (a - 1)
                found = float(loss(epsilon).divergence(np.array([alpha]))[0])
                assert truth * (1 - mpmath.mpf(1e-60)) <= found <= truth * (1 + mpmath.mpf(1e-12)), (epsilon, alpha)
