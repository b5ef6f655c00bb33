"""Noise of statistics: the loss stated for a vector is no less than what its integers really lose."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.account import DiscreteGaussian, DiscreteLaplace, Zcdp
from discreet.core.exact import Exact
from discreet.mechanisms import Count
from discreet.mechanisms.moments import Moments
from discreet.mechanisms.parts import integer_noise
from discreet.mechanisms.parts.integer_noise import Noise, Sensitivity, calibrated, floats, plus, saturated
from discreet.noise.draws import Draws


def lost(noise, moves, epsilon):
    """The delta at an epsilon between a vector and the same vector moved, by adding up all outcomes."""
    weights = {k: float(low) for k, (low, _) in noise.chances().items()}
    reach = max(weights)
    p = q = np.ones(1)
    for move in moves:
        k = range(-reach, reach + move + 1)
        p = np.outer(p, [weights.get(each, 0.0) for each in k]).ravel()
        q = np.outer(q, [weights.get(each - move, 0.0) for each in k]).ravel()
    return np.maximum(p - math.exp(epsilon) * q, 0).sum()


@pytest.mark.parametrize("moves", [(1,), (3,), (1, 1), (2, 1), (3, 2), (4, 0)])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_a_vector_loses_no_more_than_its_stated_loss(moves, law):
    moved = Sensitivity(len([m for m in moves if m]), max(moves), sum(moves), sum(m * m for m in moves))
    noise = Noise(law, Fraction(3, 2), moved, "add_remove")
    for epsilon in (0.0, 0.3, 0.7, 1.0, 1.5, 2.0):
        assert lost(noise, moves, epsilon) <= noise.loss.delta(epsilon) + 1e-12


def test_the_loss_is_the_tightest_that_is_known():
    def loss(law, *moved):
        return Noise(law, Fraction(2), Sensitivity(*moved), "replace").loss

    assert loss("laplace", 1, 3, 3, 9) == DiscreteLaplace(2, 3, relation="replace")
    assert loss("laplace", 2, 1, 2, 2) == DiscreteLaplace(2, 1, relation="replace") * 2
    assert loss("laplace", 2, 2, 3, 5) == DiscreteLaplace(2, 3, relation="replace")
    assert loss("gaussian", 2, 1, 2, 2) == DiscreteGaussian(2, 1, relation="replace") * 2
    assert loss("gaussian", 2, 2, 3, 5) == Zcdp(Fraction(5, 8), relation="replace")


@given(st.integers(1, 9), st.integers(1, 9), st.fractions(Fraction(1, 20), 5), st.sampled_from([1, Fraction(1, 3)]))
def test_calibrated_noise_costs_its_share_and_hardly_less(count, each, price, share):
    moved = Sensitivity.entries(count, each)
    assert calibrated(moved, price, None, "add_remove", share).loss.peak == price * share
    rho = Fraction(calibrated(moved, None, price, "add_remove", share).loss.rho)
    assert price * share * (1 - Fraction(1, 2**40)) <= rho <= price * share


@given(st.integers(-(2**70), 2**70), st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4))
def test_adding_never_wraps(exact, drawn):
    for kind in (np.int64, object):
        sums = plus(exact, np.array(drawn, dtype=kind))
        assert [int(each) for each in sums] == [exact + each for each in drawn]
        assert saturated(sums).tolist() == [min(max(exact + each, -(2**63)), 2**63 - 1) for each in drawn]


def test_integers_too_large_for_floats_become_the_largest():
    assert floats(np.array([10**400, -(10**400), 5], dtype=object)).tolist() == [1e308, -1e308, 5.0]


@pytest.mark.parametrize("exact", [2**62 - 1, 2**62, 2**63 - 200, -(2**62), 0])
def test_the_type_of_an_answer_does_not_tell_how_large_the_exact_one_is(exact):
    # Within 64 bits the noisy sum is int64 whatever the exact one was; beyond, its own size says so.
    assert Count(epsilon=1).releases(exact, 50).dtype == np.int64
    assert Count(epsilon=1).releases(2**64, 50).dtype == object


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(40), Fraction(10**30)])
def test_a_debit_draws_the_same_numbers_with_and_without_an_array(monkeypatch, law, scale):
    found = []
    for few in (integer_noise._FEW, 0):
        monkeypatch.setattr(integer_noise, "_FEW", few)
        with Draws(bytes(32)).at("a label"):
            found.append(Noise(law, scale, Sensitivity.entries(1, 1), "add_remove").draw((3, 5)))
    few, array = found
    assert isinstance(few, list)
    assert array.shape == (3, 5)
    assert few == array.tolist()


def test_few_groups_and_many_get_the_noise_of_a_debit_alike(monkeypatch):
    mechanism = Moments(low=0, high=50, order=1, nulls=True, epsilon=1, contributions=3, groups=2)
    exact = Exact([(at, at, 2**70 * (at == 2) + 7 * at) for at in range(6)])
    found = []
    for few in (integer_noise._FEW, 0):
        monkeypatch.setattr(integer_noise, "_FEW", few)
        with Draws(bytes(32)).at("a label"):
            found.append(mechanism.measured(exact))
    assert found[0].values == found[1].values
    assert found[0].loss == found[1].loss
