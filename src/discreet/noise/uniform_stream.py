"""Even draws from a given stream: integers below n, in the narrowest type that holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import BitSource


def below(source: BitSource, n: int, count: int) -> NDArray[Any]:
    """Draw integers 0 .. n-1, each with probability exactly 1/n; n is at most 2^63."""
    if n & (n - 1) == 0:
        return source.words(count, n.bit_length() - 1) if n > 1 else np.zeros(count, dtype=np.uint16)
    if n < 1 << 12:
        return scaled(source, n, count, 16)
    if n < 1 << 28:
        return scaled(source, n, count, 32)
    return _masked(source, n, count)


def scaled(source: BitSource, n: int, count: int, word: int) -> NDArray[Any]:
    """Scale a word to n values (Lemire 2019): reject the 2^word mod n lowest remainders, so all are alike."""
    wide, kind = (np.dtype(np.uint32), np.uint16) if word <= 16 else (np.dtype(np.uint64), np.uint32)
    product: NDArray[Any] = source.words(count, word).astype(wide)
    product *= wide.type(n)
    out: NDArray[Any] = (product >> wide.type(word)).astype(kind)
    product &= wide.type((1 << word) - 1)
    rejected = np.flatnonzero(product < (1 << word) % n)
    if len(rejected):
        out[rejected] = scaled(source, n, len(rejected), word)
    return out


def _masked(source: BitSource, n: int, count: int) -> NDArray[Any]:
    """Draw as many bits as n - 1 has; reject what is too large."""
    out: NDArray[Any] = source.words(count, (n - 1).bit_length())
    rejected = np.flatnonzero(out >= n)
    if len(rejected):
        out[rejected] = _masked(source, n, len(rejected))
    return out
