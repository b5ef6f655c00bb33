"""Exact tails of coins: of two kinds of them together, and of how often any coins of a known mean can come up."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Chances = tuple[float, float]

# What lies so many deviations and coins away from the mean has a probability far below any beta.
_DEVIATIONS, _COINS = 9.0, 40
# Levels are taken to be smaller by this share: far more than what a tail's rounding can be.
_MARGIN = 1e-9


def chances(chance: Fraction) -> Chances:
    """Return a probability and that of the opposite, each rounded once: near 1 the latter tells more."""
    return float(chance), float(1 - chance)


def upper(least: NDArray[Any], coins: NDArray[Any], chance: Chances) -> Floats:
    """Return the probability that so many coins come up at least so often."""
    from scipy.special import betainc

    inside = (least > 0) & (least <= coins)
    k, m = np.where(inside, least, 1), np.where(inside, coins, 1)
    return np.where(inside, betainc(k, m - k + 1.0, chance[0]), np.where(least <= 0, 1.0, 0.0))


def lower(most: NDArray[Any], coins: NDArray[Any], chance: Chances) -> Floats:
    """Return the probability that so many coins come up at most so often."""
    return upper(coins - most, coins, (chance[1], chance[0]))


def mean_within(ups: NDArray[Any], coins: NDArray[Any], level: float) -> tuple[Floats, Floats]:
    """Return bounds of the mean number of independent coins that come up, whatever the chances of each are.

    Each bound fails with probability at most `level`. Among all coins of one mean, equal ones reach a number at least 1
    above it most often (Hoeffding 1956, Theorem 5), so the bounds are those of Clopper and Pearson for equal
    coins, moved to at least 1 away from what came up.
    """
    from scipy.special import betaincinv

    k, n = np.asarray(ups, dtype=np.float64), np.asarray(coins, dtype=np.float64)
    some, others = np.maximum(k, 1), np.maximum(n - k, 1)
    share = level * (1 - _MARGIN)
    low = np.where(k > 0, n * betaincinv(some, n - some + 1, share), 0)
    high = np.where(k < n, n - n * betaincinv(others, n - others + 1, share), n)
    return np.clip(np.minimum(low, k - 1), 0, n), np.clip(np.maximum(high, k + 1), 0, n)


def at_least(support: Whole, count: Whole, n: int, own: Chances, other: Chances) -> Floats:
    """Return P(Binomial(count, own) + Binomial(n - count, other) >= support), for each pair of support and count."""
    return _tail(support, count, n, own, other, upper)


def at_most(support: Whole, count: Whole, n: int, own: Chances, other: Chances) -> Floats:
    """Return P(Binomial(count, own) + Binomial(n - count, other) <= support), for each pair of support and count."""
    return _tail(support, count, n, own, other, lower)


def _tail(support: Whole, count: Whole, n: int, own: Chances, other: Chances, tail: Any) -> Floats:  # noqa: ANN401
    """Add up over how often the coins of the lesser variance come up, in a window that holds next to all of it."""
    out = np.empty(len(support))
    rest = n - count
    less = count * own[0] * own[1] <= rest * other[0] * other[1]
    for here, coins, chance, others, opposite in (
        (np.flatnonzero(less), count, own, rest, other),
        (np.flatnonzero(~less), rest, other, count, own),
    ):
        if len(here):
            ups, weights = _window(coins[here], chance)
            left = support[here][:, None] - ups
            out[here] = (weights * tail(left, np.broadcast_to(others[here][:, None], left.shape), opposite)).sum(axis=1)
    return out


def _window(coins: Whole, chance: Chances) -> tuple[Whole, Floats]:
    """Return how often coins come up, a row for each number of coins, and how likely that is."""
    from scipy.special import gammaln, xlogy

    mean, deviation = coins * chance[0], np.sqrt(coins * chance[0] * chance[1])
    half = int(np.ceil(_DEVIATIONS * deviation.max(initial=0))) + _COINS
    half = min(half, int(coins.max(initial=0)) + 1)
    # Rows are as wide as the widest needs, and begin where it fits: what is no number of these coins weighs nothing.
    first = np.clip(np.floor(mean).astype(np.int64) - half, 0, np.maximum(coins - 2 * half, 0))
    ups = first[:, None] + np.arange(2 * half + 1)
    m = coins[:, None]
    there = ups <= m
    k = np.where(there, ups, 0)
    logs = gammaln(m + 1.0) - gammaln(k + 1.0) - gammaln(m - k + 1.0) + xlogy(k, chance[0]) + xlogy(m - k, chance[1])
    return ups, np.where(there, np.exp(logs), 0.0)
