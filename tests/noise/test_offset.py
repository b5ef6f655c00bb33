"""Offsets: exact chances on every path, by table and by coin."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.bits import current
from discreet.noise.offset import _split, _tabled, offset
from discreet.testing import FALSE_ALARM, fit, seeded
from tests.noise.tree import Script
from tests.noise.tree import law as law_of


@pytest.mark.parametrize("way", [_tabled, _split], ids=["table", "coin"])
@pytest.mark.parametrize(
    ("others", "numerator", "bits"), [(1, 3, 3), (2, 5, 4), (4, 3, 4), (4, 1, 3), (8, 1, 5), (5, 0, 3)]
)
def test_every_chance_is_met_to_the_last_bit(way, others, numerator, bits):
    found, rest = law_of(lambda source: int(way(source, others, numerator, bits, 1)[0]), 12)
    assert rest == 0
    for value in range(1, others + 1):
        assert found.get(value, 0) == Fraction(numerator, 2**bits)


def test_a_cell_that_does_not_decide_reads_on():
    # Cells of 2 numbers each are cut by chances of 3/2^17; all of them are counted.
    found, rest = law_of(lambda source: int(_tabled(source, 5, 3, 17, 1)[0]), 17)
    assert rest == 0
    assert [found[value] for value in range(1, 6)] == [Fraction(3, 2**17)] * 5


@pytest.mark.parametrize("others", [1, 99, 1023, 5000])
def test_draws_follow_their_distribution(others):
    numerator = 2**62 // (others + 3)
    with seeded(73):
        drawn = offset(current(), others, numerator, 62, 400_000)
    assert np.iinfo(drawn.dtype).max >= 2 * others
    expected = [1 - others * numerator / 2**62] + [numerator / 2**62] * others
    # false-alarm rate 1e-6
    assert fit(np.bincount(drawn, minlength=others + 1), expected) > FALSE_ALARM


@pytest.mark.parametrize("others", [1 << 11, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 32])
def test_the_last_of_many_others_is_drawn_and_not_taken_for_zero(others):
    width = max(1, (others - 1).bit_length())
    if others & (others - 1):  # the word that Lemire's method scales to the largest number
        width = 32
    source = Script("0" * 62 + "1" * width)
    assert offset(source, others, (1 << 62) // (others + 1), 62, 1).tolist() == [others]
