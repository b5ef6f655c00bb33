"""Gaussian losses in closed form."""

import math
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.account import Gaussian, GaussianDP, normal
from tests.account.truth import gaussian_delta, gaussian_epsilon

PUBLISHED = {1: 4.88655, 10: 19.42366, 100: 96.71727, 1000: 649.38509, 10**4: 5474.3655}


@pytest.mark.parametrize("delta", [1e-6, 1e-10, 1e-15])
@pytest.mark.parametrize("k", PUBLISHED)
def test_epsilon_of_repeated_gaussian_noise_is_exact(k, delta):
    truth = gaussian_epsilon(math.sqrt(k), delta)
    found = (Gaussian(1) * k).epsilon(delta)
    assert truth <= found <= truth * (1 + 1e-9)
    if delta == 1e-6:
        assert found == pytest.approx(PUBLISHED[k], rel=2e-6)


@pytest.mark.parametrize("mu", [1e-4, 0.1, 1.0, 30.0, 1000.0])
@pytest.mark.parametrize("deviations", [0.0, 0.5, 3.0, 12.0, 35.0])
def test_delta_is_exact_and_rounded_up(mu, deviations):
    epsilon = mu * mu / 2 + mu * deviations
    truth = gaussian_delta(mu, epsilon)
    assert truth <= normal.delta(mu, epsilon) <= truth * (1 + 1e-9)


def test_a_closed_form_takes_less_than_a_millisecond():
    loss = Gaussian(1) * 1000
    fastest = min(_timed(lambda: loss.epsilon(1e-6)) for _ in range(20))
    assert fastest < 1e-3


def _timed(call):
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def test_gaussian_losses_of_all_kinds_are_one():
    together = Gaussian(2) * 3 + GaussianDP(0.5) + Gaussian(Fraction(5, 2))
    mu = math.sqrt(3 / 4 + 1 / 4 + 4 / 25)
    assert together.methods()[0] == "gaussian"
    assert together.epsilon(1e-6) == pytest.approx(GaussianDP(mu).epsilon(1e-6), rel=1e-12)


def test_divergences_and_rho_are_those_of_the_normal_distribution():
    alphas = np.array([1.0, 1.5, 2.0, 17.0, 1000.0])
    np.testing.assert_allclose(Gaussian(2).rdp(alphas), alphas / 8, rtol=1e-12)
    assert Gaussian(2).zcdp() == 1 / 8
    assert Gaussian(2).rdp(math.inf) == math.inf


def test_the_loss_is_normal_with_mean_half_mu_squared_and_variance_mu_squared():
    # D6: the privacy loss of Gaussian noise, from the nodes that stand for it.
    from discreet.account.measure import quadrature

    mu = 0.7
    loss, p, _ = quadrature(normal_curve(mu), np.zeros(1))
    mean = float(p @ loss)
    assert mean == pytest.approx(mu * mu / 2, rel=1e-6)
    assert float(p @ (loss - mean) ** 2) == pytest.approx(mu * mu, rel=1e-6)


def normal_curve(mu):
    from discreet.account.pair import normal as pair

    return pair(mu, 1e-20).curves[0]


def test_groups_divide_sigma_and_multiply_mu():
    assert Gaussian(6).group(3) == Gaussian(2)
    assert GaussianDP(Fraction(1, 3)).group(3) == GaussianDP(1)


def test_no_noise_is_needed_for_no_loss():
    assert GaussianDP(0).epsilon(0) == 0
    assert GaussianDP(0).delta(0) == 0


def test_pure_privacy_is_never_reached():
    assert Gaussian(1).epsilon(0) == math.inf
    assert mpmath.isinf(Gaussian(1).rdp(math.inf))
