"""Kernels: how exact tallies are cut to the shape that a mechanism takes; exact values in, exact values out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.core.doors import kernel

Integers = Any  # the exact integers of one group, as a statistic wants them


@kernel
def picked(rows: Sequence[Sequence[int]], places: Sequence[int]) -> list[tuple[int, ...]]:
    """Return some columns of a table of tallies, in this order."""
    return [tuple(row[place] for place in places) for row in rows]


@kernel
def from_tallies(rows: Sequence[Sequence[int]], exact: Callable[[Sequence[int]], Integers]) -> list[Integers]:
    """Return what a statistic takes, group by group."""
    return [exact(row) for row in rows]


@kernel
def by_group(rows: Sequence[Sequence[int]], groups: int, wanted: Sequence[int]) -> list[list[int]]:
    """Return the counts of the bins at some places, group by group, from one column that has all bins of all groups."""
    width = len(rows) // groups if groups else 0
    return [[rows[group * width + place][0] for place in wanted] for group in range(groups)]


@kernel
def end_to_end(groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the counts of all groups, one after the other."""
    return [count for counts in groups for count in counts]


@kernel
def of_group(groups: Sequence[Sequence[int]], place: int) -> Sequence[int]:
    """Return the counts of one group."""
    return groups[place]


@kernel
def in_cells(answers: Sequence[Mapping[int, int]], cuts: Sequence[Sequence[int]], single: bool) -> list[list[int]]:
    """Return how many values lie in the cells of all groups, one after the other, as those of one group.

    The last points of the cells of each group are `cuts`, from the lowest value on. Where points were counted one by
    one, there is an answer for each group; otherwise one for each cell.
    """
    if not single:
        return [[sum(each.values()) for each in answers]]
    found = []
    for answer, own in zip(answers, cuts, strict=True):
        counts = [0] * len(own)
        for point, many in answer.items():
            counts[bisect_left(own, point)] += many
        found += counts
    return [found]
