"""Runs of grid points with equal scores around a quantile: what the exponential mechanism chooses from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.core.value import dataclass
from discreet.mechanisms.parts.levels import Level, Leveled
from discreet.mechanisms.parts.mechanism import Chance
from discreet.mechanisms.parts.raw_values import Steps


@dataclass(frozen=True, slots=True)
class Runs:
    """Grid points low .. high in runs of equal score around the q-quantile of data, put in order as far as needed.

    An `offset` moves the target by so many ranks; the data then hold as many public records more, all at the bound that
    it points to (see `padded`).
    """

    data: Steps
    low: int
    high: int
    q: Fraction
    rate: Fraction
    offset: int = 0

    def one(self) -> int:
        """Draw a grid point."""
        level, place = self._leveled().draw()
        return level.start + place

    def many(self, count: int) -> Steps:
        """Draw many grid points."""
        candidates, drawn = self._leveled().draws(count)
        return np.array([level.start + place for level, place in candidates], dtype=np.int64)[drawn]

    def chances(self) -> dict[int, Chance]:
        """Return rational bounds on the probability of every grid point."""
        known = self._leveled().chances()
        return {level.start + place: chance for level, chance in known for place in range(level.size)}

    def _leveled(self) -> Leveled:
        return Leveled(self.rate, self.high - self.low + 1, self._around)

    def _around(self, reach: int) -> list[Level]:
        """Return the runs of deficit at most `reach` (in records times the denominator of q) in rising order.

        Every value in the data is a run of its own, and so is every gap between two values. With b records below a
        point and u up to and including it, its score is min(target - b, u - target), times the denominator: how deep
        the target (q n, or that and the offset, counted from the lowest record there is) lies inside [b, u], or how far
        outside, below zero. Its deficit is how far the score lies below the best.
        """
        top, bottom = self.q.numerator, self.q.denominator
        size = len(self.data)
        target = top * (size - abs(self.offset)) + bottom * max(self.offset, 0)
        first = max(0, (target - reach) // bottom - 1)
        last = min(size, -((-target - reach) // bottom) + 1)
        kept, below, up_to = self._window(first, last)
        found = [
            Level(max(bottom * under - target, target - bottom * over), value, 1)
            for value, under, over in zip(kept, below, up_to, strict=True)
        ]
        # The gap before the first value of the window is one of the data only if no value lies before it.
        edges = ([self.low - 1] if first == 0 else []) + kept + ([self.high + 1] if last == size else [])
        ranks = ([0] if first == 0 else []) + up_to
        for start, end, rank in zip(edges, edges[1:], ranks, strict=False):
            if end - start > 1:
                found.append(Level(abs(bottom * rank - target), start + 1, end - start - 1))
        # The ranges [b, u] of neighbouring points meet, so the target lies in one: the best score is not negative.
        best = min(level.deficit for level in found)
        return sorted(Level(each.deficit - best, *each[1:]) for each in found if each.deficit - best <= reach)

    def _window(self, first: int, last: int) -> tuple[list[int], list[int], list[int]]:
        """Return the values of ranks first .. last, and how many records lie below, and up to, each of them."""
        data = self.data
        if first == last:
            return [], [], []
        data.partition((first, last - 1))
        window = data[first:last]
        window.sort()
        values, below = np.unique(window, return_index=True)
        below = below + first
        up_to = np.append(below[1:], last)
        # Values tied with the ends of the window may lie outside it.
        below[0] -= np.count_nonzero(data[:first] == values[0])
        up_to[-1] += np.count_nonzero(data[last:] == values[-1])
        return values.tolist(), below.tolist(), up_to.tolist()


def padded(data: Steps, low: int, high: int, offset: int) -> Steps:
    """Return data with |offset| public records more at the bound that an offset points to.

    They are there so that a target beyond all data is that bound: without them every point beyond would do as well.
    """
    return np.concatenate([data, np.full(abs(offset), high if offset > 0 else low)]) if offset else data
