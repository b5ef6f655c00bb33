"""Discrete Laplace losses."""

import math

import numpy as np
import pytest

from discreet.account import DiscreteLaplace, Laplace, RandomizedResponse
from discreet.account.losses import discrete_laplace as module
from tests.account.truth import enumerated_delta

pytestmark = pytest.mark.numeric


def brute_law(scale, steps, reach=4000):
    x = np.arange(-reach, reach + steps + 1)
    noise = np.exp(-np.abs(x - steps) / scale) * math.tanh(1 / (2 * scale))
    return (np.abs(x) - np.abs(x - steps)) / scale, noise


def test_at_sensitivity_one_it_is_randomized_response():
    for delta in (1e-6, 1e-10):
        assert (DiscreteLaplace(10) * 1000).epsilon(delta) == (RandomizedResponse(0.1) * 1000).epsilon(delta)
    assert DiscreteLaplace(10).zcdp() == pytest.approx(RandomizedResponse(0.1).zcdp(), rel=1e-12)


@pytest.mark.parametrize("steps", [2, 3, 10])
def test_larger_sensitivities_agree_with_the_noise_itself(steps):
    law = brute_law(12.0, steps)
    for epsilon in (0.0, 0.05, steps / 24):
        truth = enumerated_delta([law], epsilon)
        assert truth * (1 - 1e-12) <= DiscreteLaplace(12, steps).delta(epsilon) <= truth * (1 + 1e-9) + 1e-15
        twice = enumerated_delta([gathered_law(12.0, steps)] * 2, epsilon)
        found = (DiscreteLaplace(12, steps) * 2).delta(epsilon)
        assert twice * (1 - 1e-12) <= found <= twice * (1 + 1e-3) + 1e-6


def gathered_law(scale, steps):
    """The same noise with its few distinct losses gathered."""
    losses, masses = brute_law(scale, steps)
    distinct, place = np.unique(np.round(losses * scale).astype(int), return_inverse=True)
    return distinct / scale, np.bincount(place, masses)


def test_many_steps_in_blocks_agree_with_every_step(monkeypatch):
    loss = DiscreteLaplace(5000, 3000) * 50
    exact = loss.epsilon(1e-6)
    monkeypatch.setattr(module, "STEPS", 100)
    blocks = loss.epsilon(1e-6)
    assert exact * (1 - 1e-5) <= blocks <= exact * (1 + 1e-4)


def test_many_steps_approach_continuous_noise_from_above():
    continuous, discrete = (Laplace(10) * 100).epsilon(1e-6), (DiscreteLaplace(10**7, 10**6) * 100).epsilon(1e-6)
    assert continuous * (1 - 2e-5) <= discrete <= continuous * (1 + 1e-4)


@pytest.mark.parametrize("steps", [2, 7, 5000])
def test_no_order_needs_more_than_rho(steps):
    loss = DiscreteLaplace(2 * steps, steps)
    alphas = 1 + np.geomspace(1e-3, 1e4, 500)
    assert (loss.divergence(alphas) <= loss.zcdp() * alphas * (1 + 1e-6)).all()
    assert loss.rdp(math.inf) == pytest.approx(0.5)


def test_groups_multiply_the_sensitivity():
    assert DiscreteLaplace(10, 2).group(3) == DiscreteLaplace(10, 6)


def test_a_sensitivity_beyond_floats_is_seen_on_a_coarser_grid_that_tells_no_less():
    fine, coarse = DiscreteLaplace(12, 4), DiscreteLaplace(3, 1)
    for epsilon in (0.0, 0.05, 0.2):
        assert fine.delta(epsilon) <= coarse.delta(epsilon)
    steps = 20 << 60
    vast, continuous, step = DiscreteLaplace(2 * steps, steps), Laplace(2), RandomizedResponse(0.5)
    assert vast.peak == continuous.peak
    for epsilon in (0.0, 0.1, 0.4):
        assert continuous.delta(epsilon) * (1 - 1e-9) <= vast.delta(epsilon) <= continuous.delta(epsilon) * 1.001 + 1e-9
        assert vast.delta(epsilon) < step.delta(epsilon)
    odd = DiscreteLaplace(2 * (steps + 1), steps + 1)  # no grid is coarser but that of one step
    assert odd.delta(0.1) == pytest.approx(step.delta(0.1), rel=1e-9)
