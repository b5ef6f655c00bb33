"""Calibration: as little noise as the accountants allow, and never less."""

import math
from fractions import Fraction

import pytest

from discreet.account import Gaussian, Laplace
from discreet.account.budgets import calibrate
from discreet.core.errors import BadParameter


@pytest.mark.parametrize("delta", [1e-5, 1e-10])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, Fraction(7, 2), 10, 100])
def test_gaussian_noise_inverts_epsilon_from_the_safe_side(epsilon, delta):
    sigma = calibrate.gaussian(epsilon, delta)
    assert float(epsilon) * (1 - 1e-6) <= Gaussian(sigma).epsilon(delta) <= epsilon


def test_the_analytic_sigma_is_reproduced():
    assert calibrate.gaussian(1, 1e-5) == pytest.approx(3.7306, abs=5e-5)


def classical(epsilon, delta):
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@pytest.mark.parametrize(("epsilon", "ratio"), [(0.1, 1.576), (1, 1.299), (2, 1.215), (5, 1.086), (10, 0.969)])
def test_the_classical_formula_is_loose_below_one_and_wrong_far_above(epsilon, ratio):
    # E7: measured at delta 1e-5.
    assert classical(epsilon, 1e-5) / calibrate.gaussian(epsilon, 1e-5) == pytest.approx(ratio, abs=1e-3)
    assert (Gaussian(classical(epsilon, 1e-5)).delta(epsilon) <= 1e-5) == (ratio > 1)


def test_formulas_that_drop_a_constant_break_the_promise():
    # E8: sigma = sqrt(ln(1/delta))/epsilon without the 2; E9: sqrt(2 ln(2/delta))/epsilon at epsilon 10.
    assert Gaussian(math.sqrt(math.log(1 / 1e-5))).delta(1) == pytest.approx(4.28e-5, rel=1e-2)
    assert math.sqrt(2 * math.log(2 / 1e-5)) / 10 < calibrate.gaussian(10, 1e-5)


@pytest.mark.parametrize("epsilon", [0.01, 1, Fraction(1, 3), 7.3])
def test_laplace_noise_inverts_epsilon_from_the_safe_side(epsilon):
    scale = calibrate.laplace(epsilon)
    assert Fraction(1) / Fraction(scale) <= Fraction(epsilon)
    assert Laplace(scale).epsilon(0) == pytest.approx(float(epsilon), rel=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rate", "steps"),
    [(2, 1e-6, 0.01, 1000), (0.01, 1e-6, 0.001, 1000), (8, 1e-5, 0.01, 10**4), (1, 1e-10, 0.2, 30), (3, 1e-5, 1, 100)],
)
def test_noise_multipliers_invert_epsilon_from_the_safe_side(epsilon, delta, rate, steps):
    sigma = calibrate.noise_multiplier(epsilon, delta, rate, steps)
    found = (Gaussian(sigma).sampled(rate) * steps).epsilon(delta)
    assert epsilon * (1 - 1e-6) <= found <= epsilon


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: calibrate.gaussian(0, 1e-5), "epsilon"),
        (lambda: calibrate.gaussian(1, 0), "delta"),
        (lambda: calibrate.gaussian(1, 1), "delta"),
        (lambda: calibrate.laplace(-1), "epsilon"),
        (lambda: calibrate.laplace(math.nan), "epsilon"),
        (lambda: calibrate.noise_multiplier(1, 1e-5, 0, 10), "rate"),
        (lambda: calibrate.noise_multiplier(1, 1e-5, 2, 10), "rate"),
        (lambda: calibrate.noise_multiplier(1, 1e-5, 0.1, 0), "steps"),
    ],
)
def test_targets_that_make_no_sense_are_refused(call, name):
    with pytest.raises(BadParameter) as refusal:
        call()
    assert refusal.value.name == name
