"""Tails: half-widths that noise provably stays within, from rigorous enclosures."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.account.numeric.checks import Number, finite, whole
from discreet.core.errors import BadParameter
from discreet.noise import enclosure
from discreet.noise.enclosure import Ratio
from discreet.noise.law import Bell

_BITS = 192
_SUMMED = 64  # sigma up to which the discrete Gaussian's tail is summed, value by value
_FAINT = Fraction(1, 10**300)


def chance(beta: Number) -> Fraction:
    """Return the chance of a larger error that is accepted: a number strictly between 0 and 1."""
    number = Fraction(finite("beta", beta))
    if not 0 < number < 1:
        raise BadParameter("beta", beta, why="it is the chance of a larger error", fix="use a number such as 0.05")
    return number


def public_size(name: str, *values: int | None) -> int:
    """Return the first public size that was given; without any there is no bound to state."""
    given = next((value for value in values if value is not None), None)
    if given is None:
        why = f"the error depends on the number of {name}, which is not declared"
        raise BadParameter(name, None, why=why, fix=f"declare {name}= with the mechanism, or pass {name}= here")
    return whole(name, given)


def least(holds: Callable[[int], bool], start: int = 0) -> int:
    """Return the least integer from `start` on for which a monotone statement holds."""
    if holds(start):
        return start
    width = 1
    while not holds(start + width):
        width *= 2
    low, high = start + width // 2, start + width
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def power(rate: Ratio, times: int, bits: int) -> tuple[Fraction, Fraction]:
    """Enclose e**(-times * rate)."""
    low, high = enclosure.exp((rate[0] * times, rate[1]), bits)
    return Fraction(low, 1 << bits), Fraction(high, 1 << bits)


def laplace(scale: Fraction, beta: Fraction) -> int:
    """Return the least h with P(|X| > h) <= beta for discrete Laplace noise X: exact, 2 q^(h+1) / (1 + q) <= beta."""
    rate = (scale.denominator, scale.numerator)
    bits = _bits(beta)
    q = power(rate, 1, bits)[0]
    return least(lambda h: 2 * power(rate, h + 1, bits)[1] <= beta * (1 + q))


def laplace_difference(scale: Fraction, beta: Fraction) -> int:
    """Return the least h with P(X - Y > h) <= beta for independent discrete Laplace X, Y.

    X - Y = k has probability ((1 - q)/(1 + q))^2 q^|k| (|k| + (1 + q^2)/(1 - q^2)), the convolution summed by hand.
    """
    rate = (scale.denominator, scale.numerator)
    bits = _bits(beta) + 4 * max(1, math.ceil(scale)).bit_length()
    low, high = power(rate, 1, bits)
    weight = ((1 - low) / (1 + low)) ** 2
    spread = (1 + high**2) / (1 - high**2)
    rest = high / (1 - high) ** 2

    def holds(h: int) -> bool:
        return weight * power(rate, h + 1, bits)[1] * ((h + 1 + spread) / (1 - high) + rest) <= beta

    return least(holds)


def gaussian(sigma: Fraction, beta: Fraction) -> int:
    """Return an h with P(|X| > h) <= beta for discrete Gaussian noise X: the least one up to sigma 64.

    Above, P(X >= m) <= P(N(0, sigma^2) >= m - 1), because e^(-k^2/(2 sigma^2)) summed from m is below its integral from
    m - 1 while the sum over all integers exceeds sigma sqrt(2 pi) (Poisson summation); h is at most one too large. For
    a beta beyond the floats, P(|N(0, 1)| >= t) <= e^(-t^2/2) is used.
    """
    if sigma <= _SUMMED:
        bits = _bits(beta)
        ladder = Bell((sigma.denominator**2, 2 * sigma.numerator**2)).ladder(bits)
        # P(X <= -h - 1), doubled; what an open end hides is below 2**-bits.
        return least(lambda h: 2 * (_at(ladder.high, -h - 1 - ladder.first) + 1) <= beta * (1 << bits))
    from scipy.special import ndtri

    if beta < _FAINT:
        width = math.sqrt(2 * (math.log(beta.denominator) - math.log(beta.numerator)))
    else:
        width = -float(ndtri(float(beta) / 2))
    # The margin is far above the rounding of logarithms and of ndtri, and far below a step.
    return math.ceil(Fraction(width * (1 + 1e-9)) * sigma)


def _at(values: list[int], place: int) -> int:
    return values[place] if place >= 0 else 0


def _bits(beta: Fraction) -> int:
    return _BITS + max(0, beta.denominator.bit_length() - beta.numerator.bit_length())
