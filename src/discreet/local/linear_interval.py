"""Intervals of sums over reports whose variance grows linearly with what they estimate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.local.protocol import quantile

Floats = NDArray[np.float64]


def bounds(
    value: Floats, base: Floats | float, slope: Floats | float, unit: float, beta: float
) -> tuple[Floats, Floats]:
    """Return the counts t with |value - t| <= z sqrt(base + slope t): the normal score with t's own variance.

    `unit` is how far two neighbouring values of the estimate lie apart; the bounds go half of it further.
    """
    z = quantile(beta)

    def root(at: Floats, sign: int) -> Floats:
        inside = np.maximum((z * slope / 2) ** 2 + slope * at + base, 0.0)
        return np.asarray(at + z * z * slope / 2 + sign * z * np.sqrt(inside))

    low, high = root(value - unit / 2, -1), root(value + unit / 2, 1)
    return np.minimum(low, value), np.maximum(high, value)
