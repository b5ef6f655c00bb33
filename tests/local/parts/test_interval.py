"""Intervals of counts: they cover, are short, and agree where the exact law and the normal score meet."""

from decimal import Decimal
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadParameter
from discreet.local.grid import lie, log_up, numerator
from discreet.local.parts import interval
from discreet.local.protocol import quantile


@given(
    st.integers(101, 10**6),
    st.fractions(Fraction(1, 10**4), Fraction(1, 2)),
    st.fractions(Fraction(1, 100), Fraction(49, 100)),
    st.floats(0, 1),
)
def test_every_support_has_an_interval_around_its_estimate(n, q, gap, share):
    support = np.array([round(share * n)])
    value, low, high = interval.counts(support, n, q + gap, q)
    assert np.isfinite([value, low, high]).all()
    assert low[0] <= value[0] <= high[0]


def coins(n, chance):
    """Return the exact law of how many of n coins come up, written out."""
    return np.array([comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)], dtype=float)


def misses(n, p, q, beta):
    """Return how likely the interval of t people misses t, for the corners t, by the exact law of the support."""
    _, low, high = interval.counts(np.arange(n + 1), n, p, q, beta)
    for t in {0, 1, n // 10, n // 2, n - 1, n}:
        law = np.convolve(coins(t, Decimal(float(p))), coins(n - t, Decimal(float(q))))
        yield law[(low > t) | (t > high)].sum()


def oracles(epsilon):
    """Return the supports (p, q) of the usual oracles."""
    exact = Fraction(epsilon)
    for k in (2, 10, 1000):
        yield 1 - (k - 1) * lie(exact, k - 1), lie(exact, k - 1)
    yield Fraction(1, 2), lie(exact)
    yield 1 - lie(exact / 2), lie(exact / 2)
    yield 1 - lie(exact), Fraction(1, 2)


@pytest.mark.parametrize("beta", [0.05, 0.001])
@pytest.mark.parametrize("epsilon", ["1", "12", "30"])
@pytest.mark.parametrize("n", [1, 9, 120])
def test_intervals_cover_every_fixed_count_by_the_exact_law(n, epsilon, beta):
    for p, q in [*oracles(epsilon)][1::2]:
        assert max(misses(n, p, q, beta)) <= beta, (p, q)


def test_intervals_of_many_reports_allow_for_the_steps_of_a_count():
    # Without half a unit for them, these intervals miss 1.027 times as often as they say.
    assert max(misses(1500, Fraction(73, 100), Fraction(27, 100), 0.05)) <= 0.05


@pytest.mark.soak
@pytest.mark.parametrize("beta", [0.2, 0.05, 0.01, 0.001, 1e-5])
@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "1", "2", "4", "8", "12", "20"])
def test_intervals_cover_every_fixed_count_by_the_exact_law_over_a_fine_grid(epsilon, beta):
    for p, q in oracles(epsilon):
        for n in (3, 50, 100, 101, 400, 2000):
            assert max(misses(n, p, q, beta)) <= beta, (p, q, n)


@pytest.mark.parametrize("beta", [0.05, 0.001])
@pytest.mark.parametrize("epsilon", ["1", "4", "12"])
def test_with_many_reports_intervals_are_as_short_as_a_normal_law_allows(epsilon, beta):
    n, z = 100_000, quantile(beta)
    for p, q in oracles(epsilon):
        t = n // 5
        spread = np.sqrt(float(t * p * (1 - p) + (n - t) * q * (1 - q)))
        if spread > 30:
            support = np.array([round(float(t * p + (n - t) * q))])
            _, low, high = interval.counts(support, n, p, q, beta)
            # An integer is half a unit off on either side, and skewness takes z^2 / 3 at most.
            assert (high - low)[0] * float(p - q) <= 1.01 * 2 * z * spread + 1 + z * z / 3


@given(st.fractions(Fraction(1, 10**6), 25), st.integers(1, 10**6))
def test_a_lie_on_the_grid_keeps_epsilon_and_is_the_least_that_does(epsilon, others):
    from mpmath import mp, mpf

    q = lie(epsilon, others)
    assert numerator(q) >= 1
    with mp.workprec(400):
        limit = mp.exp(mpf(epsilon.numerator) / epsilon.denominator)
        odds = (1 - others * q) / q
        assert mpf(odds.numerator) / odds.denominator <= limit
        finer = q - Fraction(1, 2**62)
        if finer > 0:
            above = (1 - others * finer) / finer
            assert mpf(above.numerator) / above.denominator > limit * (1 - mpf(10) ** -50)


def test_logarithms_are_rounded_up_and_probabilities_are_on_the_grid():
    assert log_up(Fraction(1)) == 0
    assert log_up(Fraction(3)) == pytest.approx(1.0986122886681098, abs=1e-15)
    with pytest.raises(BadParameter, match="no multiple"):
        numerator(Fraction(1, 3))
