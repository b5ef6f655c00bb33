"""The parts of the numerical accountant, each against what it promises."""

import math
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import special

from discreet.account.numeric import orders
from discreet.account.numeric.amplification import concentrated, diluted, poisson_add, poisson_remove
from discreet.account.numeric.lattice import Lattice, product
from discreet.account.numeric.loss_measure import (
    LossMeasure,
    discretize,
    lattice_edges,
    pilot_edges,
    quadrature,
    total_variation,
)
from discreet.account.numeric.pair import from_measure, normal, response, two_sided
from discreet.account.numeric.pilot import Leaf, Pilot
from discreet.account.numeric.profile import Profile
from discreet.account.numeric.rounding import CALL, excess, sloped, up
from tests.account.truth import gaussian_delta

pytestmark = pytest.mark.numeric


def lattice(index, mass, theta=0.0, spacing=0.01):
    index = np.asarray(index)
    return Lattice.of(LossMeasure(index * spacing, np.asarray(mass, dtype=float), 0.0), index, theta, spacing)


def test_dividing_mass_never_lowers_delta():
    pair = normal(1.0, 1e-20)
    for spacing in (0.5, 0.1, 0.01):
        edges = np.arange(math.floor(-12 / spacing), math.ceil(12 / spacing) + 1) * spacing
        measure = discretize(pair, edges)
        profile = Profile(measure.losses, measure.masses, measure.infinity)
        for epsilon in (0.0, 0.3, 1.0, 3.05, 5.0):
            truth = float(gaussian_delta(1.0, epsilon))
            assert (
                truth
                <= profile.delta(epsilon)
                <= truth * (1 + 4 * spacing**2) + 1e-12 + truth * spacing * (spacing > 0.2)
            )


def test_mass_below_the_grid_moves_up_and_mass_above_it_is_unbounded():
    measure = discretize(response(1.0), np.array([-0.5, 0.0, 0.5]))
    lie = 1 / (1 + math.e)
    assert measure.masses == pytest.approx([lie, 0, 0])
    assert measure.infinity == pytest.approx(1 - lie)


def test_dividing_keeps_the_weights_of_both_distributions():
    pair = two_sided(1.0, -0.5 / math.expm1(-1.0), 1e-12)
    edges = np.linspace(-1.1, 1.1, 12)
    measure = discretize(pair, edges)
    assert measure.masses.sum() == pytest.approx(1, rel=1e-11)
    assert measure.masses @ np.exp(-edges) == pytest.approx(1, rel=1e-11)


def test_quadrature_is_exact_in_the_far_tail():
    curve = normal(1.0, 1e-30).curves[0]
    loss, p, q = quadrature(curve, np.array([8.0]))
    far = loss > 8.0
    from scipy import special

    assert p[far].sum() == pytest.approx(special.ndtr(-7.5) - special.ndtr(1.0 - curve.high), rel=1e-12)
    assert q[far].sum() == pytest.approx(special.ndtr(-8.5) - special.ndtr(-curve.high), rel=1e-12)


def test_fewer_places_are_used_where_little_mass_lies():
    pair = poisson_remove(normal(1.25, 1e-20), 0.001)
    pilot = discretize(pair, pilot_edges(pair))
    index = lattice_edges(pair, 2e-5, pilot, 6.0)
    assert len(index) < 0.05 * (index[-1] - index[0])
    assert discretize(pair, index * 2e-5).infinity < 1e-18


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.7, 1.0])
def test_dilution_is_undone(rate):
    losses = np.array([-20.0, -1.0, -1e-9, 0.0, 1e-9, 0.5, 30.0, 600.0])
    np.testing.assert_allclose(diluted(losses, rate), np.log1p(rate * np.expm1(losses)), rtol=1e-7)
    np.testing.assert_allclose(concentrated(diluted(losses, rate), rate)[2:], losses[2:], rtol=1e-6, atol=1e-9)
    assert diluted(np.array([5000.0]), rate)[0] == pytest.approx(5000 + math.log(rate))
    assert diluted(np.array([-np.inf, np.inf]), 0.5).tolist() == pytest.approx([math.log(0.5), math.inf])


def test_adding_a_person_mirrors_removing_one():
    pair = response(1.0)
    removed, added = poisson_remove(pair, 0.3), poisson_add(pair, 0.3)
    np.testing.assert_allclose(np.sort(-added.high), np.sort(removed.high))
    np.testing.assert_allclose(np.sort(added.p), np.sort(removed.q))


def test_total_variation_is_the_delta_at_zero():
    assert total_variation(normal(1.0, 1e-20)) == pytest.approx(float(gaussian_delta(1.0, 0.0)), rel=1e-9)
    assert total_variation(response(1.0)) == pytest.approx(math.tanh(0.5))


def test_a_product_is_a_convolution_with_an_honest_error():
    one, two = lattice([0, 1, 5], [0.2, 0.5, 0.3]), lattice([-2, 0, 1], [0.1, 0.6, 0.3])
    direct = np.convolve(np.convolve([0.2, 0.5, 0, 0, 0, 0.3], [0.2, 0.5, 0, 0, 0, 0.3]), [0.1, 0, 0.6, 0.3])
    found = product([(one, 2), (two, 1)], -2, 11)
    np.testing.assert_allclose(found.mass, direct, atol=1e-13)
    assert np.abs(found.mass - direct).max() <= found.error + 1e-13
    assert found.error < 1e-12


def test_the_tilt_is_undone_exactly():
    plain, steep = (product([(lattice([0, 3, 7], [0.5, 0.3, 0.2], theta), 4)], 0, 28) for theta in (0.0, 9.0))
    undone = steep.mass * np.exp(steep.log_scale - 9.0 * steep.losses)
    np.testing.assert_allclose(undone, plain.mass * math.exp(plain.log_scale), atol=1e-12)
    assert undone[28] == pytest.approx(0.2**4, rel=1e-9)


def test_what_is_wrapped_is_mass_in_the_wrong_place_never_missing():
    whole = product([(lattice([0, 1], [0.5, 0.5]), 40)], 0, 40)
    window = product([(lattice([0, 1], [0.5, 0.5]), 40)], 14, 34)
    assert (window.mass >= whole.mass[14:35] - 1e-13).all()


def test_frequencies_that_are_left_out_are_counted_as_errors():
    faint = replace(lattice([0, 1], [0.5, 0.5]), mass=np.array([0.25, 0.75]) * 1e-27)
    found = product([(faint, 1)], 0, 1)
    assert (faint.mass - found.mass <= found.error).all()
    assert np.linalg.norm(faint.mass - found.mass) <= found.norm


@pytest.mark.parametrize("theta", [0.0, 1.3, 40.0])
def test_making_a_lattice_coarser_passes_on_what_is_missing(theta):
    masses = np.full(41, 1.0)
    missing = replace(lattice(np.arange(-20, 21), masses / 41, theta, 0.05), mass=masses)
    gone = replace(missing, mass=0 * masses, error=1.0, norm=math.sqrt(41)).coarser()
    lost = missing.coarser().mass
    assert (lost <= gone.error * (1 + 1e-12)).all()
    assert np.linalg.norm(lost) <= gone.norm * (1 + 1e-12)


def test_floats_are_never_below_what_they_stand_for():
    assert up(Decimal("1e-500")) == math.ulp(0.0) > 0
    assert up(Decimal("-1e-500")) == 0.0
    assert up(Decimal("1e500")) == math.inf
    assert up(Decimal("-1e500")) == -sys.float_info.max
    places = np.sqrt(np.arange(1.0, 200.0))
    for slope in (Fraction(1, 3), Fraction(2, 7), Fraction(355, 113)):
        for place, found in zip(places, sloped(slope, places), strict=True):
            assert (
                slope * Fraction(float(place)) <= Fraction(float(found)) <= slope * Fraction(float(place * (1 + 1e-14)))
            )


def test_making_a_lattice_coarser_never_lowers_delta():
    rng_free = np.abs(np.sin(np.arange(1.0, 42.0)))  # any masses will do
    fine = lattice(np.arange(-20, 21), rng_free / rng_free.sum(), theta=1.3, spacing=0.05)
    coarse = fine.coarser()
    profiles = [
        Profile(each.losses, each.mass * np.exp(each.log_scale - each.theta * each.losses)) for each in (fine, coarse)
    ]
    for epsilon in np.linspace(-0.9, 0.95, 40):
        low, high = (profile.delta(float(epsilon)) for profile in profiles)
        assert low * (1 - 1e-12) <= high <= low + 0.02


def test_few_frequencies_and_all_of_them_give_the_same_transform():
    from discreet.account.numeric.lattice import _spectrum

    part = lattice([-3, 0, 2, 11], [0.1, 0.4, 0.3, 0.2])
    everything = _spectrum(part, np.arange(513), 1024)
    few = _spectrum(part, np.array([0, 5, 77]), 1024)
    np.testing.assert_allclose(few, everything[[0, 5, 77]], atol=1e-14)
    gapless = lattice(np.arange(-30, 41), np.arange(1.0, 72.0) / 2556)
    few = _spectrum(gapless, np.array([0, 3, 200]), 2**20)
    np.testing.assert_allclose(few, _spectrum(gapless, np.arange(2**19 + 1), 2**20)[[0, 3, 200]], atol=1e-14)


def test_the_pilot_finds_the_neighbourhood_of_the_answer():
    pilot = Pilot.of([Leaf(lambda tail: normal(1.0, tail), 100)], 1e-20)
    aim = pilot.aim_at_delta(1e-6)
    assert aim.epsilon == pytest.approx(96.7, rel=0.02)
    assert pilot.aim_at_epsilon(96.7).log_delta == pytest.approx(math.log(1e-6), abs=0.5)
    assert pilot.aim_at_epsilon(1.0).theta == 0


def test_a_profile_solves_between_its_losses():
    profile = Profile(np.array([-1.0, 1.0]), np.array([0.25, 0.75]))
    assert profile.delta(0.0) == pytest.approx(0.75 * (1 - math.exp(-1)))
    found = profile.epsilon(0.3)
    assert profile.delta(found) <= 0.3 < profile.delta(found - 1e-9)
    assert profile.epsilon(0.9) == 0
    assert Profile(np.array([1.0]), np.array([0.5]), infinity=0.5).epsilon(0.4) == math.inf


def test_a_profile_says_nothing_below_its_floor():
    profile = Profile(np.array([1.0, 2.0]), np.array([0.5, 0.5]), floor=1.0)
    assert profile.delta(0.5) == 1.0
    assert profile.epsilon(0.9999) >= 1.0


def test_a_measure_makes_a_pair_that_keeps_both_distributions():
    pair = from_measure(np.array([-0.5, 0.5]), np.array([0.3, 0.6]), 0.1)
    assert pair.p.sum() == pytest.approx(1)
    assert pair.q.sum() == pytest.approx(1)


def test_a_circle_is_as_long_as_it_is_asked_to_be():
    part = lattice([0, 40], [0.999, 0.001])
    short, long = product([(part, 1)], 0, 20), product([(part, 1)], 0, 20, 100)
    assert short.mass[1:].max() > 5e-4  # the loss at 40 was wrapped into the window
    assert long.mass[1:].max() < 1e-12


def test_the_norm_of_an_error_bounds_what_is_missing_over_many_places():
    made = product([(lattice([0, 1], [0.5, 0.5]), 2000)], 0, 2000)
    exact = np.exp(
        special.gammaln(2001)
        - special.gammaln(np.arange(2001) + 1.0)
        - special.gammaln(2001.0 - np.arange(2001))
        - 2000 * math.log(2)
    )
    assert np.sqrt(((made.mass * math.exp(made.log_scale) - exact) ** 2).sum()) <= made.norm + 1e-12 * exact.max()
    assert made.norm < made.error * math.sqrt(2001)


def test_the_rest_of_an_exponential_is_exact_for_small_numbers():
    x = np.array([-700.0, -3.0, -0.5, -1e-3, -1e-9, 0.0, 1e-12, 0.3, 0.5, 0.6, 20.0])
    with mpmath.workprec(200):
        for place, found in zip(x.tolist(), excess(x).tolist(), strict=True):
            truth = mpmath.exp(mpmath.mpf(place)) - 1 - mpmath.mpf(place)
            assert abs(found - truth) <= truth * CALL


def test_roundings_of_orders_cover_what_cancels():
    # Between -1 / alpha and 1 a logarithm loses as many digits as alpha - 1 has zeros.
    with mpmath.workprec(200):
        for rho, delta in ((1e-8, 1e-3), (0.3, 1e-6), (50.0, 1e-12)):
            found = orders.epsilon(lambda alphas, rho=rho: rho * alphas, delta)
            tried = map(mpmath.mpf, np.append(orders.COARSE, np.geomspace(1.001, 1e5, 4000)).tolist())
            values = [
                rho * alpha + mpmath.log1p(-1 / alpha) - (mpmath.log(delta) + mpmath.log(alpha)) / (alpha - 1)
                for alpha in tried
            ]
            assert found >= max(0, min(values)) * (1 - mpmath.mpf(1e-4)) - mpmath.mpf(1e-12)
