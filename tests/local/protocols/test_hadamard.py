"""Hadamard response: balanced columns, one bit, and a fast transform that is exact."""

import numpy as np
import pytest

from discreet import local, noise
from discreet.core.errors import BadParameter
from discreet.local.parts.transform import parity, walsh_hadamard
from discreet.local.protocols.hadamard import Hadamard
from discreet.testing import seeded


@pytest.mark.parametrize("bits", range(8))
def test_the_transform_is_the_matrix(bits):
    size = 1 << bits
    matrix = np.array([[(-1) ** (i & j).bit_count() for j in range(size)] for i in range(size)])
    with seeded(941):
        values = noise.uniform(1 << 40, size) - (1 << 39)
    assert np.array_equal(walsh_hadamard(values), matrix @ values)


def test_twice_the_transform_is_the_size_times_the_same():
    with seeded(942):
        values = noise.laplace(1000, 1 << 12)
    assert np.array_equal(walsh_hadamard(walsh_hadamard(values)), values << 12)


def test_parities_are_those_of_the_set_bits():
    with seeded(943):
        numbers = noise.uniform(1 << 32, 1000).astype(np.uint32)
    assert parity(numbers).tolist() == [int(number).bit_count() % 2 for number in numbers]


@pytest.mark.parametrize(("k", "size"), [(2, 1), (128, 1), (129, 2), (100_000, 3), (1 << 23, 3)])
def test_a_report_is_a_row_and_a_bit(k, size):
    assert local.hadamard(k=k, epsilon=1).bytes_per_report == size


def test_a_hundred_thousand_values_are_estimated_with_the_stated_error():
    k, n = 100_000, 200_000
    protocol = local.hadamard(k=k, epsilon=1)
    values = np.arange(n) % k
    with seeded(944):
        estimate = protocol.estimate(protocol.aggregate(protocol.encode(values)))
    error = (estimate.value - 2) ** 2 / protocol.variance(n, 2)
    # A mean of 100,000 squares of nearly normal, uncorrelated numbers: its standard error is 0.0045; the bar is 0.03.
    assert error.mean() == pytest.approx(1, abs=0.03)
    covered = ((estimate.low <= 2) & (estimate.high >= 2)).mean()
    assert covered >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / k)


def test_a_sign_that_is_mostly_wrong_is_refused():
    with pytest.raises(BadParameter, match="more likely"):
        Hadamard(4, local.hadamard(4, 1).epsilon, 1 - local.hadamard(4, 1).lie)
