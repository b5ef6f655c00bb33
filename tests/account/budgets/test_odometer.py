"""The odometer: its adaptive figure holds at all times; its fixed figure says what it is."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.account import Approx, Gaussian, Laplace, Pure, RandomizedResponse
from discreet.account.budgets.odometer import ORDERS, Odometer
from discreet.account.numeric.rounding import up
from discreet.core.errors import BadParameter


def run(odometer, *losses):
    for loss in losses:
        odometer = odometer.add(loss)
    return odometer


def test_nothing_asked_costs_nothing():
    odometer = Odometer(1e-6)
    assert odometer.epsilon == odometer.fixed_in_advance(1e-6) == 0


def test_a_few_pure_losses_read_as_their_sum():
    odometer = run(Odometer(1e-6), Pure(Fraction(1, 10)), Laplace(5))
    assert odometer.epsilon == up(Fraction(3, 10))


def test_many_small_losses_read_far_below_their_sum():
    odometer = Odometer(1e-6).add(Pure(Fraction(1, 100)) * 10_000)
    assert odometer.epsilon < 10 < 100
    assert odometer.epsilon > odometer.fixed_in_advance(1e-6)


def test_the_adaptive_bound_is_the_least_over_orders_that_share_delta():
    odometer = Odometer(1e-6).add(Gaussian(2))
    bounds = [float(a) / 8 + math.log(len(ORDERS) / 1e-6) / (float(a) - 1) for a in ORDERS]
    assert odometer.epsilon == pytest.approx(min(bounds), rel=1e-9)
    assert odometer.epsilon >= min(bounds) * (1 - 1e-15)


def test_one_order_alone_pays_for_one():
    odometer = Odometer(1e-6, (8,)).add(Gaussian(2))
    assert odometer.epsilon == pytest.approx(1 + math.log(1e6) / 7, rel=1e-9)


def test_deltas_of_approximate_parts_add_to_the_total():
    odometer = run(Odometer(1e-6), Approx(0.1, 1e-7), Approx(0.1, 2e-7))
    assert odometer.total_delta == up(Fraction(1e-6) + Fraction(1e-7) + Fraction(2e-7))
    assert odometer.epsilon == up(2 * Fraction(0.1))


def test_reading_goes_up_only():
    odometer, reading = Odometer(1e-6), 0.0
    for loss in [Pure(0.1), Gaussian(5), Pure(1e-300), Approx(0.1, 1e-9), Gaussian(0.5), Laplace(1)]:
        odometer = odometer.add(loss)
        assert odometer.epsilon >= reading
        reading = odometer.epsilon


def test_the_fixed_figure_is_that_of_the_whole_list():
    odometer = run(Odometer(1e-6), Gaussian(3), Gaussian(3), Gaussian(4))
    whole = Gaussian(3) * 2 + Gaussian(4)
    assert odometer.fixed_in_advance(1e-6) == pytest.approx(whole.epsilon(delta=1e-6), rel=1e-12)
    assert "settled before any answer" in Odometer.fixed_in_advance.__doc__


@st.composite
def strategies(draw):
    """Odds of the next randomized response, by how lucky the adversary was so far."""
    table = draw(st.lists(st.fractions(Fraction(21, 20), 5, max_denominator=20), min_size=5, max_size=5))
    stop = draw(st.integers(-3, 0))
    return lambda luck: None if luck < stop else table[luck % 5]


def failing_mass(odometer, strategy, depth):
    """Probability, over every path of an adaptive adversary, that the loss ever exceeds the reading of its moment."""
    total = mpmath.mpf(0)

    def play(odometer, luck, p, q, steps):
        nonlocal total
        if p > q and mpmath.log(_mp(p) / _mp(q)) > odometer.epsilon:
            total += _mp(p)
            return
        odds = strategy(luck) if steps < depth else None
        if odds is None:
            return
        after = odometer.add(RandomizedResponse(_log(odds)))
        truth = odds / (1 + odds)
        play(after, luck + 1, p * truth, q * (1 - truth), steps + 1)
        play(after, luck - 1, p * (1 - truth), q * truth, steps + 1)

    with mpmath.workprec(200):
        play(odometer, 0, Fraction(1), Fraction(1), 0)
        return total


def _mp(value):
    return mpmath.mpf(value.numerator) / value.denominator


def _log(odds):
    """ln of a rational, rounded up, so that the loss stated is never below the loss there is."""
    found = float(mpmath.log(_mp(odds)))
    return math.nextafter(found, 9) if mpmath.mpf(found) < mpmath.log(_mp(odds)) else found


@given(strategy=strategies(), delta=st.sampled_from([0.3, 0.1, 0.02]), orders=st.sampled_from([(2,), (4, 16), (3, 9)]))
@settings(max_examples=40, deadline=None)
def test_the_reading_holds_at_all_times_together_against_an_adaptive_adversary(strategy, delta, orders):
    odometer = Odometer(delta, orders)
    assert failing_mass(odometer, strategy, 7) <= delta


def test_the_check_itself_would_catch_a_reading_that_is_too_low():
    class TooLow:
        epsilon = 0.5

        def add(self, loss):
            return self

    assert failing_mass(TooLow(), lambda luck: Fraction(2), 6) > 0.5


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Odometer(0), "delta"),
        (lambda: Odometer(1), "delta"),
        (lambda: Odometer(math.nan), "delta"),
        (lambda: Odometer(1e-6, ()), "orders"),
        (lambda: Odometer(1e-6, (1,)), "orders"),
        (lambda: Odometer(1e-6, relation="swap"), "relation"),
        (lambda: Odometer(1e-6).add(Pure(1, relation="replace")), "relation"),
    ],
)
def test_an_odometer_that_makes_no_sense_is_refused_by_name(make, name):
    with pytest.raises(BadParameter) as refusal:
        make()
    assert refusal.value.name == name
