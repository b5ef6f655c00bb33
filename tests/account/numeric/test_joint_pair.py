"""Joint pairs: compositions that run on one sample, in both directions and far into their tails."""

import math
from itertools import pairwise

import numpy as np
import pytest

from discreet.account import Gaussian, Laplace, RandomizedResponse
from discreet.account.numeric.joint_pair import joint
from discreet.account.numeric.pair import normal
from discreet.account.numeric.pilot import Leaf
from tests.account.truth import composed_delta, gaussian_delta

pytestmark = pytest.mark.numeric


def product_law(mu, epsilon):
    """Gaussian and Laplace noise together: sums of losses over a grid of Gauss nodes, and their masses under P."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    breaks = np.linspace(-16.0, mu + 16.0, 50)
    half, middle = np.diff(breaks)[:, None] / 2, (breaks[1:] + breaks[:-1])[:, None] / 2
    x, w = (middle + half * nodes).ravel(), (half * weights).ravel()
    normals = mu * (x - mu / 2), w * np.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
    nodes, weights = np.polynomial.legendre.leggauss(9)
    between = epsilon * weights * np.exp((epsilon * nodes - epsilon) / 2) / 4
    losses = np.concatenate([[epsilon, -epsilon], epsilon * nodes])
    masses = np.concatenate([[0.5, 0.5 * math.exp(-epsilon)], between])
    return np.add.outer(normals[0], losses).ravel(), np.multiply.outer(normals[1], masses).ravel()


def test_epsilon_has_no_jump_as_delta_falls():
    # The tail of the joint pair was floored at 1e-14: epsilon went from .333 at 1e-11 to .729 at 3e-12.
    loss = (Gaussian(2) + Laplace(2)).sampled(0.01) * 10
    deltas = np.geomspace(1e-9, 1e-30, 8)
    found = [loss.epsilon(float(delta)) for delta in deltas]
    assert all(low < high < 1.6 * low for low, high in pairwise(found))


@pytest.mark.soak
@pytest.mark.parametrize("delta", [1e-9, 3e-12, 1e-20, 1e-30])
def test_epsilon_of_noise_on_one_sample_is_what_an_integral_says(delta):
    found = ((Gaussian(2) + Laplace(2)).sampled(0.01) * 10).epsilon(delta)
    losses, p = product_law(0.5, 0.5)
    q = p * np.exp(-losses)
    ratio = np.log1p(0.01 * np.expm1(losses))
    removed = [((ratio, 0.99 * q + 0.01 * p), 10)]
    assert composed_delta(removed, found) <= delta < composed_delta(removed, found / 1.005)


@pytest.mark.parametrize("mu", [0.2, 3.0, 20.0])
def test_a_joint_pair_of_gaussian_noise_has_its_curve_in_both_directions(mu):
    pair = joint([Leaf(lambda tail: normal(mu / math.sqrt(2), tail), 2)], 1e-40)
    for each in (pair, pair.reversed()):
        for deviations in (0.5, 3.0, 8.0, 11.0):
            epsilon = mu * mu / 2 + mu * deviations
            above = each.high > epsilon
            with np.errstate(over="ignore"):
                delta = float(each.p[above] @ -np.expm1(epsilon - each.high[above]))
            truth = float(gaussian_delta(mu, epsilon))
            assert truth <= delta <= truth * 1.01


def test_tails_that_were_cut_off_are_told_on_both_sides():
    pair = joint([Leaf(lambda tail: normal(1.0, tail), 1), Leaf(Laplace(1).pair, 2)], 1e-12)
    assert 0 < pair.p[pair.high == np.inf].sum() < 1e-10
    assert 0 < pair.q[pair.low == -np.inf].sum() < 1e-10


def test_samples_of_samples_with_others_are_followed_down_as_well():
    inner = Gaussian(1).sampled(0.1) + RandomizedResponse(0.1)
    loss = inner.sampled(0.05) * 4
    found = [loss.epsilon(delta) for delta in (1e-8, 1e-16, 1e-24)]
    assert all(low < high < 5 * low for low, high in pairwise(found))
    assert found[-1] < 10
