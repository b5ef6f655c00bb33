"""Random Fourier features in integers: what one row adds to them is looked up, and bounded exactly.

A feature is a point on a circle: the phase of a row, in whole parts of a turn, gives a cosine and a sine in whole
steps. So every sum is an integer whatever the order of the rows, and how far a row can move it is the largest entry
of a table, rounding included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Exact
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parts.grid import Released
from discreet.publish.allowance import Allowance
from discreet.publish.code_table import Counts
from discreet.publish.kernels import COSINES, GRID, SINES, weighted_features

# The most that a row adds to the cosine and the sine of one feature: as a squared length, and as a sum of both.
SQUARE = int((COSINES**2 + SINES**2).max())
SUM = int((np.abs(COSINES) + np.abs(SINES)).max())


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """Noisy mean features of a table, and the noisy number of rows, or of the rows of each class."""

    means: NDArray[np.complex128]  # classes by features: of each class, its rows' features over the number of all rows
    counts: NDArray[np.float64]  # rows in each class
    noise: float  # the expected square of the noise in one mean
    deviation: float  # of the noise in one count


def released(exact: Exact[tuple[Counts, Counts]], classes: int, features: int, allowance: Allowance) -> Embedding:
    """Release sums of features (classes x features x 2) and counts of rows by class, for the whole allowance.

    One row belongs to at most one class: it moves the cosine and the sine of each of that class's features by a point
    of the circle, and the class's count by one. The count is measured in `weight` steps, so it has a share of its
    own in the row's length.

    Guarantee: `allowance.loss`, where a person has at most `allowance.rows` rows in the sum of each feature and in the
    counts; they need not be the same rows. The noise is the discrete Gaussian's for a length of `rows` times
    sqrt(features * SQUARE + weight^2), or the discrete Laplace's for `rows` times features * SUM + weight: by the
    triangle inequality no person moves one feature's pair, over all classes, by more than `rows` points.
    """
    shape = classes, features, 2
    size = math.prod(shape)
    weight = GRID * max(1, math.isqrt(features) // 4 if allowance.currency == "rho" else features // 8)
    mechanism: Gaussian | Laplace
    if allowance.currency == "rho":
        squared = allowance.rows**2 * (features * SQUARE + weight**2)
        mechanism = Gaussian(rho=allowance.amount, sensitivity_squared=squared, dimension=size + classes)
        variance = Fraction(squared) / (2 * allowance.amount)
    else:
        moved = allowance.rows * (features * SUM + weight)
        mechanism = Laplace(epsilon=allowance.amount, sensitivity=moved)
        variance = 2 * (Fraction(moved) / allowance.amount) ** 2
    drawn: Released = mechanism.release(exact.map(weighted_features, weight))
    noisy = np.asarray(drawn, np.float64)
    found = np.maximum(noisy[size:] / weight, 0.0)
    rows = max(1.0, float(found.sum()))
    pairs = noisy[:size].reshape(shape) / (GRID * rows)
    means = pairs[..., 0] + 1j * pairs[..., 1]
    return Embedding(means, found, 2 * float(variance) / (GRID * rows) ** 2, math.sqrt(variance) / weight)
