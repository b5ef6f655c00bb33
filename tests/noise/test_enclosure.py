from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp

from discreet.noise import enclosure
from tests.noise.truth import number

rates = st.fractions(min_value=0, max_value=2000, max_denominator=10**9) | st.integers(0, 10**9).map(Fraction)


@settings(max_examples=400)
@given(rates, st.integers(1, 330))
@example(Fraction(1, 10**30), 64)
@example(Fraction(10**6), 64)
@example(Fraction(0), 8)
def test_an_enclosure_holds_the_exponential_and_is_at_most_two_units_wide(rate, bits):
    low, high = enclosure.exp((rate.numerator, rate.denominator), bits)
    with mp.workprec(900):
        truth = mp.exp(-number(rate)) * mp.mpf(2) ** bits
        assert low <= truth <= high
    assert 0 <= high - low <= 2


@settings(max_examples=50)
@given(st.fractions(min_value=Fraction(1, 1000), max_value=3), st.integers(2, 60))
def test_enclosed_powers_hold_the_powers(rate, count):
    work = 200
    lows, highs = enclosure.powers(enclosure.exp((rate.numerator, rate.denominator), work), count, work)
    for j in range(count + 1):
        truth = mp.exp(-number(rate) * j) * mp.mpf(2) ** work
        assert lows[j] <= truth <= highs[j]
        assert highs[j] - lows[j] <= 4 * j + 4


@settings(max_examples=300)
@given(st.integers(0, 2**72), st.integers(80, 300))
def test_the_series_encloses_the_exponential_at_its_own_precision(small, work):
    low, high = enclosure._series(small, work)
    with mp.workprec(900):
        assert low < mp.exp(-mp.mpf(small) / mp.mpf(2) ** work) * mp.mpf(2) ** work < high
    assert high - low < 200
