"""Second moments of bounded columns, centred at the middle of their bounds: what variance and covariance share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.unit import Relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts.integer_noise import Noise, Sensitivity, Whole, floats, whole_numbers
from discreet.mechanisms.parts.raw_values import Grid, Mask, whole_sum

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CentredMoments:
    """n, the sums S_i of y_i = 2 x_i - (low_i + high_i), |y_i| <= w_i = high_i - low_i, and P_ij of y_i y_j, i <= j.

    Under add_remove every diagonal P_ii gets noise together with n w_i^2 - P_ii: a record adds (a, b) with a + b =
    w_i^2 to the two, so that the number of records comes for nothing (their sum over w_i^2, averaged over the columns).
    Under replace n is public and rows with a null count as the middle. All m = d + d(d+1)/2 parts get an equal share.
    """

    grids: tuple[Grid, ...]
    relation: Relation
    contributions: int
    rows: int | None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of the upper triangle, row by row."""
        return [(i, j) for i in range(len(self.grids)) for j in range(i, len(self.grids))]

    def noises(self, make: Callable[[Sensitivity, Fraction], Noise]) -> tuple[tuple[Noise, int], ...]:
        """Return the noise of the sums, then of the products."""
        widths, k = [grid.width for grid in self.grids], self.contributions
        share = Fraction(1, len(widths) + len(self.pairs))
        both = (
            1 if self.relation == "add_remove" else 2
        )  # an exchange moves what has two signs from one end to the other
        sums = [(make(Sensitivity.entries(1, both * k * width), share), 1) for width in widths]
        products = []
        for i, j in self.pairs:
            most = k * widths[i] * widths[j]
            if i != j:
                products.append((make(Sensitivity.entries(1, both * most), share), 1))
            elif self.relation == "add_remove":
                products.append((make(Sensitivity(2, most, most, most * most), share), 2))
            else:
                products.append((make(Sensitivity.entries(1, most), share), 1))
        return (*sums, *products)

    def exact(self, columns: Sequence[tuple[NDArray[Any], Mask]]) -> tuple[int, ...]:
        """Return n, S and P of the rows without a null, as Python integers that never wrap."""
        complete = np.logical_and.reduce([present for _, present in columns])
        read = [grid.place(*column) for grid, column in zip(self.grids, columns, strict=True)]
        complete = np.logical_and.reduce([complete, *(known for _, known in read)])
        centred = [
            2 * steps[complete[known]] - (grid.low + grid.high)
            for grid, (steps, known) in zip(self.grids, read, strict=True)
        ]
        count = int(complete.sum())
        sums = [whole_sum(column) for column in centred]
        products = [self._product(centred[i], centred[j], i, j) for i, j in self.pairs]
        return (count, *sums, *products)

    def _product(self, one: NDArray[np.int64], two: NDArray[np.int64], i: int, j: int) -> int:
        if len(one) * self.grids[i].width * self.grids[j].width < 1 << 62:
            return int(np.dot(one, two))
        return sum(a * b for a, b in zip(one.tolist(), two.tolist(), strict=True))

    def exact_from(self, above: Sequence[Whole], products: Sequence[Whole], count: Whole) -> tuple[Whole, ...]:
        """Return n, S and P from the sums of u_i = x_i - low_i and of y_i y_j + w_i w_j, which is never negative."""
        widths = [grid.width for grid in self.grids]
        sums = [2 * total - width * count for total, width in zip(above, widths, strict=True)]
        seconds = [
            product - widths[i] * widths[j] * count for (i, j), product in zip(self.pairs, products, strict=True)
        ]
        return (count, *sums, *seconds)

    def inner(self, exact: Sequence[Whole]) -> list[Whole]:
        """Return the integers that get noise, in the order of `noises`."""
        count, *rest = (whole_numbers(each) for each in exact)
        sums, products = rest[: len(self.grids)], rest[len(self.grids) :]
        out = list(sums)
        for (i, j), product in zip(self.pairs, products, strict=True):
            out.append(product)
            if i == j and self.relation == "add_remove":
                out.append(count * self.grids[i].width ** 2 - product)
        return out

    def covariances(self, noisy: list[NDArray[Any]]) -> Matrix:
        """Return covariances over w_i w_j, one matrix for each repetition, every entry within [-1/4, 1/4].

        A symmetric matrix with a negative eigenvalue is no covariance: the nearest that is one is returned, which is
        closer to the truth in Frobenius norm (projection on a convex set that holds the truth).
        """
        size = len(self.grids)
        given = iter(noisy)
        means = np.stack([floats(next(given)) / grid.width for grid in self.grids], axis=-1)
        seconds = np.zeros((*means.shape, size))
        counts = np.zeros(means.shape)
        for i, j in self.pairs:
            scale = float(self.grids[i].width * self.grids[j].width)
            seconds[..., i, j] = seconds[..., j, i] = floats(next(given)) / scale
            if i == j and self.relation == "add_remove":
                counts[..., i] = seconds[..., i, i] + floats(next(given)) / scale
        count = np.maximum(counts.mean(-1), 1.0) if self.relation == "add_remove" else np.full(len(means), self.rows)
        means = np.clip(means / count[..., None], -1.0, 1.0)
        raw = (seconds / count[..., None, None] - means[..., :, None] * means[..., None, :]) / 4
        return _semidefinite(np.clip(raw, -0.25, 0.25))

    def error(self, noises: Sequence[tuple[Noise, int]], beta: float) -> Matrix:
        """Return half-widths of the entries over w_i w_j, before the projection, that hold together.

        A ratio S/n with noise h on S and g on n is off by at most (h + |S/n| g) / (n - g); |y_i| / w_i is at most 1.
        """
        entries = sum(size for _, size in noises)
        halves = [noise.half_width(beta, entries) for noise, _ in noises]
        size = len(self.grids)
        sums = [half / grid.width for half, grid in zip(halves, self.grids, strict=False)]
        products = {
            (i, j): half / (self.grids[i].width * self.grids[j].width)
            for (i, j), half in zip(self.pairs, halves[size:], strict=True)
        }
        slack = sum(2 * products[i, i] for i in range(size)) / size if self.relation == "add_remove" else 0.0
        room = 0.0 if self.rows is None else self.rows - slack
        if room <= 0:
            return np.full((size, size), 0.5)
        out = np.empty((size, size))
        for i, j in self.pairs:
            ratio = products[i, j] + slack + (sums[i] + slack) + (sums[j] + slack)
            out[i, j] = out[j, i] = min(ratio / room / 4, 0.5)
        return out


def _semidefinite(matrices: Matrix) -> Matrix:
    values, vectors = np.linalg.eigh(matrices)
    nearest: Matrix = np.einsum("...ik,...k,...jk->...ij", vectors, np.maximum(values, 0.0), vectors)
    return nearest


def root(values: Matrix) -> float:
    """Return the Frobenius norm."""
    return math.sqrt(float((values**2).sum()))
