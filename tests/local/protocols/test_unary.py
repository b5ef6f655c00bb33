"""Unary encoding: every bit has a coin, symmetric or optimised, and padding is nobody's."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import local
from discreet.core.errors import BadParameter
from discreet.local.protocols.unary import Unary
from discreet.testing import FALSE_ALARM, fit, seeded


@given(st.integers(2, 200), st.fractions(Fraction(1, 100), 12), st.booleans())
def test_an_epsilon_is_kept_and_used_up(k, epsilon, symmetric):
    spent = local.unary(k=k, epsilon=epsilon, symmetric=symmetric).loss.epsilon(0)
    assert float(epsilon) * (1 - 1e-9) <= spent <= float(epsilon) * (1 + 1e-15)


def test_the_symmetric_one_turns_both_bits_over_alike():
    protocol = local.unary(k=5, epsilon=2, symmetric=True)
    assert protocol.kept + protocol.flipped == 1
    assert local.unary(k=5, epsilon=2).kept == Fraction(1, 2)
    assert local.unary(k=5, epsilon=2).variance(10) < protocol.variance(10)


def test_no_bit_is_left_without_noise():
    # The bit of the value must be cleared at times, and every other set at times: known bugs of others.
    protocol = local.unary(k=20, epsilon=1)
    for value in (0, 7, 8, 19):
        with seeded(921):
            bits = np.unpackbits(protocol.encode([value] * 20_000).rows, axis=1, bitorder="little")[:, :20]
        for place, ones in enumerate(bits.sum(axis=0)):
            chance = float(protocol.kept if place == value else protocol.flipped)
            # false-alarm rate 1e-6
            assert fit([ones, 20_000 - ones], [chance, 1 - chance]) > FALSE_ALARM


def test_bits_of_a_report_are_independent():
    protocol = local.unary(k=16, epsilon=1)
    with seeded(922):
        bits = np.unpackbits(protocol.encode([3] * 100_000).rows, axis=1, bitorder="little").astype(float)
    correlations = np.corrcoef(bits.T) - np.eye(16)
    # 120 pairs, each with a standard error of 1/sqrt(100,000): 6.5 of them exclude 1e-6.
    assert np.abs(correlations).max() <= 6.5 / np.sqrt(100_000)


@pytest.mark.parametrize("k", [2, 7, 8, 9, 100, 1000])
def test_a_bit_for_each_value_and_padding_of_zeros(k):
    protocol = local.unary(k=k, epsilon=1)
    reports = protocol.encode(np.arange(500) % k)
    assert protocol.bytes_per_report == -(-k // 8)
    assert protocol.aggregate(reports).rejected == 0
    if k % 8:
        forged = reports.rows.copy()
        forged[:, -1] |= 128
        sketch = protocol.aggregate(bytes(forged.tobytes()))
        assert (sketch.reports, sketch.rejected) == (0, 500)
        assert not sketch.counts.any()


def test_coins_that_tell_nothing_or_all_are_refused():
    for kept, flipped in [
        (Fraction(1, 4), Fraction(1, 2)),
        (Fraction(1), Fraction(1, 2)),
        (Fraction(1, 2), Fraction(0)),
    ]:
        with pytest.raises(BadParameter):
            Unary(3, Fraction(1), kept, flipped)
    with pytest.raises(BadParameter, match="too many to write out"):
        local.unary(k=40, epsilon=1).likelihood(0)


@pytest.mark.parametrize("kind", ["u1", "u8", ">u8", "i1", ">i4"])
def test_whole_numbers_of_every_type_are_encoded(kind):
    made = local.unary(k=10, epsilon=20)
    found = made.estimate(made.aggregate(made.encode(np.full(200, 9, dtype=kind))))
    assert found.value[9] == pytest.approx(200, abs=60)
