"""Intervals of counts: they cover, are short, and agree where the exact law and the normal score meet."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadParameter
from discreet.local import interval
from discreet.local.grid import lie, log_up, numerator


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


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.25), (0.75, 0.25), (0.03, 0.01)])
@pytest.mark.parametrize("t", [0, 30, 90])
def test_the_exact_interval_covers_by_the_exact_law(p, q, t):
    n = 90
    law = np.convolve(interval._binomial(t, p), interval._binomial(n - t, q))
    _, low, high = interval.counts(np.arange(n + 1), n, Fraction(p), Fraction(q))
    assert law[(low <= t) & (t <= high)].sum() >= 0.95


@pytest.mark.parametrize(("p", "q", "n"), [(0.5, 0.2689, 400), (0.0267, 0.0098, 3000), (0.731, 0.5, 150)])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.9])
def test_the_score_covers_by_the_exact_law_and_is_short(p, q, n, share):
    t = round(share * n)
    law = np.convolve(interval._binomial(t, p), interval._binomial(n - t, q))
    supports = np.arange(n + 1)
    low, high = interval._score(supports, n, p, q, 0.05)
    assert law[(low <= t) & (t <= high)].sum() >= 0.945
    # The shortest interval of a normal number with the true variance, as if it were known.
    shortest = 2 * 1.96 * np.sqrt(t * p * (1 - p) + (n - t) * q * (1 - q)) / (p - q)
    assert (law @ (high - low)) <= 1.1 * shortest + 1 / (p - q)


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


@pytest.mark.parametrize("beta", [0.05, 0.01, 0.001])
@pytest.mark.parametrize(("k", "epsilon"), [(2, 8), (1000, 10), (100, 20), (10, 6)])
def test_beyond_the_exact_law_intervals_cover_also_where_next_to_nothing_varies(k, epsilon, beta):
    q = lie(Fraction(epsilon), k - 1)
    p = 1 - (k - 1) * q
    for n in (101, 150, 300):
        _, low, high = interval.counts(np.arange(n + 1), n, p, q, beta)
        for t in (0, 1, 3, n // 2, n - 1, n):
            law = np.convolve(interval._binomial(t, float(p)), interval._binomial(n - t, float(q)))
            assert law[(low <= t) & (t <= high)].sum() >= 1 - beta, (n, t)
