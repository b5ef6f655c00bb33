"""Intervals of counts: which true counts are consistent with how many reports speak for a value."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.local.protocol import quantile

Floats = NDArray[np.float64]
# Up to this many reports the distribution of their count is written out.
_SMALL = 100


def counts(
    support: NDArray[np.int64], n: int, p: Fraction, q: Fraction, beta: float = 0.05
) -> tuple[Floats, Floats, Floats]:
    """Return estimates of true counts with bounds, from the number of reports that support each value.

    Among n reports, those of people who have the value support it with probability p, all others with probability q,
    independently: the support of t people is Binomial(t, p) + Binomial(n - t, q). The estimate (support - n q)/(p - q)
    is unbiased. The bounds are the counts at which either tail has probability beta/2: exact for few reports, and else
    by the normal score with the true count's own variance, corrected for skewness and for whole numbers, outwards.
    """
    centre = np.asarray((support - float(n * q)) / float(p - q), dtype=np.float64)
    low, high = _exact(support, n, p, q, beta) if n <= _SMALL else _score(support, n, float(p), float(q), beta)
    return centre, np.minimum(low, centre), np.maximum(high, centre)


def _score(support: NDArray[np.int64], n: int, p: float, q: float, beta: float) -> tuple[Floats, Floats]:
    """Solve |support - mean(t)| = z deviation(t) for t, a quadratic."""
    z, gap = quantile(beta), p - q
    base, slope = n * q * (1 - q), p * (1 - p) - q * (1 - q)
    excess = np.asarray(support - n * q)

    def root(x: Floats, sign: int) -> Floats:
        variance = x / gap * slope + base
        away = np.sqrt(np.maximum((2 * gap) ** 2 * variance + (z * slope) ** 2, 0))
        found = (2 * x * gap + z * z * slope + sign * z * away) / (2 * gap * gap)
        # A variance below zero is that of no count: the mean lies outside of all of them, and no count is excluded.
        return np.where(variance >= 0, found, x / gap)

    def skew(count: Floats, sign: int) -> Floats:
        """Return how much further than a normal law the support reaches away from a bound, at such a true count.

        Coins that lengthen the other tail are left out: taken off where next to nothing varies, they would take as much
        as the interval has left, and with it the truth.
        """
        t = np.clip(count, 0, n)
        third = (n - t) * q * (1 - q) * max(0, sign * (2 * q - 1)) + t * p * (1 - p) * max(0, sign * (2 * p - 1))
        return np.asarray(max(0, z * z - 1) * third / (6 * np.maximum(base + t * slope, 1e-300)))

    def bound(sign: int) -> Floats:
        further = np.maximum(skew(excess / gap, sign), skew(root(excess + sign / 2, sign), sign))
        return root(excess + sign * (0.5 + further), sign)

    return bound(-1), bound(1)


def _exact(support: NDArray[np.int64], n: int, p: Fraction, q: Fraction, beta: float) -> tuple[Floats, Floats]:
    lows, highs = _bounds(n, float(p), float(q), float(beta))
    places = np.clip(support, 0, n)
    return lows[places], highs[places]


@lru_cache(maxsize=16)
def _bounds(n: int, p: float, q: float, beta: float) -> tuple[Floats, Floats]:
    """Return, for each support, the least and the largest count of which neither tail is below beta/2."""
    laws = np.array([np.convolve(_binomial(t, p), _binomial(n - t, q)) for t in range(n + 1)])
    at_most = np.cumsum(laws, axis=1)
    at_least = np.cumsum(laws[:, ::-1], axis=1)[:, ::-1]
    # Counts grow with the support: the tails are monotone in t, so that each bound is where a run of counts ends.
    low = np.array([np.flatnonzero(at_least[:, c] > beta / 2).min(initial=n) for c in range(n + 1)], dtype=float)
    high = np.array([np.flatnonzero(at_most[:, c] > beta / 2).max(initial=0) for c in range(n + 1)], dtype=float)
    return low, high


def _binomial(n: int, p: float) -> Floats:
    logs = [math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1) for j in range(n + 1)]
    hits = np.arange(n + 1)
    return np.asarray(np.exp(np.array(logs) + hits * math.log(p) + (n - hits) * math.log1p(-p)))
