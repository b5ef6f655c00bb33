"""The Walsh-Hadamard transform, in exact integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def walsh_hadamard(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sums of values[j] (-1)^popcount(j & x) for every x; the length is a power of two.

    Of a table, each row is transformed.

    Each pass adds and subtracts neighbours and puts the results into two halves, which turns the index by one bit:
    after as many passes as there are bits it is back in order, and all memory was read in a row.
    """
    now = np.array(values, dtype=np.int64)
    half, other = now.shape[-1] // 2, np.empty_like(now)
    for _ in range(now.shape[-1].bit_length() - 1):
        np.add(now[..., 0::2], now[..., 1::2], out=other[..., :half])
        np.subtract(now[..., 0::2], now[..., 1::2], out=other[..., half:])
        now, other = other, now
    return now


def _parities() -> NDArray[np.uint8]:
    """Return the parity of every number of 16 bits: that of one with a bit more is turned over."""
    found = np.zeros(1, dtype=np.uint8)
    for _ in range(16):
        found = np.concatenate([found, found ^ np.uint8(1)])
    return found


_PARITIES = _parities()


def parity(numbers: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return whether the number of set bits is odd, for each number."""
    folded = numbers ^ (numbers >> np.uint32(16))
    return _PARITIES.take(folded & np.uint32(0xFFFF))
