"""Gaussian losses in closed form."""

import math
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.account import Gaussian, GaussianDP
from discreet.account.numeric import normal
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
    from discreet.account.numeric.loss_measure import quadrature

    mu = 0.7
    loss, p, _ = quadrature(normal_curve(mu), np.zeros(1))
    mean = float(p @ loss)
    assert mean == pytest.approx(mu * mu / 2, rel=1e-6)
    assert float(p @ (loss - mean) ** 2) == pytest.approx(mu * mu, rel=1e-6)


def normal_curve(mu):
    from discreet.account.numeric.pair import normal as pair

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


def pairs(many, seed):
    """Return random and corner pairs of mu and epsilon: near each other, near the mean loss, at zero, anywhere."""
    drawn = np.random.default_rng(seed)  # noqa: TID251  (parameters, not noise)
    corners = [(mu, mu * ratio) for mu in np.geomspace(1e-12, 1e3, 31) for ratio in (0.0, 1e-8, 0.5, 1.0, 1 - 1e-15, 2)]
    yield from corners
    for place in range(many - len(corners)):
        mu = float(10 ** drawn.uniform(-12, 3))
        match place % 4:
            case 0:
                yield mu, float(mu * 10 ** drawn.uniform(-3, 1.6))
            case 1:
                yield mu, float(mu * drawn.uniform(0.9, 1.1))
            case 2:
                yield mu, max(0.0, float(mu * mu / 2 + mu * drawn.uniform(-38, 38)))
            case _:
                yield mu, float(10 ** drawn.uniform(-15, 5))


def check_delta(many, seed):
    with mpmath.workprec(400):
        for mu, epsilon in pairs(many, seed):
            m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
            root, a = mpmath.sqrt(2), m / 2 - e / m
            truth = (mpmath.erfc(-a / root) - mpmath.exp(e) * mpmath.erfc((m - a) / root)) / 2
            found = normal.delta(mu, epsilon)
            assert truth <= found <= truth * (1 + mpmath.mpf(1e-9)) + mpmath.mpf(1e-320), (mu, epsilon)


@pytest.mark.numeric
def test_delta_is_never_below_the_truth_where_its_terms_all_but_cancel():
    # It was, for mu of 1e-7 to 0.1 and epsilon near mu: 253 of 45,824 pairs, by 1e-16/mu of itself.
    check_delta(3000, 1)


@pytest.mark.soak
def test_delta_is_never_below_the_truth_for_sixty_thousand_pairs():
    check_delta(60_000, 2)


@pytest.mark.numeric
def test_epsilon_is_never_below_the_truth_and_close_to_it():
    drawn = np.random.default_rng(3)  # noqa: TID251
    for _ in range(60):
        mu, delta = float(10 ** drawn.uniform(-9, 2)), float(10 ** drawn.uniform(-30, -1))
        found = normal.epsilon(mu, delta)
        assert gaussian_delta(mu, found) <= delta
        assert found == 0 or gaussian_delta(mu, found * (1 - 1e-7)) > delta


def test_tiny_losses_do_not_vanish_when_they_are_added():
    together = GaussianDP(1e-200) + GaussianDP(2e-200)
    assert together.mu == pytest.approx(math.sqrt(5) * 1e-200)
    assert together.delta(0) > 0


@pytest.mark.filterwarnings("error")
def test_a_mu_whose_square_is_beyond_all_floats_is_answered_at_once():
    assert GaussianDP(1.5e154).epsilon(1e-6) >= 1.125e308
    assert GaussianDP(1e200).epsilon(1e-6) == math.inf
    assert GaussianDP(1e150).rdp(2) >= 1e300
    assert np.isinf(GaussianDP(1e150).rdp([1e10, 1e300])).any()
