"""Continuous Laplace losses."""

import math

import numpy as np
import pytest

from discreet.account import Laplace
from discreet.account.numeric.bounded_losses import pair_divergence

pytestmark = pytest.mark.numeric


def test_one_draw_has_a_closed_form():
    loss = Laplace(2)
    for delta in (1e-9, 1e-3, 0.1):
        truth = 0.5 + 2 * math.log1p(-delta)
        assert truth <= loss.epsilon(delta) <= truth + 1e-12
    assert loss.delta(0.25) == pytest.approx(-math.expm1(-0.125), rel=1e-12)
    assert loss.epsilon(0.9) == 0
    assert loss.epsilon(0) == 0.5


def test_the_numerical_accountant_agrees_with_the_closed_form():
    for delta in (1e-6, 1e-2):
        assert Laplace(2).epsilon(delta) <= Laplace(2).epsilon(delta, method="pld") <= Laplace(2).epsilon(delta) + 1e-5


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_divergences_match_a_sum_over_the_loss(scale):
    alphas = np.array([1.2, 2.0, 5.0, 64.0, 500.0])
    np.testing.assert_allclose(
        Laplace(scale).rdp(alphas), pair_divergence(Laplace(scale).pair(1e-290), alphas), rtol=2e-6
    )


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_rho_is_the_limit_at_order_one_and_no_order_needs_more(scale):
    epsilon = 1 / scale
    rho = Laplace(scale).zcdp()
    assert rho == pytest.approx(epsilon + math.exp(-epsilon) - 1, rel=1e-9)
    alphas = 1 + np.geomspace(1e-2, 1e5, 2000)
    assert (Laplace(scale).divergence(alphas) <= rho * alphas * (1 + 1e-9)).all()


def test_the_limits_of_the_orders_are_kullback_leibler_and_the_maximum():
    assert Laplace(1).rdp(1) == pytest.approx(math.exp(-1), rel=1e-12)
    assert Laplace(1).rdp(math.inf) == 1.0


def test_groups_divide_the_scale():
    assert Laplace(6).group(3) == Laplace(2)


def test_a_scale_so_small_that_nothing_is_hidden_still_has_an_epsilon():
    assert (Laplace(1e-3) * 2).epsilon(1e-6) == pytest.approx(2000, rel=1e-4)
