"""Inversion of moments: what is left open, and what is tested, may go wrong as often as the interval may, together."""

from fractions import Fraction

import pytest

from discreet.answers import moment_inversion
from discreet.answers.moment_inversion import inverted
from discreet.answers.quantity import FunctionQuantity, NoisyInteger, linear
from discreet.measures import moments

ONE = Fraction(1)
MISS = 0.05


def noisy(values):
    return [NoisyInteger(f"m.x.0.{at}", value, "laplace", Fraction(40)) for at, value in enumerate(values)]


def variance(sums, squares, rest):
    square, most = linear(squares, Fraction(1, 100)), Fraction(25)
    parts = (
        linear(sums, Fraction(1, 10)),
        linear(sums, Fraction(1, 10)),
        square,
        square.plus(linear(rest, Fraction(1, 100))),
    )
    return FunctionQuantity("covariance", parts, (most,), Fraction(0), most)


# Of 1,000 rows: sums of y and z, then of y^2 and the rest of it, of y z, and of z^2 and the rest; all within 10.
PAIR = noisy([0, 500, 25_000, 75_000, 10_000, 30_000, 70_000])
QUANTITIES = {
    "variance": variance(*noisy([0, 25_000, 75_000])),
    "covariance": moments.covariance(PAIR, (10, 10), steps=(ONE, ONE)),
    "correlation": moments.correlation(PAIR, (10, 10)),
}


@pytest.mark.parametrize("name", QUANTITIES)
def test_what_is_left_open_and_what_is_tested_miss_as_often_together_as_the_interval_may(monkeypatch, name):
    misses, honest = [], moment_inversion._ends

    def noted(*given):
        misses.append(given[-1])
        return honest(*given)

    monkeypatch.setattr(moment_inversion, "_ends", noted)
    low, high = inverted(QUANTITIES[name], 1 - MISS)
    assert low < high
    if name == "correlation":
        misses.remove(min(misses))  # a quotient is looked at in both directions, which is one event
    assert sum(misses) == pytest.approx(MISS)
    assert len(misses) == {"variance": 2, "covariance": 3, "correlation": 4}[name]
