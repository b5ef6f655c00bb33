"""Packed coins: bytes whose every bit is an independent coin of one exact bias."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from discreet.core.value import dataclass
from discreet.noise.bits import BitSource

# Bytes drawn at a time: words and bytes stay in a processor's cache.
_BLOCK = 1 << 16
_GROUP, _WORD, _STEP = 8, 16, 48


def packed_bernoulli(source: BitSource, numerator: int, bits: int, size: int) -> NDArray[np.uint8]:
    """Draw `size` bytes, each bit of which is 1 with probability exactly numerator / 2^bits.

    A byte of eight coins has 256 outcomes, of known probabilities. Each outcome has as many of 2^16 words as fit into
    its probability; the few words that are left over stand for what remains of all of them, and are settled by
    further bits: 48 nearly always, and as many as the probabilities have where those do not decide.
    """
    law = _law(numerator, bits, _GROUP, _WORD, _STEP)
    out = np.empty(size, dtype=np.uint8)
    for start in range(0, size, _BLOCK):
        law.draw(source, out[start : start + _BLOCK])
    return out


@dataclass(frozen=True, slots=True)
class _Law:
    """The outcomes of a group of coins: a table for most words, and exact thresholds for the rest.

    `sure` words are in the table. The remainder is an interval of `word + step` bits, cut at `rough` thresholds, which
    are the `exact` ones without their last `tail` bits.
    """

    table: NDArray[np.uint8]
    sure: int
    rough: NDArray[np.uint64]
    exact: tuple[int, ...]
    tail: int
    word: int
    step: int

    def draw(self, source: BitSource, out: NDArray[np.uint8]) -> None:
        """Fill an array with outcomes."""
        words = source.words(len(out), self.word)
        np.take(self.table, words, out=out, mode="clip")
        live = np.flatnonzero(words >= self.sure)
        if len(live):
            high = (words[live] - words.dtype.type(self.sure)).astype(np.uint64) << np.uint64(self.step)
            out[live] = self._settle(source, high | source.words(len(live), self.step).astype(np.uint64))

    def _settle(self, source: BitSource, points: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """Find the outcome whose part of the remainder holds each point."""
        found = np.searchsorted(self.rough, points, side="right").astype(np.int64)
        # A point whose bits are all those of a threshold may lie on either side of it: read on.
        for at in np.flatnonzero((found > 0) & (self.rough[found - 1] == points)):
            found[at] = bisect_right(self.exact, int(points[at]) << self.tail | source.bits(self.tail))
        return found.astype(np.uint8)


@lru_cache(maxsize=64)
def _law(numerator: int, bits: int, group: int, word: int, step: int) -> _Law:
    # Widened where need be, so an outcome's probability has at least as many digits as are read at once.
    widen = max(0, -(-(word + step) // group) - bits)
    top, scale = numerator << widen, group * (bits + widen)
    bottom = (1 << (bits + widen)) - top
    chances = [top ** outcome.bit_count() * bottom ** (group - outcome.bit_count()) for outcome in range(1 << group)]
    cells = [chance >> (scale - word) for chance in chances]
    exact = tuple(accumulate(c - (n << (scale - word)) for c, n in zip(chances, cells, strict=True)))
    tail = scale - word - step
    table = np.zeros(1 << word, dtype=np.uint8)
    table[: sum(cells)] = np.repeat(np.arange(1 << group, dtype=np.uint8), cells)
    rough = np.array([threshold >> tail for threshold in exact], dtype=np.uint64)
    return _Law(table, sum(cells), rough, exact, tail, word, step)
