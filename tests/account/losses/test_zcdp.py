"""Concentrated losses, stated."""

import math
from fractions import Fraction

import pytest

from discreet.account import GaussianDP, Laplace, Unsupported, Zcdp

pytestmark = pytest.mark.numeric


def naive(rho, delta):
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_the_census_figure_is_the_naive_one_and_the_tight_ones_are_smaller():
    # E19: rho 2.63 at delta 1e-5 became 13.64.
    assert naive(2.63, 1e-5) == pytest.approx(13.64, abs=0.005)
    assert Zcdp(2.63).epsilon(1e-5) == pytest.approx(12.69, abs=0.005)
    assert GaussianDP(math.sqrt(2 * 2.63)).epsilon(1e-5) == pytest.approx(11.85, abs=0.005)


@pytest.mark.parametrize(("rho", "official"), [(2.56, 17.14), (0.07, 2.47)])
def test_the_official_census_figures_lie_between_the_naive_and_the_exact_ones(rho, official):
    # E19: persons and housing, at delta 1e-10; the noise is discrete, so that the exact figure is a guide only.
    assert GaussianDP(math.sqrt(2 * rho)).epsilon(1e-10) < official < naive(rho, 1e-10)
    assert Zcdp(rho).epsilon(1e-10) == pytest.approx(official, rel=0.04)


def test_delta_and_epsilon_invert_each_other():
    loss = Zcdp(Fraction(1, 10))
    assert loss.delta(loss.epsilon(1e-6)) == pytest.approx(1e-6, rel=1e-6)


def test_it_adds_and_mixes_through_renyi_divergences():
    loss = Zcdp(0.01) * 3 + Zcdp(0.02)
    assert loss.zcdp() == pytest.approx(0.05)
    mixed = Zcdp(0.01) + Laplace(10)
    assert mixed.methods()[0] == "renyi"
    assert mixed.epsilon(1e-6) <= Zcdp(0.01 + Laplace(10).zcdp()).epsilon(1e-6) * (1 + 1e-9)
    with pytest.raises(Unsupported, match="has parts that it does not support"):
        mixed.epsilon(1e-6, method="pld")


def test_an_approximate_one_pays_its_delta_first():
    loss = Zcdp(0.1, 1e-7)
    assert loss.epsilon(1e-7) == math.inf
    assert loss.epsilon(1e-6) == pytest.approx(Zcdp(0.1).epsilon(9e-7), rel=1e-6)
    with pytest.raises(Unsupported):
        loss.zcdp()


def test_groups_square_and_approximate_ones_are_refused():
    assert Zcdp(Fraction(1, 9)).group(3) == Zcdp(1)
    with pytest.raises(Unsupported, match="proved for delta 0"):
        Zcdp(0.1, 1e-7).group(2)
