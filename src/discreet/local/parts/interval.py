"""Intervals of counts: which true counts are consistent with how many reports speak for a value."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.local.parts.binomial import at_least, at_most, chances
from discreet.local.protocol import quantile

Floats = NDArray[np.float64]
# A normal law stands in for the exact one where the deviation is at least so many times the square of its quantile:
# there the terms that the expansion of its quantiles leaves out are below the margin that is added.
_NORMAL = 3.0
# Where tails are compared with beta, they are taken to be larger by this share: far more than their rounding.
_MARGIN = 1e-9
_BLOCK = 4096
# Up to so many reports the bounds of all supports are computed at once, and kept.
_SMALL = 1000


def counts(
    support: NDArray[np.int64], n: int, p: Fraction, q: Fraction, beta: float = 0.05
) -> tuple[Floats, Floats, Floats]:
    """Return estimates of true counts with bounds, from the number of reports that support each value.

    Among n reports, those of people who have the value support it with probability p, all others with probability q,
    independently: the support of t people is Binomial(t, p) + Binomial(n - t, q). The estimate (support - n q)/(p - q)
    is unbiased. The bounds are the counts at which either tail has probability beta/2 (Clopper and Pearson 1934): by
    the exact law where few coins vary, and else by the normal score with the true count's own variance, corrected for
    skewness (Cornish and Fisher 1938) and for integers, outwards.
    """
    gap = float(p - q)
    centre = np.asarray((support - float(n * q)) / gap, dtype=np.float64)
    places = np.clip(support, 0, n)
    if n <= _SMALL:
        lows, highs = _table(n, p, q, float(beta))
        low, high = lows[places], highs[places]
    else:
        low, high = _bounds(places, n, p, q, beta)
    return centre, np.minimum(low, centre), np.maximum(high, centre)


@lru_cache(maxsize=64)
def _table(n: int, p: Fraction, q: Fraction, beta: float) -> tuple[Floats, Floats]:
    """Return the bounds of every support, for few reports: they are asked for again and again."""
    if not n:
        quantile(beta)  # refuses what is no probability
        return np.zeros(1), np.zeros(1)
    return _bounds(np.arange(n + 1), n, p, q, beta)


def _bounds(support: NDArray[np.int64], n: int, p: Fraction, q: Fraction, beta: float) -> tuple[Floats, Floats]:
    """Return bounds: the normal score, and the exact one where the score's variance is that of few coins."""
    z = quantile(beta)
    low, high = _score(support, n, float(p), float(q), z)
    for side, bound in ((-1, low), (1, high)):
        few = np.flatnonzero(_variance(bound, n, p, q) < (_NORMAL * z * z) ** 2)
        wanted, back = np.unique(support[few], return_inverse=True)
        guess, exact = np.zeros(len(wanted)), np.zeros(len(wanted))
        guess[back] = bound[few]
        for start in range(0, len(wanted), _BLOCK):
            part = slice(start, start + _BLOCK)
            exact[part] = _exact(wanted[part], guess[part], n, p, q, beta / 2, side)
        bound[few] = exact[back]
    return low, high


def _variance(count: Floats, n: int, p: Fraction, q: Fraction) -> Floats:
    """Return the variance of the support at such a true count."""
    t = np.clip(count, 0, n)
    return np.asarray(t * float(p * (1 - p)) + (n - t) * float(q * (1 - q)))


def _score(support: NDArray[np.int64], n: int, p: float, q: float, z: float) -> tuple[Floats, Floats]:
    """Solve |support - mean(t)| = z deviation(t) for t, a quadratic."""
    gap = p - q
    base, slope = n * q * (1 - q), p * (1 - p) - q * (1 - q)
    excess = np.asarray(support - n * q)

    def root(x: Floats, sign: int) -> Floats:
        variance = x / gap * slope + base
        away = np.sqrt(np.maximum((2 * gap) ** 2 * variance + (z * slope) ** 2, 0))
        found = (2 * x * gap + z * z * slope + sign * z * away) / (2 * gap * gap)
        # A variance below zero is that of no count: the mean lies outside of all of them, and no count is excluded.
        return np.where(variance >= 0, found, x / gap)

    def further(count: Floats, sign: int) -> Floats:
        """Return how much further than a normal law the support reaches away from a bound, at such a true count.

        Coins that lengthen the other tail are left out, and the next term of the expansion, of which z^3 / (24
        deviations) is a bound, counts twice.
        """
        t = np.clip(count, 0, n)
        third = (n - t) * q * (1 - q) * max(0, sign * (2 * q - 1)) + t * p * (1 - p) * max(0, sign * (2 * p - 1))
        variance = np.maximum(base + t * slope, 1e-300)
        return np.asarray(max(0, z * z - 1) * third / (6 * variance) + z**3 / (12 * np.sqrt(variance)))

    def bound(sign: int) -> Floats:
        first = root(excess + sign / 2, sign)
        most = np.maximum(further(excess / gap, sign), further(first, sign))
        return root(excess + sign * (0.5 + most), sign)

    return bound(-1), bound(1)


def _exact(
    support: NDArray[np.int64], guess: Floats, n: int, p: Fraction, q: Fraction, level: float, side: int
) -> Floats:
    """Return the least (side -1) or the largest count whose tail towards the support is above the level.

    Tails are monotone in the count: a bracket around the guess is widened until it holds the bound, and halved.
    """
    own, other = chances(p), chances(q)

    def kept(count: NDArray[np.int64]) -> NDArray[np.bool_]:
        tail = at_least if side < 0 else at_most
        return np.asarray(tail(support, count, n, own, other) * (1 + _MARGIN) > level)

    nobody = 0 if side < 0 else n  # where the bracket ends: counts beyond it do not exist
    inner, outer = (np.clip(np.rint(np.nan_to_num(guess)), 0, n).astype(np.int64) for _ in range(2))
    step = np.ones_like(inner)
    while True:  # inner is a count that is kept, or the last one
        wrong = ~kept(inner) & (inner != n - nobody)
        if not wrong.any():
            break
        inner = np.where(wrong, np.clip(inner - side * step, 0, n), inner)
        step = np.where(wrong, 2 * step, step)
    step = np.ones_like(outer)
    while True:  # outer is a count that is not kept, or one beyond the last
        wrong = (outer != nobody + side) & kept(np.clip(outer, 0, n))
        if not wrong.any():
            break
        outer = np.where(wrong, np.clip(outer + side * step, -1, n + 1), outer)
        outer = np.where(wrong & ((outer < 0) | (outer > n)), nobody + side, outer)
        step = np.where(wrong, 2 * step, step)
    while (apart := np.abs(outer - inner) > 1).any():
        middle = np.where(apart, (inner + outer) // 2, inner)
        keep = kept(middle)
        inner, outer = np.where(apart & keep, middle, inner), np.where(apart & ~keep, middle, outer)
    return inner.astype(np.float64)
