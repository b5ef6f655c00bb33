"""The laws of noise in 400-bit arithmetic, written from their definitions and nothing else."""

from collections.abc import Callable
from fractions import Fraction

from mpmath import mp, mpf

PRECISION = 400
GRID = [Fraction(1, 10**6), Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(22, 7), Fraction(10), Fraction(64)]
LARGE = [Fraction(100), Fraction(10**4), Fraction(10**7), Fraction(2**40)]

mp.prec = PRECISION


def number(value: Fraction) -> mpf:
    """Write a rational in high precision."""
    return mpf(value.numerator) / value.denominator


def laplace(scale: Fraction) -> Callable[[int], mpf]:
    """P(X = k) of the discrete Laplace law."""
    q = mp.exp(-1 / number(scale))
    return lambda k: (1 - q) / (1 + q) * mp.exp(-abs(k) / number(scale))


def geometric(scale: Fraction) -> Callable[[int], mpf]:
    """P(X = k) of the geometric law."""
    return lambda k: (1 - mp.exp(-1 / number(scale))) * mp.exp(-k / number(scale)) if k >= 0 else mpf(0)


def gaussian(sigma: Fraction) -> Callable[[int], mpf]:
    """P(X = k) of the discrete Gaussian law (small sigma: the sum of weights is taken term by term)."""

    def weight(k: int) -> mpf:
        return mp.exp(-(mpf(k) ** 2) / (2 * number(sigma) ** 2))

    reach = int(25 * sigma) + 30
    total = 1 + 2 * mp.fsum(weight(k) for k in range(1, reach))
    return lambda k: weight(k) / total


def signed_below(rate: Fraction, flip: Fraction) -> Callable[[int], mpf]:
    """P(H <= h) where H is a geometric g with a plus sign, or -1 - g with weight exp(-flip)."""
    minus = mp.exp(-number(flip)) / (1 + mp.exp(-number(flip)))

    def at_most(h: int) -> mpf:
        tail = mp.exp(-number(rate) * (h + 1 if h >= 0 else -h - 1))
        return 1 - (1 - minus) * tail if h >= 0 else minus * tail

    return at_most


def bell_below(sigma: Fraction, width: int) -> Callable[[int], mpf]:
    """P(H <= h) for bins [h width, (h+1) width) weighed by their most likely value."""
    reach = int(25 * sigma / width) + 30
    twice = 2 * number(sigma) ** 2

    def weight(h: int) -> mpf:
        nearest = min((abs(h * width), abs(h * width + width - 1)))
        return mp.exp(-(mpf(nearest) ** 2) / twice)

    weights = [weight(h) for h in range(-reach, reach + 1)]
    total = mp.fsum(weights)
    sums = [mpf(0)]
    for each in weights:
        sums.append(sums[-1] + each)
    return lambda h: sums[max(0, min(h + reach + 1, len(sums) - 1))] / total
