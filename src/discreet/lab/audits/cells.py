"""Cells: the line of a feature cut into single values and the gaps between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CUTS = 192
_ATOMS = 64
_TABLED = 1 << 16  # integers so close together are looked up instead of searched


@dataclass(frozen=True, slots=True)
class FeatureCells:
    """Cut points; cell 2i + 1 is the value of cut i alone, cell 2i the gap below it. NaN lies above all numbers."""

    cuts: NDArray[Any]

    @property
    def count(self) -> int:
        """How many cells there are."""
        return 2 * len(self.cuts) + 1

    def place(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the cell of each value."""
        if values.dtype.kind == "i" and self.cuts.dtype.kind == "i":
            first, last = int(self.cuts[0]), int(self.cuts[-1])
            if last - first <= _TABLED:
                table = self._search(np.arange(first - 1, last + 2))
                return np.asarray(table[np.clip(values, first - 1, last + 1) - (first - 1)])
        return self._search(values)

    def _search(self, values: NDArray[Any]) -> NDArray[np.int64]:
        below = np.searchsorted(self.cuts, values)
        same = self.cuts[np.minimum(below, len(self.cuts) - 1)] == values
        if self.cuts.dtype.kind == "f" and np.isnan(self.cuts[-1]):
            same |= np.isnan(values)  # where np.unique has kept a single NaN, at the end
        return np.asarray(2 * below + same, dtype=np.int64)

    def histogram(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Count the values in each cell."""
        return np.bincount(self.place(values), minlength=self.count)


def cells_of(*samples: NDArray[Any]) -> FeatureCells:
    """Cut where samples lie: at every value if they are few, else at quantiles, in the tails, at frequent values."""
    values, counts = np.unique(np.concatenate(samples), return_counts=True)
    if len(values) <= _CUTS:
        return FeatureCells(values)
    ranks = np.cumsum(counts)
    tails = 2 ** np.arange(12)
    wanted = np.concatenate([np.linspace(1, ranks[-1], _CUTS - _ATOMS - 24), tails, ranks[-1] + 1 - tails])
    cuts = np.searchsorted(ranks, wanted).clip(0, len(values) - 1)
    frequent = np.argpartition(counts, -_ATOMS)[-_ATOMS:]
    return FeatureCells(values[np.unique(np.concatenate([cuts, frequent[counts[frequent] > 1]]))])
