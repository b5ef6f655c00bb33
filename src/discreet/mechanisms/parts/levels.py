"""Exact choice among candidates that come in levels of equal weight: the exponential mechanism, run by run."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.core.value import dataclass
from discreet.mechanisms.parts.mechanism import Chance
from discreet.noise import enclosure
from discreet.noise.bits import BitSource, current
from discreet.noise.enclosure import Enclosure

_STEP = 64
_GUARD = 64
_WORD = 62
_TABLED = 1 << 20


class Level(NamedTuple):
    """`size` candidates, each short of the best possible score by `deficit`; `start` says which they are."""

    deficit: int
    start: int
    size: int


Drawn = tuple[Level, int]

# Returns every level whose deficit is at most a reach, in an order that a larger reach only extends.
Levels = Callable[[int], Sequence[Level]]


@dataclass(frozen=True, slots=True)
class _Table:
    """Levels at some precision: enclosures of one candidate's weight, of the weights before each level, and of all."""

    low: list[int]
    high: list[int]
    before_low: list[int]
    before_high: list[int]
    all_low: int
    all_high: int


@dataclass(frozen=True, slots=True)
class Leveled:
    """Candidates of weight e^(-rate deficit), of which at least one has deficit 0; `points` is their number.

    One uniform number U, read bit by bit, is compared with the cumulative weights in order of rising deficit. Weights
    are known by integer enclosures, and of the far levels, which weigh less than U can see, only that they are last: so
    few levels are looked at, and whatever U touches is settled by more bits, wider reach and finer enclosures.

    Guarantee: every candidate is drawn with exactly its probability.
    """

    rate: Fraction
    points: int
    levels: Levels

    def draw(self) -> Drawn:
        """Draw a level and the place of a candidate in it."""
        return self._settle(current(), 0, 0)

    def draws(self, count: int) -> tuple[list[Drawn], NDArray[np.int64]]:
        """Draw many: candidates, and the place of each draw among them. Small spaces go through one table."""
        if self.points > _TABLED:
            return [self.draw() for _ in range(count)], np.arange(count)
        levels, table = self._table(2 * _WORD, self._reach_of_all())
        places = [(number, place) for number, level in enumerate(levels) for place in range(level.size)]
        low = [table.before_low[number] + place * table.low[number] for number, place in places]
        high = [table.before_high[number] + place * table.high[number] for number, place in places]
        # Cumulative probabilities in units of 2**-62; a word that lies clear of two of them is settled.
        lows = np.array([(one << _WORD) // table.all_high for one in low], dtype=np.int64)
        highs = np.array([-((-one << _WORD) // table.all_low) for one in high], dtype=np.int64)
        source = current()
        words = source.words(count, _WORD).astype(np.int64)
        found = np.searchsorted(highs, words, side="right") - 1
        candidates = [(levels[number], place) for number, place in places]
        for open_word in np.flatnonzero(words >= np.append(lows[1:], 1 << _WORD)[found]):
            settled = self._settle(source, int(words[open_word]), _WORD)
            found[open_word] = candidates.index(settled)
        return candidates, found

    def chances(self) -> list[tuple[Level, Chance]]:
        """Return every level, with rational bounds on the probability of each of its candidates."""
        levels, table = self._table(2 * _STEP, self._reach_of_all())
        each = [
            (Fraction(low, table.all_high), Fraction(high, table.all_low))
            for low, high in zip(table.low, table.high, strict=True)
        ]
        return list(zip(levels, each, strict=True))

    def _settle(self, source: BitSource, cell: int, bits: int) -> Drawn:
        """Read on until the cell [cell, cell + 1) / 2**bits lies within one candidate."""
        step = _STEP + self.points.bit_length()
        while True:
            cell, bits = cell << step | source.bits(step), bits + step
            levels, table = self._table(bits, self._reach(bits))
            least = cell * table.all_low >> bits
            most = -(-(cell + 1) * table.all_high >> bits)
            number = bisect_right(table.before_high, least) - 1
            place = (least - table.before_high[number]) // table.high[number]
            end = table.before_low[number] + (place + 1) * table.low[number]
            if place < levels[number].size and most <= end:
                return levels[number], place
            step = _STEP

    def _reach(self, bits: int) -> int:
        """Return a deficit beyond which all candidates together weigh less than 2**-bits: 7/10 exceeds ln 2."""
        return int(Fraction(7 * (bits + self.points.bit_length()), 10) / self.rate) + 1

    def _reach_of_all(self) -> int:
        """Return a reach that includes every candidate, by doubling."""
        reach = self._reach(_STEP)
        while sum(level.size for level in self.levels(reach)) < self.points:
            reach *= 2
        return reach

    def _table(self, bits: int, reach: int) -> tuple[Sequence[Level], _Table]:
        levels = self.levels(reach)
        work = bits + self.points.bit_length() + _GUARD
        falls: dict[int, Enclosure] = {}
        low = high = 1 << work
        lows, highs, before_low, before_high = [], [], [], []
        sum_low = sum_high = deficit = seen = 0
        for level in levels:
            fall = level.deficit - deficit
            if fall:
                if fall not in falls:
                    falls[fall] = enclosure.exp((self.rate * fall).as_integer_ratio(), work)
                low, high = low * falls[fall][0] >> work, (high * falls[fall][1] >> work) + 1
                deficit = level.deficit
            lows.append(low)
            highs.append(high)
            before_low.append(sum_low)
            before_high.append(sum_high)
            sum_low += low * level.size
            sum_high += high * level.size
            seen += level.size
        rest = (self.points - seen) * enclosure.exp((self.rate * reach).as_integer_ratio(), work)[1]
        return levels, _Table(lows, highs, before_low, before_high, sum_low, sum_high + rest)
