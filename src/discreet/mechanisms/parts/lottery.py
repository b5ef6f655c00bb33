"""Lotteries: exact draws by weights e^(-rate * gap), from floats with proven error bounds and refined by enclosures."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from discreet.noise import enclosure
from discreet.noise.bits import BitSource
from discreet.noise.enclosure import Enclosure, Ratio
from discreet.noise.inversion import Integers

_TABLE_BITS = 10
_WORK = 256
# A table entry is a correctly rounded float, and at most seven of them and a base weight are multiplied: fifteen
# roundings of 2**-53 each.
_RELATIVE = 2.0**-49
# Gaps beyond e**-70 < 2**-100 are cut; what they weigh is part of the error bound.
_FAR, _FAINT = 70, 2.0**-100


class Lottery:
    """Candidates with weight base * e^(-rate * gap), gap being how far a whole-number score lies below the best.

    Guarantee: `draw` gives candidate i with probability exactly weight i over their sum, and `flip` gives heads with
    probability exactly e^(-rate * gap), each independently. A uniform number U is read to `word` bits and compared with
    floats whose distance from the truth is bounded; where the bound does not decide, more bits of the same U are
    read, `step` at a time, against ever finer integer enclosures of the weights. Nothing is decided inside a bound.
    """

    __slots__ = ("_base", "_gaps", "_rate", "_relative", "_step", "_weights", "_word")

    def __init__(
        self, scores: Integers, rate: Ratio, base: Integers | None = None, *, word: int = 64, step: int = 64
    ) -> None:
        self._gaps, self._rate, self._base = gaps(scores), rate, base
        self._word, self._step = word, step
        self._weights, self._relative = _floats(self._gaps, rate)

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return len(self._gaps)

    def draw(self, source: BitSource, count: int) -> NDArray[np.int64]:
        """Draw candidates by weight."""
        boundaries, slack = self._boundaries()
        total = float(boundaries[-1])
        cells = source.words(count, self._word)
        targets = cells.astype(np.float64) * (total * 2.0**-self._word)
        found = np.searchsorted(boundaries, targets, side="right")
        # `slack` bounds the error of a boundary and, once more, that of the total in the target, whose own three
        # roundings and whose cell are added.
        margin = 2 * slack + total * (2.0**-50 + 2.0**-self._word)
        last = len(self._weights) - 1
        place = np.minimum(found, last)
        above = np.where(place == last, np.inf, boundaries[place] - targets)
        below = np.where(place == 0, np.inf, targets - boundaries[np.maximum(place - 1, 0)])
        decided = (above >= margin) & (below >= margin)
        for i in np.flatnonzero(~decided).tolist():
            place[i] = self._settle(source, int(cells[i]))
        return place.astype(np.int64)

    def flip(self, source: BitSource, count: int) -> NDArray[np.bool_]:
        """Flip a coin for each candidate, `count` times over; the base weights play no part."""
        cells = source.words(count * self.size, self._word).reshape(count, self.size)
        verdict = self._weights - cells.astype(np.float64) * 2.0**-self._word
        heads = np.asarray(verdict > 0)
        margin = 2 * self._relative + 2.0**-self._word
        for row, i in np.argwhere(np.abs(verdict) <= margin).tolist():
            heads[row, i] = self._settle_coin(source, int(cells[row, i]), int(self._gaps[i]))
        return heads

    def _boundaries(self) -> tuple[NDArray[np.float64], float]:
        """Return running sums of the weights, never falling, and how far each may be from the truth."""
        size = len(self._weights)
        faint = _FAINT * size
        weights = self._weights
        if self._base is not None:
            base = self._base.astype(np.float64)
            weights = weights * base
            faint = _FAINT * float(base.sum()) * 1.01
        # In rows of about sqrt(n): a sum then passes through at most columns + rows additions, not n.
        columns = max(1, int(size**0.5))
        rows = -(-size // columns)
        padded = np.zeros(rows * columns)
        padded[:size] = weights
        sums = np.cumsum(padded.reshape(rows, columns), axis=1)
        ends = np.cumsum(sums[:, -1])
        sums[1:] += ends[:-1, None]
        boundaries = sums.reshape(-1)[:size]
        # Each addition errs by 2**-53 of a partial sum (Higham 2002, section 4.2).
        return boundaries, float(ends[-1]) * (self._relative + (rows + columns) * 2.0**-52) + faint

    def _settle(self, source: BitSource, cell: int) -> int:
        """Decide one draw that a word left open, reading on for as long as it takes."""
        bits = self._word
        while True:
            weights = self.enclosed(bits + self.size.bit_length() + 8)
            lows = list(accumulate(low for low, _ in weights))
            highs = list(accumulate(high for _, high in weights))
            # Boundary j is surely passed if C_j / C <= cell / 2**bits, surely not if C_j / C >= (cell + 1) / 2**bits.
            passed = bisect_right(highs, cell * lows[-1] >> bits)
            open_ = bisect_left(lows, -((-(cell + 1) * highs[-1]) >> bits), hi=len(lows) - 1)
            if passed == open_:
                return passed
            cell = cell << self._step | source.bits(self._step)
            bits += self._step

    def enclosed(self, bits: int) -> list[Enclosure]:
        """Enclose every weight, times 2**bits."""
        top, bottom = self._rate
        apart = self._gaps.tolist()
        known = {gap: enclosure.exp((top * gap, bottom), bits) for gap in set(apart)}
        base = [1] * len(apart) if self._base is None else self._base.tolist()
        return [(known[gap][0] * times, known[gap][1] * times) for gap, times in zip(apart, base, strict=True)]

    def _settle_coin(self, source: BitSource, cell: int, gap: int) -> bool:
        bits = self._word
        while True:
            low, high = enclosure.exp((self._rate[0] * gap, self._rate[1]), bits)
            if cell < low:
                return True
            if cell >= high:
                return False
            cell = cell << self._step | source.bits(self._step)
            bits += self._step


def gaps(scores: Integers) -> Integers:
    """Return how far each score lies below the best, exactly."""
    if scores.dtype == object or int(scores.max()) - int(scores.min()) >= 1 << 63:
        wide = scores.astype(object)
        return np.asarray(wide.max() - wide)
    return np.asarray(scores.max() - scores)


def _floats(apart: Integers, rate: Ratio) -> tuple[NDArray[np.float64], float]:
    """Return e^(-rate * gap) and its relative error, 2**-49; where it is smaller than 2**-100, it is within that.

    A gap is split into groups of binary digits, and each group's factor is looked up. Which tables there are, and
    so which are kept for the next draw, depends on the rate alone.
    """
    top, bottom = rate
    far = _FAR * bottom // top + 1
    if far >= 1 << 63:
        if apart.dtype == object:
            # Gaps that matter and exceed 64 bits: nothing is known of them here, and enclosures decide all.
            return np.ones(len(apart)), math.inf
        far = (1 << 63) - 1
    near = np.minimum(apart, far).astype(np.int64)
    groups = -(-far.bit_length() // _TABLE_BITS)
    bits = -(-far.bit_length() // groups)
    weights = np.take(_table((top, bottom), bits, far), near & ((1 << bits) - 1) if groups > 1 else near)
    for group in range(1, groups):
        place = group * bits
        table = _table((top << place, bottom), bits, far >> place)
        weights *= np.take(table, (near >> place) & ((1 << bits) - 1))
    return weights, _RELATIVE


@lru_cache(maxsize=256)
def _table(rate: Ratio, bits: int, most: int) -> NDArray[np.float64]:
    """Return e^(-rate * j), each the nearest float, for every j that a group of digits can be."""
    size = min(1 << bits, most + 1)
    lows, _ = enclosure.powers(enclosure.exp(rate, _WORK), size - 1, _WORK)
    one = 1 << _WORK
    table = np.array([low / one for low in lows])
    table.flags.writeable = False
    return table
