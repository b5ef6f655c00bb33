"""Discrete Gaussian losses."""

import numpy as np
import pytest

from discreet.account import DiscreteGaussian, Gaussian
from discreet.account.losses import discrete_gaussian as module
from tests.account.truth import enumerated_delta

pytestmark = pytest.mark.numeric


def brute_law(sigma, steps):
    x = np.arange(-int(20 * sigma) - 5, int(20 * sigma) + steps + 6)
    masses = np.exp(-((x - steps) ** 2) / (2 * sigma**2))
    return steps * (2 * x - steps) / (2 * sigma**2), masses / masses.sum()


def test_discrete_noise_costs_more_than_continuous_noise():
    # RULES 10: sigma 2 at delta 1e-6.
    assert DiscreteGaussian(2).epsilon(1e-6) == pytest.approx(2.2758, abs=5e-5)
    assert Gaussian(2).epsilon(1e-6) == pytest.approx(2.2541, abs=5e-5)


@pytest.mark.parametrize(("sigma", "steps"), [(0.5, 1), (2, 1), (3, 4), (10, 7)])
def test_it_agrees_with_the_noise_itself(sigma, steps):
    law = brute_law(sigma, steps)
    for epsilon in (0.0, 0.3, 1.7, 4.0):
        truth = enumerated_delta([law], epsilon)
        assert truth * (1 - 1e-12) <= DiscreteGaussian(sigma, steps).delta(epsilon) <= truth * (1 + 1e-9) + 1e-15


def test_two_of_them_agree_with_the_noise_itself():
    law = brute_law(2.0, 1)
    for epsilon in (0.1, 1.0, 3.0):
        truth = enumerated_delta([law, law], epsilon)
        found = (DiscreteGaussian(2) * 2).delta(epsilon)
        assert truth * (1 - 1e-12) <= found <= truth * (1 + 1e-3)


def test_large_sigmas_in_blocks_agree_with_every_integer(monkeypatch):
    loss = DiscreteGaussian(50_000, 20_000) * 10
    exact = loss.epsilon(1e-6)
    monkeypatch.setattr(module, "SUMMED", 1.0)
    blocks = loss.epsilon(1e-6)
    assert exact * (1 - 1e-5) <= blocks <= exact * (1 + 1e-4)


@pytest.mark.parametrize(("sigma", "steps", "k"), [(3000, 1, 1), (3000, 1, 50), (5000, 700, 3), (2500.5, 90_000, 1)])
@pytest.mark.parametrize("delta", [1e-4, 1e-7, 1e-10])
def test_integers_summed_in_blocks_agree_with_each_kept_apart(monkeypatch, sigma, steps, k, delta):
    loss = DiscreteGaussian(sigma, steps) * k
    thinned = loss.epsilon(delta)
    monkeypatch.setattr(module, "LISTED", 10**9)
    listed = loss.epsilon(delta)
    assert listed * (1 - 1e-5) <= thinned <= listed * (1 + 1e-4)


def test_blocks_never_cost_less_than_the_noise_itself():
    losses, masses = brute_law(3000.0, 40)
    for epsilon in (0.0, 0.01, 0.05, 0.08):
        truth = enumerated_delta([(losses, masses)], epsilon)
        assert truth * (1 - 1e-11) <= DiscreteGaussian(3000, 40).delta(epsilon) <= truth * (1 + 1e-4)


@pytest.mark.parametrize(("sigma", "steps"), [(3000, 1), (3000, 200_000), (2500, 10**7)])
def test_blocks_keep_all_mass_of_both_neighbours(sigma, steps):
    pair = DiscreteGaussian(sigma, steps).pair(1e-12)
    assert len(pair.p) < 40_000
    assert 1 <= pair.p.sum() * (1 + 1e-12) < 1 + 1e-3
    assert 1 <= pair.q.sum() * (1 + 1e-12) < 1 + 1e-3


def test_in_small_steps_it_approaches_continuous_noise():
    found, continuous = (DiscreteGaussian(10**7, 10**7) * 100).epsilon(1e-6), (Gaussian(1) * 100).epsilon(1e-6)
    assert continuous * (1 - 1e-5) <= found <= continuous * (1 + 1e-4)


def test_divergences_are_bounded_by_those_of_continuous_noise():
    alphas = np.array([1.5, 2.0, 8.0, 32.0])
    np.testing.assert_allclose(DiscreteGaussian(3, 2).rdp(alphas), alphas * 4 / 18, rtol=1e-12)
    losses, masses = brute_law(3.0, 2)
    truth = np.log((masses[None, :] * np.exp((alphas[:, None] - 1) * losses)).sum(axis=1)) / (alphas - 1)
    assert (truth <= DiscreteGaussian(3, 2).rdp(alphas) * (1 + 1e-12)).all()


def test_groups_multiply_the_sensitivity():
    assert DiscreteGaussian(10, 2).group(3) == DiscreteGaussian(10, 6)
