"""The wire: numbers in few bytes and back, and counts of bits and numbers."""

import numpy as np
import pytest

from discreet import noise
from discreet.local.parts.wire import count_bits, count_rows, narrow_rows, read_rows, width
from discreet.testing import seeded


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
def test_numbers_come_back_from_their_bytes(size):
    numbers = np.array([0, 1, 255, (1 << 8 * size) - 1], dtype=np.uint64)
    rows = narrow_rows(numbers, size)
    assert rows.shape == (4, size)
    assert read_rows(rows).tolist() == numbers.tolist()
    assert rows[3].tobytes() == int(numbers[3]).to_bytes(size, "little")


@pytest.mark.parametrize(("outcomes", "size"), [(1, 1), (2, 1), (256, 1), (257, 2), (1 << 16, 2), ((1 << 16) + 1, 3)])
def test_a_width_tells_all_outcomes_apart(outcomes, size):
    assert width(outcomes) == size


@pytest.mark.parametrize("rows", [0, 1, 5, 1023, 1024, 10_000, 50_001])
def test_bits_are_counted_as_a_loop_counts_them(rows):
    with seeded(961):
        data = noise.uniform(256, rows * 5).astype(np.uint8).reshape(rows, 5)
    plain = np.unpackbits(data, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    assert np.array_equal(count_bits(data), plain)


def test_numbers_beyond_the_last_are_counted_apart():
    rows = narrow_rows(np.array([0, 3, 3, 4, 65_535]), 2)
    counts, lost = count_rows(rows, 4)
    assert counts.tolist() == [1, 0, 0, 2]
    assert lost == 2
