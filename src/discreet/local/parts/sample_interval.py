"""Intervals of counts from people drawn evenly, each of whom turns the answer over by a coin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import positive_failure
from discreet.local.parts.binomial import mean_within
from discreet.local.protocol import quantile

Floats = NDArray[np.float64]
_NORMAL = 3.0  # as in `interval`


def drawn_within(
    ones: NDArray[np.int64], drawn: NDArray[np.int64], n: int, turned: float, beta: float
) -> tuple[Floats, Floats]:
    """Return bounds of how many of n people have a value, from the ones among so many of them, drawn evenly.

    Given how many are drawn, ones are a sum of independent coins of the mean drawn (turned + (1 - 2 turned) t/n): their
    bounds are those of equal coins, by exact tails. Where many coins vary, it is the normal score with the variance
    that drawing without putting back has, corrected for skewness and for integers, outwards.
    """
    z, gap = quantile(beta), 1 - 2 * turned
    m = np.maximum(drawn, 1).astype(np.float64)
    low, high = mean_within(ones, m, float(positive_failure("beta", beta)) / 2)
    exact = [np.where(drawn > 0, (bound / m - turned) / gap * n, edge) for bound, edge in ((low, 0), (high, n))]
    bounds = [
        _better(np.clip(each, 0, n), _score(ones, m, n, turned, z, sign), m, n, turned, z)
        for each, sign in zip(exact, (-1, 1), strict=True)
    ]
    return bounds[0], bounds[1]


def _better(exact: Floats, score: Floats, m: Floats, n: int, turned: float, z: float) -> Floats:
    """Return the score where the variance at both bounds is that of many coins, else the exact bound."""
    least = np.minimum(_variance(exact, m, n, turned), _variance(score, m, n, turned))
    return np.where(least >= (_NORMAL * z * z) ** 2, score, exact)


def _variance(count: Floats, m: Floats, n: int, turned: float) -> Floats:
    """Return the variance of the ones among m drawn people at such a true count."""
    share, left = np.clip(count, 0, n) / max(1, n), (n - m) / max(1, n - 1)
    return np.asarray(m * (turned * (1 - turned) + (1 - 2 * turned) ** 2 * left * share * (1 - share)))


def _score(ones: NDArray[np.int64], m: Floats, n: int, turned: float, z: float, sign: int) -> Floats:
    """Solve |ones - mean(t)| = z deviation(t) for t, a quadratic in the share t/n."""
    gap, left = 1 - 2 * turned, (n - m) / max(1, n - 1)
    plain, spread = m * turned * (1 - turned), m * gap * gap * left
    # Skewness of a sum of coins is at most its variance; the next term is below z^3 / (24 deviations), counted twice.
    further = max(0, z * z - 1) / 6 + z**3 / (12 * np.sqrt(np.maximum(plain, 1e-300)))
    x = ones - m * turned + sign * (0.5 + further)
    a, b, c = (m * gap) ** 2 + z * z * spread, -2 * x * m * gap - z * z * spread, x * x - z * z * plain
    inside = np.sqrt(np.maximum(b * b - 4 * a * c, 0))
    return np.asarray(np.clip((-b + sign * inside) / (2 * a), 0, 1) * n)
