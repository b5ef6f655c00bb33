"""Looking people up in generalized tables: which classes they may be in, and which values those have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.lab.attacks.intersection.cells import Generalized
from discreet.lab.attacks.intersection.mondrian import MondrianRelease

Candidates = dict[str, int]
Pairs = list[tuple[Candidates, Candidates]]


class Lookup:
    """A release, and for every value of a column the classes whose cells cover it, found once each."""

    __slots__ = ("_columns", "_ends", "_masks", "_release")

    def __init__(self, release: MondrianRelease) -> None:
        self._release = release
        self._columns: list[tuple[Generalized, ...]] = list(zip(*release.cells, strict=True))
        self._ends = [_ends(cells) for cells in self._columns]
        self._masks: dict[tuple[int, object], NDArray[np.bool_]] = {}

    def candidates(self, person: Sequence[object]) -> Candidates:
        """Return the sensitive values, with their counts, of all classes that a person may be in."""
        mask = np.ones(len(self._release.cells), bool)
        for column, value in enumerate(person):
            mask &= self._mask(column, value)
        found: Candidates = {}
        for place in np.flatnonzero(mask).tolist():
            for value, count in self._release.values[place].items():
                found[value] = found.get(value, 0) + count
        return found

    def _mask(self, column: int, value: object) -> NDArray[np.bool_]:
        key = column, value
        if key not in self._masks:
            ends = self._ends[column]
            if ends is not None and isinstance(value, int | float) and not isinstance(value, bool):
                self._masks[key] = (ends[0] <= value) & (value <= ends[1])
            else:
                self._masks[key] = np.array([cell.covers(value) for cell in self._columns[column]], bool)
        return self._masks[key]


def looked_up(first: MondrianRelease, second: MondrianRelease, people: Sequence[Sequence[object]]) -> Pairs:
    """Return for each person what either release leaves possible."""
    one, other = Lookup(first), Lookup(second)
    return [(one.candidates(person), other.candidates(person)) for person in people]


def met(first: MondrianRelease, second: MondrianRelease) -> Pairs:
    """Return what two classes leave possible, for every pair of classes that some person may be in."""
    return [
        (counts, others)
        for cells, counts in zip(first.cells, first.values, strict=True)
        for rows, others in zip(second.cells, second.values, strict=True)
        if all(cell.meets(row) for cell, row in zip(cells, rows, strict=True))
    ]


def _ends(cells: tuple[Generalized, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the lower and upper ends of a column's cells, or None where some speak of texts."""
    if any(cell.values is not None or cell.prefix is not None for cell in cells):
        return None
    return np.array([cell.low for cell in cells]), np.array([cell.high for cell in cells])
