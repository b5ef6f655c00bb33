"""The majority of coins that are biased towards the truth."""

from __future__ import annotations

import math

from discreet.account.numeric.checks import Number, positive, whole


def majority(epsilon: Number, times: int) -> float:
    """Return how often the majority of so many answers at epsilon each is right; a tie is decided by a coin.

    Theorem: no other guess is right more often, for any answers at epsilon each (Kairouz, Oh and Viswanath 2015).
    """
    rate, count = float(positive("epsilon", epsilon)), whole("times", times)
    right, wrong = -math.log1p(math.exp(-rate)), -rate - math.log1p(math.exp(-rate))
    total = 0.0
    for hits in range((count + 1) // 2, count + 1):
        ways = math.lgamma(count + 1) - math.lgamma(hits + 1) - math.lgamma(count - hits + 1)
        chance = math.exp(ways + hits * right + (count - hits) * wrong)
        total += chance / 2 if 2 * hits == count else chance
    return min(1.0, total)
