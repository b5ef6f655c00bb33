"""Conversion: what a budget of (epsilon, delta) buys at one Renyi order, rounded down."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, lru_cache

from discreet.account.numeric.checks import Number
from discreet.account.numeric.rounding import DIGITS, MARGIN, decimal, precise, up, zeros


@cache
def _steps() -> list[Fraction]:
    """Return t of two digits for orders 1 + t: all are tried, then hundredths of the best, a thousandth of rho off."""
    return [Fraction(digits) * Fraction(10) ** power for power in range(-6, 9) for digits in range(10, 100)]


@lru_cache(maxsize=256)
def renyi_budget(epsilon: Number, delta: Number, alpha: Number) -> Fraction:
    """Return the most Renyi epsilon at order alpha that implies (epsilon, delta), rounded down.

    Guarantee: (alpha, e)-Renyi privacy with e at most this number is (epsilon, delta)-differential privacy (Canonne,
    Kamath, Steinke 2020, Proposition 12).
    """
    gap = Fraction(alpha) - 1
    with precise(DIGITS + zeros(gap) + zeros(epsilon) + len(str(int(alpha)))):
        order, above = decimal(alpha), decimal(gap)
        parts = (decimal(epsilon), -(above / order).ln(), (decimal(delta) * order).ln() / above)
        # The margin is relative to the largest part, since they may cancel.
        return Fraction(sum(parts) - MARGIN * max(abs(part) for part in parts))


@lru_cache(maxsize=256)
def best_order(epsilon: Number, delta: Number) -> Fraction:
    """Return a short decimal: the order at which (epsilon, delta) buys the most rho, or nearly so."""
    target, log_delta = float(epsilon), _log(delta)

    def rho(step: Fraction) -> float:
        above = float(step)
        order = 1 + above
        return (target + math.log1p(1 / above) + (log_delta + math.log(order)) / above) / order

    rough = max(_steps(), key=rho)
    return 1 + max((rough * Fraction(100 + percent, 100) for percent in range(-10, 11)), key=rho)


def _log(value: Number) -> float:
    exact = Fraction(value)
    return math.log(exact.numerator) - math.log(exact.denominator)


def zcdp_budget(epsilon: Number, delta: Number) -> float:
    """Return the most rho for which rho-zCDP implies (epsilon, delta), to within 1e-9 of itself and rounded down."""
    step = float(best_order(epsilon, delta) - 1)
    low, high = step * 0.8, step * 1.25
    while high - low > 1e-6 * step:
        # rho has one peak over the orders; a third of the interval that cannot hold it goes each time.
        third = (high - low) / 3
        if _rho(epsilon, delta, low + third) < _rho(epsilon, delta, high - third):
            low += third
        else:
            high -= third
    alpha = 1 + Fraction(low)
    return -up(-renyi_budget(epsilon, delta, alpha) / alpha)


def _rho(epsilon: Number, delta: Number, step: float) -> float:
    alpha = 1 + Fraction(step)
    return float(renyi_budget(epsilon, delta, alpha) / alpha)
