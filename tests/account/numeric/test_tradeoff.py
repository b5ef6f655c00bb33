"""Trade-off curves."""

import math

import numpy as np
import pytest
from scipy import special

from discreet.account import Approx, Exponential, Gaussian, GaussianDP, Laplace, Pure, Zcdp
from discreet.account.numeric.tradeoff import of_curve
from discreet.core.errors import BadParameter

pytestmark = pytest.mark.numeric

RATES = np.array([0.0, 0.001, 0.05, 0.3, 0.7, 1.0])


def test_the_curve_of_gaussian_noise_is_exact():
    # D5: Phi(Phi^-1(1 - a) - mu).
    expected = special.ndtr(special.ndtri(1 - RATES) - 1.5)
    np.testing.assert_allclose((Gaussian(1) + GaussianDP(math.sqrt(1.25))).tradeoff(RATES), expected, atol=1e-12)


def test_pure_and_approximate_privacy_have_two_lines():
    for loss, epsilon, delta in ((Pure(1), 1, 0), (Approx(1, 0.01), 1, 0.01)):
        lines = np.maximum(1 - delta - math.exp(epsilon) * RATES, math.exp(-epsilon) * (1 - delta - RATES))
        np.testing.assert_allclose(loss.tradeoff(RATES), np.maximum(lines, 0), atol=1e-3)
        assert (loss.tradeoff(RATES) <= np.maximum(lines, 0) + 1e-12).all()


def test_the_curve_of_laplace_noise_is_a_close_lower_bound():
    # Dong, Roth, Su 2022: T(Lap(0, 1), Lap(1, 1)).
    rates = np.array([0.01, 0.1, 0.18, 0.3, 0.6, 0.9])
    low = math.exp(-1) / 2
    truth = np.where(
        rates < low, 1 - math.e * rates, np.where(rates < 0.5, math.exp(-1) / (4 * rates), math.exp(-1) * (1 - rates))
    )
    found = Laplace(1).tradeoff(rates)
    assert (found <= truth + 1e-12).all()
    np.testing.assert_allclose(found, truth, rtol=1e-3)


def test_numerical_curves_agree_with_the_closed_form():
    numerical = of_curve(lambda epsilon: Gaussian(1).delta(epsilon), RATES)
    exact = Gaussian(1).tradeoff(RATES)
    assert (numerical <= exact + 1e-12).all()
    np.testing.assert_allclose(numerical, exact, atol=1e-3)


@pytest.mark.parametrize("loss", [Zcdp(0.1), Exponential(1), Gaussian(1).sampled(0.1) * 10, Laplace(3) * 5])
def test_every_curve_is_a_curve(loss):
    curve = loss.tradeoff(RATES)
    assert curve.shape == RATES.shape
    assert (np.diff(curve) <= 1e-12).all()
    assert (curve <= 1 - RATES + 1e-12).all()


def test_no_loss_leaves_nothing_but_guessing():
    np.testing.assert_allclose(Pure(0).tradeoff(RATES), 1 - RATES, atol=1e-9)


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan])
def test_rates_that_are_none_are_refused(rate):
    with pytest.raises(BadParameter, match="fpr="):
        Laplace(1).tradeoff([0.1, rate])
