"""Histogram: how often each declared key occurs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.column import Key
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.mechanisms.parts.integer_noise import Noise, Sensitivity, Whole, saturated, whole_numbers
from discreet.mechanisms.parts.keys import check_keys, tally
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.statistic import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Statistic):
    """Releases the count of every declared key, in the order of the keys, empty ones too, as an int64 array.

    Nulls and values that were not declared are left out. Counts may be negative: clip them if need be, for free.

    Sensitivity (l1): contributions under add_remove, 2 * contributions under replace: a replaced row leaves one cell
    and joins another, so noise of scale 1 / epsilon is too little for it by a factor of 2.
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise; for rows the loss is that of one count, or
    of two under replace.
    Error: of the worst cell, by the union bound.
    """

    keys: tuple[Key, ...]

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        self._set(keys=check_keys(self.keys))

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the counts; of a group, where there are several."""
        k = self.contributions
        if self._within == "add_remove":
            return Sensitivity(min(k, len(self.keys)), k, k, k * k)
        if len(self.keys) == 1:  # a row can leave the one cell or join it, not both
            return Sensitivity(1, k, k, k * k)
        return Sensitivity(min(2 * k, len(self.keys)), k, 2 * k, 2 * k * k)

    @property
    def noises(self) -> tuple[tuple[Noise, int], ...]:
        """One noise for all cells."""
        return ((self._noise(self.sensitivity), len(self.keys)),)

    def error(self, beta: float = 0.05) -> float:
        """Return the half-width of the worst cell."""
        return float(self.noises[0][0].half_width(beta, len(self.keys)))

    def exact(self, values: Iterable[Any]) -> NDArray[np.int64]:
        """Return the counts, in the order of the keys."""
        return tally(self.keys, values)

    def _inner(self, exact: Sequence[Whole]) -> Sequence[Whole]:
        return counts_of(exact, len(self.keys))

    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[np.int64]:
        return np.stack([saturated(cell) for cell in noisy], axis=-1)


def counts_of(exact: Sequence[Whole] | NDArray[Any], size: int) -> list[Whole]:
    """Return exact counts as Python integers, or as columns of them; their number is public, and checked."""
    counts = [whole_numbers(each) for each in exact]
    if len(counts) != size:
        raise BadParameter(
            "exact", len(counts), why=f"there are {size} declared cells", fix="pass one integer for each"
        )
    return counts


def trials() -> Trials:
    """Yield the worst neighbours: a row that appears, and one that moves from one cell to another."""
    yield Trial("a row appears", Histogram(keys=("A", "B"), epsilon=1), [4, 0], [4, 1])
    yield Trial("a row moves", Histogram(keys=("A", "B", "C"), epsilon=1, relation="replace"), [4, 0, 2], [3, 1, 2])
    yield Trial("two rows of a person", Histogram(keys=("A", "B"), epsilon=1, contributions=2), [3, 3], [5, 3])
    yield Trial("Gaussian", Histogram(keys=("A", "B"), rho=0.25, relation="replace"), [3, 1], [2, 2])
