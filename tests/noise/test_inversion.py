"""Every bucket of every table, and every path at small words."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mpf

from discreet.noise.bins import Bins
from discreet.noise.bits import current
from discreet.noise.digits import GeometricDigits
from discreet.noise.inversion import _UNDECIDED, Inverter
from discreet.noise.law import Bell, Digit, Geometric, Ladder, Law, SignedLaw
from tests.noise import truth
from tests.noise.tree import law as law_of
from tests.noise.truth import GRID, LARGE


def at_most(law: Law):
    """The distribution function of a law, from the definitions."""
    if isinstance(law, SignedLaw):
        return truth.signed_below(Fraction(*law.rate), Fraction(*law.flip))
    if isinstance(law, Bell):
        variance = 1 / (2 * Fraction(*law.halved))
        sigma = Fraction(int(variance.numerator**0.5 + 0.5), int(variance.denominator**0.5 + 0.5))
        assert sigma**2 == variance
        return truth.bell_below(sigma, law.width)
    rate = truth.number(Fraction(*law.rate))
    whole = 1 - truth.mp.exp(-rate * law.size) if isinstance(law, Digit) else mpf(1)
    last = law.size - 1 if isinstance(law, Digit) else 10**9
    return lambda k: (1 - truth.mp.exp(-rate * (min(k, last) + 1))) / whole if k >= 0 else mpf(0)


def check_buckets(table: Inverter, word: int) -> None:
    """A decided bucket lies inside its value's interval; an undecided one really holds a boundary or an open end."""
    cdf = at_most(table._law)
    codes = table._codes
    assert len(codes) == 1 << word
    decided = np.flatnonzero(codes != _UNDECIDED)
    assert (np.diff(codes[decided]) >= 0).all()
    unit = mpf(2) ** -word
    for value in np.unique(codes[decided]).tolist():
        places = np.flatnonzero(codes == value)
        assert cdf(value - 1) <= places[0] * unit, value
        assert (places[-1] + 1) * unit <= cdf(value), value
    for bucket in np.flatnonzero(codes == _UNDECIDED).tolist():
        span = [cdf(k) for k in near(table, bucket, word)]
        inside = [p for p in span if bucket * unit - mpf(2) ** -60 <= p <= (bucket + 1) * unit + mpf(2) ** -60]
        assert inside or bucket in (0, (1 << word) - 1), bucket


def near(table: Inverter, bucket: int, word: int) -> range:
    """Values whose boundaries may lie in a bucket: those between its decided neighbours."""
    codes = table._codes
    below = next((int(codes[b]) for b in range(bucket, -1, -1) if codes[b] != _UNDECIDED), table.span[0])
    above = next((int(codes[b]) for b in range(bucket, 1 << word) if codes[b] != _UNDECIDED), table.span[-1])
    return range(below, above + 1)


@pytest.mark.parametrize("scale", [s for s in GRID + LARGE if s != 2**40], ids=str)
def test_every_bucket_of_every_table_lies_inside_its_value_s_interval(scale):
    ratio = (scale.numerator, scale.denominator)
    tables = [GeometricDigits(ratio, signed=True), GeometricDigits(ratio, signed=False)]
    inverters = [Bins(ratio)._bins] + [t._top for t in tables] + [digit for _, digit in tables[0]._digits]
    for inverter in inverters:
        check_buckets(inverter, 16)


LAWS = [
    SignedLaw((1, 1), (1, 1)),
    SignedLaw((3, 7), (3, 7)),
    SignedLaw((3, 2), (1, 5)),
    SignedLaw((10**6, 1), (10**6, 1)),
    Geometric((1, 2)),
    Geometric((5, 1)),
    Digit((1, 10), 4),
    Digit((1, 2**40), 8),
    Bell((1, 2)),
    Bell((9, 2)),
    Bell((1, 18), 2),
]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(("word", "wide", "step"), [(4, 8, 4), (5, 8, 3), (8, 12, 4)])
def test_small_words_give_the_true_distribution_through_every_path(law, word, wide, step):
    inverter = Inverter(law, word, wide, step)
    cdf = at_most(law)
    scalar, rest = law_of(inverter.one, 32)
    vector, _ = law_of(lambda source: int(inverter.draw(source, np.empty(1, dtype=np.int64))[0]), 32)
    assert scalar == vector
    assert rest <= Fraction(200, 2**32)
    for value, weight in scalar.items():
        exact = cdf(value) - cdf(value - 1)
        assert truth.number(weight) <= exact <= truth.number(weight + rest), value


def test_draws_of_one_call_are_independent():
    inverter = Inverter(SignedLaw((1, 1), (1, 1)), 4, 8, 4)
    one, _ = law_of(inverter.one, 20)
    pairs, rest = law_of(lambda source: tuple(inverter.draw(source, np.empty(2, dtype=np.int64)).tolist()), 20)
    assert rest < Fraction(1, 50)
    for (a, b), weight in pairs.items():
        assert weight <= one[a] * one[b] + 2 * rest


class Far:
    """0 or, on the upper half, 2**70."""

    def ladder(self, bits):
        return Ladder(0, [1 << (bits - 1)], [1 << (bits - 1)], open_above=True) if bits <= 64 else Ladder(2**70, [], [])


def test_a_value_beyond_64_bits_comes_back_whole():
    # 100 fair coins all alike: 2**-99, far below the false-alarm rate of 1e-6
    out = Inverter(Far()).draw(current(), np.empty(100, dtype=np.int64))
    assert out.dtype == object
    assert set(out.tolist()) == {0, 2**70}


class Deep:
    """1, or something at most 0: on the lower quarter, -2**70, which only more than 64 bits can tell."""

    def ladder(self, bits):
        quarter = 1 << (bits - 2)
        if bits <= 64:
            return Ladder(0, [quarter], [quarter], open_below=True)
        return Ladder(-(2**70), [quarter], [quarter])


def test_an_open_end_is_never_taken_for_a_value():
    inverter = Inverter(Deep(), 4, 8, 64)
    assert (inverter._codes[:4] == _UNDECIDED).all()
    assert (inverter._codes[4:] == 1).all()
    # 200 draws without one from the lower quarter: below 1e-24
    values = {*inverter.draw(current(), np.empty(200, dtype=np.int64)).tolist()}
    assert values == {-(2**70), 1}
