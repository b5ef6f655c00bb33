"""Intervals of sums over reports whose variance grows linearly with what they estimate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.local.protocol import quantile

Floats = NDArray[np.float64]
# A normal law, corrected for its skewness, stands in for the exact one where the deviation is at least so many times
# the square of its quantile, in units of what one report can add.
_NORMAL = 0.5


def bounds(
    value: Floats,
    base: Floats | float,
    slope: Floats | float,
    unit: float,
    beta: float,
    *,
    skew: tuple[Floats | float, Floats | float] = (0.0, 0.0),
    jump: Floats | float = 0.0,
) -> tuple[Floats, Floats]:
    """Return the counts t with |value - t| <= z sqrt(base + slope t): the normal score with t's own variance.

    `unit` is how far two neighbouring values of the estimate lie apart; the bounds go half of it further. `skew` is the
    third moment over the variance, for the low and the high bound, and `jump` the most that one independent part can
    add: by them the law of few parts reaches further than a normal one (Cornish and Fisher 1938).
    """
    z = quantile(beta)
    deviation = np.sqrt(np.maximum(base + slope * np.maximum(value, 0.0), 1e-300))
    tail = z**3 * jump * np.minimum(jump / (24 * deviation), 1.0)

    def root(at: Floats, sign: int) -> Floats:
        inside = np.maximum((z * slope / 2) ** 2 + slope * at + base, 0.0)
        return np.asarray(at + z * z * slope / 2 + sign * z * np.sqrt(inside))

    down, up = (unit / 2 + max(0.0, z * z - 1) / 6 * each + tail for each in skew)
    low, high = root(value - down, -1), root(value + up, 1)
    return np.minimum(low, value), np.maximum(high, value)


def few(n: int, variance: Floats, most: Floats, width: Floats, beta: float) -> Floats:
    """Return how far a sum of few independent parts may be from its mean with probability 1 - beta; 0 if n is large.

    Each of n parts has at most this variance, is at most `most` from its own mean and inside an interval of this width.
    Guarantee: the least of what Bernstein (1924) and Hoeffding (1963, Theorem 2) prove and of what is certain. Where
    the deviation is large against one part, the normal score stands alone.
    """
    z, log = quantile(beta), np.log(2 / beta)
    drift = most * log / 3
    bernstein = drift + np.sqrt(drift**2 + 2 * n * variance * log)
    proven = np.minimum(np.minimum(bernstein, width * np.sqrt(n * log / 2)), n * np.minimum(most, width))
    return np.asarray(np.where(n * variance < (_NORMAL * z * z * most) ** 2, proven * (1 + 1e-9) + 1e-9, 0.0))
