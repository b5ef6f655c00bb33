"""Scalar samplers on Python integers (Canonne, Kamath, Steinke 2020): rare scales, and the tables' oracle.

Nothing here knows of tables, enclosures or floats: the two ways of drawing share only their source of bits.
"""

from __future__ import annotations

from discreet.noise.bits import BitSource
from discreet.noise.enclosure import Ratio


def uniform(source: BitSource, n: int) -> int:
    """Draw from 0 .. n-1, each with probability 1/n."""
    bits = (n - 1).bit_length()
    while True:
        value = source.bits(bits)
        if value < n:
            return value


def bernoulli(source: BitSource, p: Ratio) -> bool:
    """Return True with probability p."""
    return uniform(source, p[1]) < p[0]


def bernoulli_exp(source: BitSource, x: Ratio) -> bool:
    """Return True with probability exp(-x), x >= 0 (their algorithm 1)."""
    top, bottom = x
    whole, rest = divmod(top, bottom)
    return all(_bernoulli_exp_small(source, (1, 1)) for _ in range(whole)) and _bernoulli_exp_small(
        source, (rest, x[1])
    )


def _bernoulli_exp_small(source: BitSource, x: Ratio) -> bool:
    """Return True with probability exp(-x), 0 <= x <= 1: the parity of von Neumann's run of coins."""
    run = 1
    while bernoulli(source, (x[0], x[1] * run)):
        run += 1
    return run % 2 == 1


def geometric(source: BitSource, scale: Ratio) -> int:
    """Draw k >= 0 with probability proportional to exp(-k / scale) (the core of their algorithm 2)."""
    top, bottom = scale
    while True:
        low = uniform(source, top)
        if _bernoulli_exp_small(source, (low, top)):
            break
    high = 0
    while _bernoulli_exp_small(source, (1, 1)):
        high += 1
    return (low + top * high) // bottom


def laplace(source: BitSource, scale: Ratio) -> int:
    """Draw k with probability proportional to exp(-|k| / scale) (their algorithm 2)."""
    while True:
        minus = source.bits(1)
        size = geometric(source, scale)
        if size or not minus:
            return -size if minus else size


def gaussian(source: BitSource, sigma: Ratio) -> int:
    """Draw k with probability proportional to exp(-k**2 / (2 sigma**2)) (their algorithm 3)."""
    top, bottom = sigma
    near = top // bottom + 1
    while True:
        value = laplace(source, (near, 1))
        # (|value| - sigma**2 / near)**2 / (2 sigma**2), over one denominator
        gap = abs(value) * near * bottom**2 - top**2
        if bernoulli_exp(source, (gap**2, 2 * (near * bottom * top) ** 2)):
            return value
