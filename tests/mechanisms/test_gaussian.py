"""Gaussian mechanism: calibration for the discrete noise, covariances, exact distribution, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account.budgets import calibrate
from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.zcdp import Zcdp
from discreet.core.errors import BadParameter
from discreet.mechanisms.gaussian import Gaussian, trials
from discreet.mechanisms.parts.correlated_noise import CorrelatedGaussian
from discreet.mechanisms.parts.mechanism import Enumerable, Mechanism, Repeatable
from discreet.testing import seeded
from tests.mechanisms.elementary import check_fit, check_sum, delta


def test_it_is_a_mechanism_that_can_be_repeated_and_written_down():
    mechanism = Gaussian(sigma=1)
    assert isinstance(mechanism, Mechanism)
    assert isinstance(mechanism, Repeatable)
    assert isinstance(mechanism, Enumerable)
    assert isinstance(Gaussian.correlated([[1]], moves=[(1,)]), Mechanism)


@settings(max_examples=25)
@given(st.sampled_from([0.1, 0.5, 1, 2, 5, 10]), st.sampled_from([1e-3, 1e-5, 1e-8]), st.integers(1, 5))
def test_epsilon_and_delta_are_kept_by_the_noise_that_is_drawn(epsilon, failure, sensitivity):
    mechanism = Gaussian(sensitivity=sensitivity, epsilon=epsilon, delta=failure)
    assert mechanism.loss == DiscreteGaussian(mechanism.sigma, sensitivity=sensitivity)
    assert mechanism.loss.delta(epsilon) <= failure
    # Never less than the analytic calibration of continuous noise, and not much more.
    continuous = calibrate.gaussian(epsilon, failure) * sensitivity
    assert continuous <= float(mechanism.sigma) * (1 + 1e-12)
    assert float(mechanism.sigma) <= continuous * 1.15


def test_the_continuous_calibration_alone_would_be_too_little():
    # sigma(1, 1e-5) of continuous noise (M7) is not enough for integers (RULES: the loss is the discrete one).
    continuous = calibrate.gaussian(1, 1e-5)
    assert continuous == pytest.approx(3.7306, abs=1e-4)
    assert DiscreteGaussian(continuous).delta(1) > 1e-5


@given(st.fractions(Fraction(1, 1000), 10), st.integers(1, 100))
def test_rho_is_kept_and_nearly_used(rho, squared):
    mechanism = Gaussian(sensitivity_squared=squared, rho=rho, dimension=3)
    assert mechanism.loss == Zcdp(mechanism.rho)
    assert mechanism.rho <= rho <= mechanism.rho * (1 + Fraction(1, 2**50))


def test_a_vector_is_charged_by_zcdp_and_keeps_epsilon_and_delta():
    mechanism = Gaussian(sensitivity_squared=2, epsilon=1, delta=1e-5, dimension=10, relation="replace")
    assert isinstance(mechanism.loss, Zcdp)
    assert mechanism.loss.relation == "replace"
    assert 1e-5 * (1 - 1e-6) <= mechanism.loss.delta(1) <= 1e-5


@pytest.mark.parametrize("move", [(1, 1), (2, 0)], ids=str)
def test_no_vector_loses_more_than_its_zcdp(move):
    squared = sum(entry**2 for entry in move)
    mechanism = Gaussian(sensitivity_squared=squared, sigma=1, dimension=2)
    for epsilon in (0.0, 0.5, 1.0, 2.0, 4.0):
        assert delta(mechanism, move, (0, 0), epsilon) <= mechanism.loss.delta(epsilon)


def test_the_classical_calibration_is_larger_and_kept_up_to_epsilon_1():
    for epsilon in (0.1, 0.5, 1):
        classical = Gaussian(epsilon=epsilon, delta=1e-5, classical=True)
        assert classical.sigma > Gaussian(epsilon=epsilon, delta=1e-5).sigma
        assert float(classical.sigma) == pytest.approx(math.sqrt(2 * math.log(1.25e5)) / epsilon)
        assert classical.loss.delta(epsilon) <= 1e-5


def test_the_classical_calibration_is_refused_above_epsilon_1():
    with pytest.raises(BadParameter, match="epsilon <= 1"):
        Gaussian(epsilon=10, delta=1e-5, classical=True)


@settings(max_examples=30)
@given(st.fractions(Fraction(1, 4), 300), st.sampled_from([0.5, 0.1, 0.05, 0.01, 1e-6]))
def test_the_error_bounds_the_tail(sigma, beta):
    half = int(Gaussian(sigma=sigma).error(beta))
    far = np.arange(0, half + 40 * math.ceil(sigma) + 40)
    weights = np.exp(-((far / float(sigma)) ** 2) / 2)
    total = 2 * weights.sum() - weights[0]
    assert 2 * weights[half + 1 :].sum() / total <= beta * (1 + 1e-9)
    # At most one too large.
    assert half < 2 or 2 * weights[half - 1 :].sum() / total >= beta * (1 - 1e-9)


@pytest.mark.parametrize("trial", [t for t in trials() if isinstance(t.mechanism, Gaussian)], ids=lambda t: t.name)
def test_releases_have_the_exact_distribution(trial):
    check_fit(trial.mechanism, trial.one, seed=21)


def test_the_chances_are_bounds_that_sum_to_one():
    check_sum(Gaussian(sigma=Fraction(7, 3)).chances(-3))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 2.0])
def test_the_exact_delta_is_the_declared_one(epsilon):
    mechanism = Gaussian(sigma=Fraction(3, 2))
    exact = delta(mechanism, 1, 0, epsilon)
    assert exact <= mechanism.loss.delta(epsilon) <= exact * (1 + 1e-3) + 1e-12


def test_a_grid_counts_sensitivity_in_steps():
    mechanism = Gaussian(sensitivity=0.25, rho=0.5, step=0.1)
    assert mechanism.loss.sensitivity == 3
    assert mechanism.rho <= Fraction(1, 2)


def test_an_undeclared_vector_is_refused():
    with pytest.raises(BadParameter, match="dimension=3"):
        Gaussian(sigma=1).release([1, 2, 3])


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=3, max_size=3),
    st.lists(st.integers(-4, 4), min_size=3, max_size=3).filter(any),
)
def test_a_covariance_costs_half_the_squared_mahalanobis_distance(factor, move):
    matrix = np.array(factor) @ np.array(factor).T + np.eye(3, dtype=int)
    mechanism = Gaussian.correlated(matrix.tolist(), moves=[move])
    distance = np.array(move) @ np.linalg.solve(matrix.astype(float), np.array(move))
    assert float(mechanism.distance_squared) == pytest.approx(distance)
    assert mechanism.loss == Zcdp(mechanism.distance_squared / 2)
    # The integers that really get noise lose no more: sigmas are rounded up, moves are exact.
    _, sigmas, _ = mechanism._noise()
    moved = mechanism._whitened(move)
    assert sum((w / s) ** 2 for w, s in zip(moved, sigmas, strict=True)) <= mechanism.distance_squared
    # Renyi divergence is alpha/2 of the squared distance (E16), not of the distance.
    assert mechanism.loss.rdp(4.0) == pytest.approx(2 * distance)


def test_noise_of_a_diagonal_covariance_is_the_plain_mechanism_s():
    mechanism = Gaussian.correlated([[4, 0], [0, 4]], moves=[(1, 0), (0, 1)])
    assert mechanism.loss == Gaussian(sigma=2, dimension=2).loss
    assert mechanism._noise()[1:] == ((2, 2), 1)


def test_correlated_noise_has_its_covariance_and_keeps_its_error():
    matrix = np.array([[40, 20, 0], [20, 30, -5], [0, -5, 10]])
    mechanism = Gaussian.correlated(matrix.tolist(), moves=[(1, 0, 0), (0, 1, 0), (0, 0, 1)])
    with seeded(22):
        noise = mechanism.releases((10, -10, 5), 200_000) - np.array([10, -10, 5])
    # An entry's standard error is at most sqrt(2) 40 / sqrt(200,000) = 0.13; five of them exclude 1e-6.
    assert np.abs(np.cov(noise.T) - matrix).max() <= 5 * 0.13
    assert (np.abs(noise).max(axis=1) > mechanism.error(0.05)).mean() <= 0.05


def test_huge_correlated_answers_are_not_rounded_before_the_noise():
    mechanism = Gaussian.correlated([[4, 2], [2, 3]], moves=[(1, 0), (0, 1)])
    with seeded(23):
        released = mechanism.release((2**80, 2**80 + 1))
    assert released == pytest.approx([2.0**80, 2.0**80])


@pytest.mark.parametrize(
    ("covariance", "moves"),
    [
        ([[1, 2], [2, 1]], [(1, 0)]),
        ([[1, 2], [3, 9]], [(1, 0)]),
        ([[1, 0]], [(1, 0)]),
        ([], []),
        ([[1]], [(0,)]),
        ([[1]], [(1, 2)]),
        ([[1]], []),
        ([[math.nan]], [(1,)]),
    ],
    ids=str,
)
def test_bad_covariances_and_moves_are_refused(covariance, moves):
    with pytest.raises(BadParameter, match="Fix: "):
        CorrelatedGaussian(covariance=covariance, moves=moves)


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"sigma": 1, "rho": 1},
        {"epsilon": 1},
        {"delta": 1e-5},
        {"sigma": 1, "delta": 1e-5},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": -1, "delta": 1e-5},
        {"sigma": 0},
        {"sigma": math.inf},
        {"rho": 0},
        {"sigma": 1, "sensitivity": 1, "sensitivity_squared": 1},
        {"sigma": 1, "sensitivity": -1},
        {"sigma": 1, "dimension": 0},
        {"sigma": 1, "classical": True},
        {"sigma": 1, "relation": None},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_with_a_fix(bad):
    with pytest.raises(BadParameter, match="Fix: "):
        Gaussian(**bad)


def test_covariances_of_floats_are_drawn_however_long_their_fractions_are():
    root = np.sin(np.arange(64.0)).reshape(8, 8)
    covariance = root @ root.T + np.eye(8)
    mechanism = Gaussian.correlated(((covariance + covariance.T) / 2).tolist(), moves=np.eye(8, dtype=int).tolist())
    with seeded(24):
        released = mechanism.release([1000] * 8)
    assert np.abs(released - 1000).max() <= mechanism.error(1e-9) < 1000


def test_a_correlated_answer_beyond_the_floats_is_infinite_and_not_an_error():
    mechanism = Gaussian.correlated([[4, 2], [2, 3]], moves=[(1, 0), (0, 1)])
    assert mechanism.release((10**400, 0)).tolist()[0] == math.inf


def test_a_sigma_beyond_the_floats_keeps_its_rho():
    assert Gaussian(sensitivity=1e300, rho=1e-300).rho <= Fraction(1e-300)


@pytest.mark.parametrize(("epsilon", "failure"), [(1e-17, 1e-6), (0.001, 0.1), (1e-6, 0.9), (1, 1e-6)])
def test_a_vector_has_no_more_noise_than_its_delta_asks_for(epsilon, failure):
    rho = Gaussian(epsilon=epsilon, delta=failure, dimension=2).rho
    assert Zcdp(rho).delta(epsilon) <= failure < Zcdp(rho * Fraction(101, 100)).delta(epsilon)


@pytest.mark.parametrize("beta", [5e-324, Fraction(1, 10**400)], ids=["least float", "no float"])
def test_a_chance_beyond_the_floats_still_has_a_bound(beta):
    near, far = Gaussian(sigma=100).error(1e-300), Gaussian(sigma=100).error(beta)
    assert near < far < 2 * near


def test_the_classical_calibration_refuses_what_it_cannot_keep_at_the_least_delta():
    with pytest.raises(BadParameter, match="classical"):
        Gaussian(epsilon=1, delta=5e-324, classical=True)


@pytest.mark.parametrize(
    ("epsilon", "failure", "sensitivity"),
    [(0.045398693656507234, 1.3631879540444198e-12, 2), (0.006941323912500018, 2.495055647859054e-07, 1)],
)
def test_a_calibrated_sigma_is_one_that_was_tried(epsilon, failure, sensitivity):
    made = Gaussian(epsilon=epsilon, delta=failure, sensitivity=sensitivity)
    assert made.loss.delta(epsilon) <= failure


def test_a_delta_below_what_can_be_computed_is_refused_with_a_fix():
    with pytest.raises(BadParameter, match="larger epsilon or delta"):
        Gaussian(epsilon=1, delta=1e-300)
