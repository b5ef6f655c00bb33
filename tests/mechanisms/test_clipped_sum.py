"""Clipped sum: its noise, and that what it says it costs is what the noise of every coordinate costs together."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.gaussian import GaussianDP
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.mechanisms import ClippedSum
from discreet.testing import seeded

MOVES = [(5, 0, 0), (3, 4, 0), (0, -3, 4), (2, 2, 4), (1, -1, 2)]


@pytest.mark.parametrize("move", MOVES)
def test_no_move_within_the_norm_costs_more_than_is_said(move):
    noise = ClippedSum.by_mu(Fraction(1, 2), l2_squared=25, dimension=3)
    paid = [DiscreteGaussian(noise.scale, sensitivity=abs(step)) for step in move if step]
    together = sum(paid[1:], paid[0])
    for delta in (1e-3, 1e-6):
        assert together.epsilon(delta) <= noise.loss.epsilon(delta) * (1 + 1e-9)


@pytest.mark.parametrize("times", [1, 7, 300])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_all_uses_together_cost_what_was_asked_and_no_more(times, relation):
    noise = ClippedSum.by_mu(Fraction(1, 50), l2_squared=9 * 10**6, dimension=4, relation=relation, times=times)
    mu_squared = times * Fraction(noise.loss.mu0) ** 2
    assert Fraction(1, 50) * (1 - Fraction(1, 10**9)) < mu_squared <= Fraction(1, 50) * (1 + Fraction(1, 10**9))
    pure = ClippedSum.by_epsilon(Fraction(1, 3), l1=9, dimension=4, relation=relation, times=times)
    assert times * pure.loss.peak == Fraction(1, 3)


def test_replacing_moves_twice_as_far():
    one = ClippedSum.by_mu(Fraction(1), l2_squared=100, dimension=1)
    both = ClippedSum.by_mu(Fraction(1), l2_squared=100, dimension=1, relation="replace")
    assert float(both.scale) == pytest.approx(2 * float(one.scale), rel=1e-2)
    assert both.loss.relation == "replace"
    assert ClippedSum(scale=3, l1=4, relation="replace").moved == 8


def test_the_loss_of_a_small_sigma_holds_for_the_discrete_noise_and_not_only_for_the_continuous_one():
    noise = ClippedSum(scale=1, l2_squared=1)
    assert noise.loss.mu0 > 1
    assert noise.loss.epsilon(1e-6) >= DiscreteGaussian(1).epsilon(1e-6)
    assert GaussianDP(1).epsilon(1e-6) < noise.loss.epsilon(1e-6)


@pytest.mark.parametrize("law", ["l1", "l2_squared"])
def test_every_coordinate_gets_noise_of_its_own_with_the_stated_scale(law):
    noise = ClippedSum(scale=20, dimension=20_000, **{law: 1})
    with seeded(1):
        drawn = noise.release(Exact((7,) * 20_000)) - 7
    assert abs(drawn.mean()) < 6 * noise.deviation / math.sqrt(20_000)
    assert drawn.std() == pytest.approx(noise.deviation, rel=0.1)
    assert len(np.unique(drawn)) > 50
    assert np.abs(drawn).max() <= noise.error(1e-6)


@pytest.mark.parametrize(
    "given",
    [
        {"scale": 1},
        {"scale": 1, "l1": 1, "l2_squared": 1},
        {"scale": 0, "l1": 1},
        {"scale": 0.5, "l2_squared": 1},
        {"scale": 1, "l1": 0},
        {"scale": 1, "l1": 1, "dimension": 0},
    ],
)
def test_noise_that_nothing_is_proved_of_is_refused(given):
    with pytest.raises(BadParameter):
        ClippedSum(**given)


def test_a_sum_of_another_length_is_refused():
    with pytest.raises(BadParameter, match="3 coordinates"):
        ClippedSum(scale=1, l1=1, dimension=2).release((1, 2, 3))
