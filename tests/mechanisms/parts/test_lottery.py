"""Exact lotteries: every path at small words, error bounds, and tables against the truth."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from discreet.mechanisms.parts import lottery as _lottery
from discreet.mechanisms.parts.lottery import Lottery, gaps
from discreet.noise.bits import current
from discreet.testing import FALSE_ALARM, fit, seeded
from tests.noise.tree import law

mp.prec = 400


def truth(scores, rate, base=None):
    """The probabilities of all candidates, in 400-bit arithmetic."""
    base = base or [1] * len(scores)
    top = max(scores)
    weights = [b * mp.exp(-mpf(rate[0]) * (top - s) / rate[1]) for s, b in zip(scores, base, strict=True)]
    return [weight / sum(weights) for weight in weights]


def number(value):
    return mpf(value.numerator) / value.denominator


CASES = [
    ([3, 1, 0, 3], (1, 2), None),
    ([0, 0], (1, 1), None),
    ([5], (1, 3), None),
    ([0, 1, 2, 3, 4], (7, 5), None),
    ([10, 0, 9], (2, 1), None),
    ([1, 0, 0], (1, 2), [1, 40, 3]),
    ([0, 100], (1, 1), [1, 1]),
]


@pytest.mark.parametrize(("scores", "rate", "base"), CASES, ids=str)
@pytest.mark.parametrize(("word", "step"), [(3, 3), (4, 4), (8, 4)])
def test_small_words_give_the_true_probabilities_through_every_path(scores, rate, base, word, step):
    weights = None if base is None else np.array(base)
    lottery = Lottery(np.array(scores), rate, weights, word=word, step=step)
    found, rest = law(lambda source: int(lottery.draw(source, 1)[0]), 20)
    assert rest <= Fraction(len(scores), 2**15)
    for i, exact in enumerate(truth(scores, rate, base)):
        assert number(found[i]) <= exact <= number(found[i] + rest), i


class Loose(Lottery):
    """A lottery whose enclosures are as wide as enclosures may be, and narrower with every reading."""

    __slots__ = ()

    def enclosed(self, bits):
        readings = (bits - self.size.bit_length() - 8 - self._word) // self._step
        slack = 1 << (bits - 2 - readings)
        return [(max(0, low - slack), high + slack) for low, high in super().enclosed(bits)]


@pytest.mark.parametrize(("scores", "rate", "base"), [*CASES[:5], ([9, 9, 0, 0, 0], (1, 1), None)], ids=str)
def test_nothing_is_settled_inside_an_enclosure_however_wide_it_is(scores, rate, base):
    lottery = Loose(np.array(scores), rate, base, word=4, step=1)
    found, rest = law(lambda source: lottery._settle(source, source.bits(4)), 16)
    assert rest < Fraction(1, 100)
    for i, exact in enumerate(truth(scores, rate, base)):
        assert number(found[i]) <= exact <= number(found[i] + rest), i


@pytest.mark.parametrize("rate", [(1, 2), (7, 5), (1, 100)], ids=str)
def test_small_words_give_coins_of_the_true_bias(rate):
    lottery = Lottery(np.array([2, 0]), rate, word=3, step=3)
    found, rest = law(lambda source: tuple(lottery.flip(source, 1)[0].tolist()), 18)
    assert set(found) <= {(True, True), (True, False)}
    bias = mp.exp(-mpf(2 * rate[0]) / rate[1])
    assert number(found[True, True]) <= bias <= number(found[True, True] + rest)


@given(st.integers(1, 10**12), st.integers(1, 10**12), st.lists(st.integers(0, 10**9), min_size=1, max_size=20))
def test_float_weights_are_within_their_bound(top, bottom, apart):
    weights, relative = _lottery._floats(np.array(apart), (top, bottom))
    assert relative == 2.0**-49
    for gap, weight in zip(apart, weights.tolist(), strict=True):
        exact = mp.exp(-mpf(top) * gap / bottom)
        assert abs(mpf(weight) - exact) <= exact * mpf(2) ** -49 or max(exact, mpf(weight)) <= mpf(2) ** -100


@pytest.mark.parametrize("size", [1, 2, 17, 1000])
def test_running_sums_never_fall_and_keep_their_bound(size):
    scores = np.arange(size) % 7
    lottery = Lottery(scores, (1, 3))
    boundaries, slack = lottery._boundaries()
    assert (np.diff(boundaries) >= 0).all()
    total = mpf(0)
    for boundary, score in zip(boundaries.tolist(), scores.tolist(), strict=True):
        total += mp.exp(-mpf(int(scores.max()) - score) / 3)
        assert abs(boundary - total) <= slack


def test_a_draw_that_a_word_leaves_open_is_settled_by_enclosures(monkeypatch):
    # With an error bound so wide that floats decide nothing, the distribution must stay the same.
    monkeypatch.setattr(_lottery, "_RELATIVE", 1.0)
    lottery = Lottery(np.array([3, 1, 0, 3]), (1, 2), word=4, step=4)
    found, rest = law(lambda source: int(lottery.draw(source, 1)[0]), 20)
    for i, exact in enumerate(truth([3, 1, 0, 3], (1, 2))):
        assert number(found[i]) <= exact <= number(found[i] + rest)


def test_gaps_are_exact_where_64_bits_would_wrap():
    assert gaps(np.array([2**63 - 1, -(2**63)])).tolist() == [0, 2**64 - 1]
    assert gaps(np.array([2**80, 2**80 - 3], dtype=object)).tolist() == [0, 3]


def test_gaps_beyond_64_bits_at_tiny_rates_are_decided_by_enclosures():
    scores = np.array([0, 2**70, 2**69], dtype=object)
    lottery, expected = Lottery(scores, (1, 2**69)), truth([0, 2, 1], (1, 1))
    with seeded(35):
        drawn = np.bincount(lottery.draw(current(), 3000), minlength=3)
        heads = lottery.flip(current(), 3000).sum(axis=0).tolist()
    # false-alarm rate 1e-6 each
    assert fit(drawn, [float(chance) for chance in expected]) > FALSE_ALARM
    assert fit([heads[2], 3000 - heads[2]], [float(mp.exp(-1)), float(1 - mp.exp(-1))]) > FALSE_ALARM
    assert heads[1] == 3000


@pytest.mark.parametrize("rate", [(1, 10**18), (10**18, 1), (1, 2**70)], ids=str)
def test_extreme_rates_are_drawn(rate):
    lottery = Lottery(np.array([5, 2**62, 2**62 - 1]), rate)
    assert set(lottery.draw(current(), 100).tolist()) <= {0, 1, 2}
    assert lottery.flip(current(), 5)[:, 1].all()
