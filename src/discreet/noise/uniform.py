"""Uniform integers."""

from __future__ import annotations

import math
from typing import overload

from discreet.noise import rejection
from discreet.noise.arrays import np
from discreet.noise.bits import BitSource, current
from discreet.noise.inversion import Integers
from discreet.noise.sampling import Size, pack, shape, whole

_WORD = 32


@overload
def uniform(n: int, size: None = None) -> int: ...
@overload
def uniform(n: int, size: int | tuple[int, ...]) -> Integers: ...
def uniform(n: int, size: Size = None) -> int | Integers:
    """Draw integers 0 .. n-1, each with probability exactly 1/n."""
    n = whole("n", n, 1)
    source = current()
    if size is None:
        return rejection.uniform(source, n)
    dimensions = shape(size)
    count = math.prod(dimensions)
    if n > 1 << 63:
        return pack([rejection.uniform(source, n) for _ in range(count)], narrow=False).reshape(dimensions)
    out = _scaled(source, n, count) if n < 1 << (_WORD - 4) else _masked(source, n, count)
    return out.reshape(dimensions)


def _scaled(source: BitSource, n: int, count: int, word: int = _WORD) -> Integers:
    """Scale a word to n values (Lemire 2019): reject the 2**word mod n lowest remainders, so all are alike."""
    product = source.words(count, word).astype(np.uint64) * np.uint64(n)
    rejected = np.flatnonzero(product & np.uint64((1 << word) - 1) < (1 << word) % n)
    out = (product >> np.uint64(word)).astype(np.int64)
    if rejected.size:
        out[rejected] = _scaled(source, n, len(rejected), word)
    return out


def _masked(source: BitSource, n: int, count: int) -> Integers:
    """Draw as many bits as n - 1 has; reject what is too large."""
    out = source.words(count, (n - 1).bit_length()).astype(np.int64)
    rejected = np.flatnonzero(out >= n)
    if rejected.size:
        out[rejected] = _masked(source, n, len(rejected))
    return out
