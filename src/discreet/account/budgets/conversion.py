"""Conversion: what a budget of (epsilon, delta) buys at one Renyi order, or in Gaussian privacy, rounded down."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import cache, lru_cache

from discreet.account.numeric.checks import Number
from discreet.account.numeric.rounding import DIGITS, MARGIN, decimal, precise, up, zeros

# From here on convergents bound the Mills ratio; so many of them, to sixty digits.
_SERIES, _TERMS = 8, 200


@cache
def _steps() -> list[Fraction]:
    """Return t of two digits for orders 1 + t: all are tried, then hundredths of the best, a thousandth of rho off."""
    return [Fraction(digits) * Fraction(10) ** power for power in range(-6, 9) for digits in range(10, 100)]


@lru_cache(maxsize=1024)
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


@lru_cache(maxsize=1024)
def gaussian_budget(epsilon: Number, delta: Number) -> Fraction:
    """Return the most mu for which mu-Gaussian privacy implies (epsilon, delta): ten digits, rounded down.

    Guarantee: mu-Gaussian privacy with this mu, or less, is (epsilon, delta)-differential privacy: delta is at least
    Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) (Balle and Wang 2018, Theorem 8; Dong, Roth, Su 2022,
    Corollary 2.13), computed in decimals and rounded up. It grows with mu.
    """
    mu, less = _shortened(_guess(up(epsilon), -up(-Fraction(delta)))), Fraction(1, 10**10)
    while gaussian_delta(mu, epsilon) > delta:
        mu, less = _shortened(mu * (1 - less)), min(2 * less, Fraction(1, 2))
    return mu


def _guess(epsilon: float, delta: float) -> Fraction:
    """Return about the most mu, by floats; what is returned for a budget is checked in decimals."""
    from discreet.account.numeric import normal

    low, high = 0.0, 1.0
    while high < 1e150 and normal.delta(high, epsilon) <= delta:
        low, high = high, 2 * high
    while high - low > 1e-12 * high and high > 1e-150:
        middle = (low + high) / 2
        low, high = (middle, high) if normal.delta(middle, epsilon) <= delta else (low, middle)
    return Fraction(low or high)


@lru_cache(maxsize=1024)
def gaussian_delta(mu: Number, epsilon: Number) -> Fraction:
    """Return the delta of mu-Gaussian privacy at an epsilon, rounded up.

    Phi(-a) - e^epsilon Phi(-b) with a = epsilon/mu - mu/2 and b = a + mu, where e^epsilon phi(b) = phi(a): so it is
    phi(a) (M(a) - M(b)), with M the Mills ratio of the upper tail to the density.
    """
    spare = zeros(mu) + zeros(epsilon)
    exact, share = Fraction(mu), Fraction(epsilon)
    near = share / exact - exact / 2
    with precise(2 * DIGITS + 2 * spare):
        below, above = decimal(abs(near)), decimal(near + exact)
        density = (-(below * below) / 2).exp() / (2 * _pi(2 * DIGITS + 2 * spare)).sqrt()
        farther = _mills(above)[0]
        found = density * (_mills(below)[1] - farther)
        if near < 0:  # Phi(-a) is 1 - Phi(a)
            found = 1 - density * (_mills(below)[0] + farther)
        # What was rounded is relative to at most 1, or to the density where that is all there is.
        slip = Decimal(10) ** -(DIGITS + 2 * spare)
        return Fraction(found + slip * (1 if near < 0 else density * (1 + _mills(below)[1])))


def _mills(x: Decimal) -> tuple[Decimal, Decimal]:
    """Return bounds of the Mills ratio (1 - Phi(x))/phi(x) of x >= 0: convergents, or where they are slow a series."""
    if x >= _SERIES:
        # 1/(x + 1/(x + 2/(x + ...))): every term is positive, so neighbouring convergents lie on either side.
        one, two = (_convergent(x, terms) for terms in (_TERMS, _TERMS + 1))
        return min(one, two), max(one, two)
    digits = getcontext().prec
    with precise(digits + 12 + int(x * x / 2)):  # 1/2 - (Phi(x) - 1/2) loses the digits of the density
        density = (-(x * x) / 2).exp() / (2 * _pi(getcontext().prec)).sqrt()
        term, total, place = x, x, 1
        while term > total * Decimal(10) ** -getcontext().prec:
            place += 2
            term = term * x * x / place
            total += term
        found = (Decimal("0.5") / density) - total
    slip = Decimal(10) ** (5 - digits)
    return found * (1 - slip), found * (1 + slip)


def _convergent(x: Decimal, terms: int) -> Decimal:
    found = x
    for place in range(terms, 0, -1):
        found = x + place / found
    return 1 / found


@cache
def _pi(digits: int) -> Decimal:
    """Return pi: 16 arctan(1/5) - 4 arctan(1/239) (Machin)."""
    with precise(digits + 10):
        return 16 * _arctangent(5) - 4 * _arctangent(239)


def _arctangent(inverse: int) -> Decimal:
    term = total = 1 / Decimal(inverse)
    place = 1
    while abs(term) > Decimal(10) ** -getcontext().prec:
        place += 2
        term = -term / (inverse * inverse)
        total += term / place
    return total


def _shortened(amount: Fraction) -> Fraction:
    """Return a decimal of eleven digits that is not above an amount."""
    scale = Fraction(10) ** (11 + zeros(amount) - len(str(int(amount))))
    return Fraction(int(amount * scale)) / scale
