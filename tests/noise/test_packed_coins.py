"""Packed coins: the law of whole groups is exact on every path, and every bit is drawn."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.bits import current
from discreet.noise.packed_coins import _law, packed_bernoulli
from discreet.testing import FALSE_ALARM, fit, seeded
from tests.noise.tree import law as law_of


@pytest.mark.parametrize(
    ("numerator", "bits", "group", "word", "step"),
    [(3, 3, 2, 3, 2), (5, 4, 2, 3, 3), (1, 2, 3, 4, 2), (0, 3, 2, 3, 2), (8, 3, 2, 3, 2), (11, 4, 2, 2, 2)],
)
def test_the_law_of_a_group_is_met_to_the_last_bit(numerator, bits, group, word, step):
    law = _law(numerator, bits, group, word, step)

    def run(source):
        out = np.empty(1, dtype=np.uint8)
        law.draw(source, out)
        return int(out[0])

    found, rest = law_of(run, 24)
    assert rest == 0
    p = Fraction(numerator, 2**bits)
    for outcome in range(1 << group):
        ones = outcome.bit_count()
        assert found.get(outcome, 0) == p**ones * (1 - p) ** (group - ones)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 2), Fraction(1, 1000), Fraction(27, 100)], ids=str)
def test_bytes_follow_their_distribution(p):
    numerator = round(p * 2**62)
    with seeded(71):
        drawn = packed_bernoulli(current(), numerator, 62, 300_001)
    assert drawn.dtype == np.uint8
    assert len(drawn) == 300_001
    chance = numerator / 2**62
    expected = [chance ** n.bit_count() * (1 - chance) ** (8 - n.bit_count()) for n in range(256)]
    # false-alarm rate 1e-6
    assert fit(np.bincount(drawn, minlength=256), expected) > FALSE_ALARM


def test_certain_coins_are_certain():
    assert (packed_bernoulli(current(), 1 << 62, 62, 1000) == 255).all()
    assert not packed_bernoulli(current(), 0, 62, 1000).any()
    assert len(packed_bernoulli(current(), 1, 62, 0)) == 0


def test_rare_coins_are_drawn_at_their_rate():
    # 8 x 10^6 coins of 2^-20: 7.63 expected; outside 0 .. 30 with a chance below 1e-6.
    with seeded(72):
        drawn = packed_bernoulli(current(), 1 << 42, 62, 10**6)
    assert 0 < np.unpackbits(drawn).sum() <= 30
