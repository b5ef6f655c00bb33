"""Every threshold, at 64 bits and beyond, against a 400-bit distribution function."""

from fractions import Fraction

import pytest
from mpmath import mp, mpf

from discreet.noise.bins import Bins
from discreet.noise.digits import GeometricDigits
from discreet.noise.law import Bell, Digit, Geometric, SignedLaw
from tests.noise import truth
from tests.noise.truth import GRID, LARGE, number


def check(law, at_most, bits):
    """Compare each enclosed boundary with the truth; return the widest enclosure."""
    ladder = law.ladder(bits)
    assert len(ladder.low) == len(ladder.high) > 0
    widest = 0
    for j, (low, high) in enumerate(zip(ladder.low, ladder.high, strict=True)):
        exact = at_most(ladder.first + j) * mpf(2) ** bits
        assert low <= exact <= high, (law, j)
        widest = max(widest, high - low)
    if ladder.open_below:
        assert at_most(ladder.first - 1) < mpf(2) ** -bits
    if ladder.open_above:
        assert 1 - at_most(ladder.first + len(ladder.low)) < mpf(2) ** -bits
    return widest


def ratio(value):
    return value.numerator, value.denominator


@pytest.mark.parametrize("scale", GRID + LARGE, ids=str)
@pytest.mark.parametrize("bits", [8, 64, 128])
def test_every_threshold_of_the_laplace_tables_encloses_the_true_probability(scale, bits):
    tables = GeometricDigits(ratio(scale), signed=True)
    width = 1 << tables._shift
    rate, flip = width / scale, 1 / scale
    assert tables._top._law == SignedLaw((scale.denominator * width, scale.numerator), ratio(flip))
    assert check(tables._top._law, truth.signed_below(rate, flip), bits) <= 2
    place = tables._shift
    for digit_bits, digit in tables._digits:
        place -= digit_bits
        check_digit(digit._law, Fraction(2**place) / scale, 1 << digit_bits, bits)
    assert place == 0


def check_digit(law, rate, size, bits):
    assert (Fraction(*law.rate), law.size) == (rate, size)
    whole = 1 - mp.exp(-number(rate) * size)
    assert check(law, lambda d: (1 - mp.exp(-number(rate) * (d + 1))) / whole, bits) <= 2


@pytest.mark.parametrize("scale", GRID + LARGE, ids=str)
def test_every_threshold_of_the_geometric_tables_encloses_the_true_probability(scale):
    tables = GeometricDigits(ratio(scale), signed=False)
    rate = (1 << tables._shift) / scale
    assert Fraction(*tables._top._law.rate) == rate
    assert isinstance(tables._top._law, Geometric)
    assert check(tables._top._law, lambda k: 1 - mp.exp(-number(rate) * (k + 1)), 64) <= 2


@pytest.mark.parametrize("sigma", GRID + LARGE, ids=str)
@pytest.mark.parametrize("bits", [8, 64, 128])
def test_every_threshold_of_the_gaussian_tables_encloses_the_true_probability(sigma, bits):
    bins = Bins(ratio(sigma))
    width = 1 << bins._shift
    law = bins._bins._law
    assert (Fraction(*law.halved), law.width) == (1 / (2 * sigma**2), width)
    # 2, and the share of what lies beyond the outermost bins
    assert check(law, truth.bell_below(sigma, width), bits) <= 3


@pytest.mark.parametrize(
    "law", [SignedLaw((1, 3), (1, 3)), Geometric((2, 5)), Digit((1, 9), 8), Bell((1, 18))], ids=str
)
def test_boundaries_rise_at_every_precision(law):
    for bits in (4, 8, 64, 200):
        ladder = law.ladder(bits)
        assert ladder.low == sorted(ladder.low)
        assert ladder.high == sorted(ladder.high)
