"""A sign and digits, put together, give the discrete Laplace law: all paths at small words."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.bits import current
from discreet.noise.digits import GeometricDigits
from discreet.noise.inversion import Inverter
from tests.noise import truth
from tests.noise.tree import law as law_of

SMALL = {"word": 4, "wide": 8, "step": 4}


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize(
    "scale", [pytest.param(Fraction(2), marks=pytest.mark.soak), Fraction(7, 3), Fraction(22, 7)], ids=str
)
def test_digits_and_sign_together_give_the_law(scale, signed):
    ratio = (scale.numerator, scale.denominator)
    tables = GeometricDigits(ratio, signed=signed, direct=1, top_bits=0, digit_bits=1, **SMALL)
    assert tables._shift == 1
    found, rest = law_of(tables.one, 23)
    vector, _ = law_of(lambda source: int(tables.draw(source, np.empty(1, dtype=np.int64))[0]), 23)
    assert found == vector
    assert rest < Fraction(1, 300)
    exact = (truth.laplace if signed else truth.geometric)(scale)
    assert len(found) > 10
    for value, weight in found.items():
        assert truth.number(weight) <= exact(value) <= truth.number(weight + rest), value


def test_digits_are_independent_and_split_evenly():
    tables = GeometricDigits((2**30 + 1, 1), signed=True)
    assert tables._shift == 26
    assert [bits for bits, _ in tables._digits] == [8, 9, 9]


def test_an_unlikely_far_value_keeps_all_its_bits(monkeypatch):
    tables = GeometricDigits((2**50, 1), signed=True)
    draw = Inverter.draw

    def far(self, source, out, limit=1 << 62):
        if self is not tables._top:
            return draw(self, source, out, limit)
        assert limit == 1 << (62 - tables._shift)
        return np.array([~(2**40), 2**40], dtype=object)

    monkeypatch.setattr(Inverter, "draw", far)
    low, high = tables.draw(current(), np.empty(2, dtype=np.int64)).tolist()
    assert -(2**40 + 1) << tables._shift <= low < 0 <= 2**40 << tables._shift <= high
