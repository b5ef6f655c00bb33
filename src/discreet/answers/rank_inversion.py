"""Rank inversion: intervals of quantiles, as all values that noisy counts of cells around them do not exclude."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.answers.quantity import Law
from discreet.answers.spread import half_width

_FEWEST, _MOST = 4, 32  # cells between two points
_PER_OCTAVE = 1.6
_BUCKET = 4  # counts of noises are rounded up to multiples of this, so that few spreads are worked out


def cell_edges(points: Sequence[int], low: int, high: int) -> list[int]:
    """Return the last points of cells that fill a grid, finer towards the given points, which rise.

    Distances from a point grow by one factor: up to the bounds on the outside, and to the middle between two points.
    """
    many = min(max(math.ceil(_PER_OCTAVE * math.log2(max(high - low, 2))), _FEWEST), _MOST)
    many = max(_FEWEST, 2 * many // (len(points) + 1))
    found = {high}
    for place, point in enumerate(points):
        found |= {point - 1, point}
        if place == 0:
            found |= {point - 1 - each for each in _distances(point - low, many)}
        if place == len(points) - 1:
            found |= {point + each for each in _distances(high - point, many)}
        else:
            gap = points[place + 1] - point
            near = _distances(gap // 2, many // 2)
            found |= {point + each for each in near} | {points[place + 1] - 1 - each for each in near}
    return sorted(each for each in found if low <= each <= high)


def _distances(farthest: int, many: int) -> set[int]:
    """Return distances from 1 to the farthest, as even as can be on a logarithmic scale."""
    if farthest < 1:
        return set()
    return {math.ceil(farthest ** (step / many)) for step in range(1, many + 1)}


def rank_interval(
    noisy: Sequence[int], edges: Sequence[int], low: int, q: Fraction, law: Law, scale: Fraction, level: float = 0.95
) -> tuple[int, int] | None:
    """Return the ends of an interval of the q-quantile, given noisy counts of the cells; None where none is left.

    Let G(t) be the number of values up to t, less q times that of all: a sum of the counts with weights 1 - q and -q.
    At the last point of the quantile's own cell it is not negative, at the last point of the cell before not positive.
    Cells are taken off from below as long as the noisy G at their ends is below zero by more than its half-width, and
    from above as long as that at the end of the cell before is above zero by more.

    Guarantee: whatever the values, and whatever the edges, if these do not depend on the noise of the counts, the
    interval misses the quantile with probability at most 1 - level: at either end only if the noise of one fixed sum
    exceeds its half-width in one direction, since the search from outside ends at the quantile's own cell at the latest
    if that sum does not.
    """
    cells = len(noisy)
    sums, total = [0], sum(noisy)
    for each in noisy:
        sums.append(sums[-1] + each)

    def beyond(cell: int) -> int:
        """Say on which side of zero G at the end of a cell lies for certain."""
        value = sums[cell + 1] - q * total
        half = half_width(_terms(cell + 1, cells - cell - 1, q, law, scale), level)
        return (value > half) - (value < -half)

    first = next((cell for cell in range(cells - 1) if beyond(cell) >= 0), cells - 1)
    last = next((cell for cell in range(cells - 1, 0, -1) if beyond(cell - 1) <= 0), 0)
    if first > last:
        return None
    return (low if first == 0 else edges[first - 1] + 1), edges[last]


def _terms(
    below: int, above: int, q: Fraction, law: Law, scale: Fraction
) -> tuple[tuple[Fraction, Law, Fraction, int], ...]:
    """Return the noises of G; some more than there are, which can only widen the spread: they are unimodal."""
    counted: dict[Fraction, int] = {}
    for weight, many in ((1 - q, below), (q, above)):
        if weight and many:
            counted[weight] = counted.get(weight, 0) + -(-many // _BUCKET) * _BUCKET
    return tuple(sorted((weight, law, scale, many) for weight, many in counted.items()))
