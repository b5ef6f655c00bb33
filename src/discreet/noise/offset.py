"""Offsets: zero, or one of many others that are all alike, with exact dyadic chances."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import BitSource
from discreet.noise.uniform_stream import below

_WORD = 16
# Beyond this many others most words of 16 bits would not decide, and a coin and an even draw are quicker.
_TABLED = 1 << 10

Integers = NDArray[Any]


def offset(source: BitSource, others: int, numerator: int, bits: int, count: int) -> Integers:
    """Draw numbers that are 1, ..., others with probability numerator / 2^bits each, and else 0.

    The result has the narrowest unsigned type that holds twice the largest number.
    """
    if others <= _TABLED:
        return _tabled(source, others, numerator, bits, count)
    return _split(source, others, numerator, bits, count)


def narrow(most: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the narrowest unsigned type that holds a number."""
    return np.dtype(np.min_scalar_type(most))


def _tabled(source: BitSource, others: int, numerator: int, bits: int, count: int) -> Integers:
    """Let 16 bits choose a cell of a table; where its numbers differ, read the other bits and divide."""
    word = min(_WORD, bits)
    table, unsure = _table(others, numerator, bits, word)
    words = source.words(count, word)
    out: Integers = table.take(words)
    live = np.flatnonzero(out == unsure)
    if len(live):
        low = bits - word
        whole = words[live].astype(np.uint64) << np.uint64(low)
        if low:
            whole |= source.words(len(live), low).astype(np.uint64)
        out[live] = _number(whole, others, numerator)
    return out


@lru_cache(maxsize=64)
def _table(others: int, numerator: int, bits: int, word: int) -> tuple[Integers, int]:
    """Return the number of each cell, and the mark of cells in which more than one is possible."""
    size = 1 << (bits - word)
    # A number no draw can be: one more than any, in a type that still holds it.
    kind = narrow(2 * others + 1)
    unsure = others + 1
    first = np.arange(1 << word, dtype=np.uint64) << np.uint64(bits - word)
    last = first + np.uint64(size - 1)
    low, high = (_number(at, others, numerator) for at in (first, last))
    table = np.where(low == high, low, unsure).astype(kind)
    table.flags.writeable = False
    return table, unsure


def _number(points: NDArray[np.uint64], others: int, numerator: int) -> NDArray[np.uint64]:
    numbers = points // np.uint64(max(1, numerator)) + np.uint64(1)
    return np.where(points < others * numerator, numbers, np.uint64(0))


def _split(source: BitSource, others: int, numerator: int, bits: int, count: int) -> Integers:
    """Toss a coin for zero, and draw the others evenly."""
    moved = source.words(count, bits).astype(np.uint64) < others * numerator
    out = np.zeros(count, dtype=narrow(2 * others + 1))
    places = np.flatnonzero(moved)
    # Widened first: 2^16 others are drawn as 16 bits, in which one more than the largest of them would be 0.
    out[places] = below(source, others, len(places)).astype(out.dtype) + out.dtype.type(1)
    return out
