"""Spread: how far a weighted sum of independent noises strays, with at least a given probability."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TypeAlias

from discreet.answers.quantity import Law, LinearQuantity
from discreet.mechanisms.parts import tails
from discreet.noise.arrays import NDArray, np

Array: TypeAlias = "NDArray[np.float64]"
# One kind of noise in a sum: the size of its coefficient, its law and scale, and how often it occurs.
Term = tuple[Fraction, Law, Fraction, int]

_POWERS = (2, 3)  # so many noises of one law and scale have a sum with a closed form
_WIDEST = 1 << 500  # where floats can compute it
_REACH = 1e-12  # what is left out of each noise, and what the sum may wrap around, in probability
_ROUNDING = 1e-9  # far above what floats lose over a transform
_STRAY = 1e-5  # the chance that rounding to the grid adds up to more than is allowed for
_CELLS = (1 << 13) - 8  # a little below a power of two, for the transform
_MOST_CELLS = (1 << 20) - 8


def terms_of(linear: LinearQuantity) -> tuple[Term, ...]:
    """Return what decides the law of a weighted sum: noises are symmetric, so signs do not."""
    counted: dict[tuple[int, int, Law, int, int], int] = {}  # integers: fractions are slow keys
    for weight, noisy in linear.terms:
        key = abs(weight.numerator), weight.denominator, noisy.law, noisy.scale.numerator, noisy.scale.denominator
        counted[key] = counted.get(key, 0) + 1
    return tuple(sorted((Fraction(a, b), law, Fraction(c, d), count) for (a, b, law, c, d), count in counted.items()))


@lru_cache(maxsize=4096)
def half_width(terms: tuple[Term, ...], level: float) -> Fraction:
    """Return an h such that the weighted sum lies within h of zero with probability at least `level`.

    One noise: the least h, from proven tails. Two or three of one Laplace law: the least h, in closed form. Others: the
    sum's law on their common lattice, by Fourier transform, where the lattice is coarse enough to be written down; then
    h is the least one except for rounding errors. Otherwise
    every noise is rounded to a grid first, to the nearest and symmetrically, so the errors have mean zero and,
    together, exceed what is added to h with probability at most 1e-5 (Hoeffding 1963), which the level pays for.
    """
    if not terms:
        return Fraction(0)
    if len(terms) == 1 and terms[0][3] == 1:
        weight, law, scale, _ = terms[0]
        tail = tails.laplace if law == "laplace" else tails.gaussian
        return weight * tail(scale, 1 - Fraction(repr(level)))
    if len(terms) == 1 and terms[0][1] == "laplace" and terms[0][3] in _POWERS and terms[0][2] < _WIDEST:
        weight, law, scale, count = terms[0]
        return weight * _least(float(scale), count, math.ceil(_reach(((Fraction(1), law, scale, count),))), level)
    reach = _reach(terms)
    lattice = _lattice(terms)
    count = sum(term[3] for term in terms)
    cells = min(_MOST_CELLS, _CELLS * max(1, math.isqrt(count // 4)))
    if 2 * reach <= lattice * max(cells, 8 * _CELLS):
        return _quantile(terms, lattice, reach, level)
    grid = Fraction(2 * reach / cells)
    slack = min(Fraction(count, 2), Fraction(math.sqrt(math.log(2 / _STRAY) * count / 2)))
    return _quantile(terms, grid, reach, level + _STRAY) + slack * grid


def _least(scale: float, count: int, most: int, level: float) -> int:
    """Return the least h <= most that bounds the sum of two or three discrete Laplace noises with that probability."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if beyond(scale, count, middle) <= 1 - level - _ROUNDING:
            high = middle
        else:
            low = middle + 1
    return low


def beyond(scale: float, count: int, h: int) -> float:
    """Return P(|sum| > h) for two or three independent discrete Laplace noises.

    Each is the difference of two geometric variables, so the sum is that of two negative binomial ones: with q =
    e^(-1 / scale), P(sum = s) = (1 - q)^(2 count) q^s p(s) for s >= 0, where p has degree count - 1, and coefficients
    that are series in x = q^2. No term is negative, so floats lose next to nothing; `share` is (1 - q) / (1 - x).
    """
    q, rest = math.exp(-1 / scale), -math.expm1(-1 / scale)
    x, share = q * q, -rest / math.expm1(-2 / scale)
    first = (h + 1) * rest
    if count == 2:
        found = (1 + x) * share**3 + share**2 * (first + q)
    else:
        found = (1 + 4 * x + x * x) * share**5 + (3 * x * share**4 + 1.5 * rest * share**3) * (first + q)
        found += 0.5 * share**3 * (first * first + 2 * first * q + q * (1 + q))
    return 2 * math.exp(-(h + 1) / scale) * found


def _reach(terms: tuple[Term, ...]) -> float:
    """Return a distance that the sum exceeds with probability below 1e-11 (Chernoff's bound).

    Discrete Laplace noise of scale b has moment generating function at most 1 / (1 - (lambda b)^2), the continuous
    one's, which is the discrete one plus independent noise of mean zero; discrete Gaussian noise at most
    e^(lambda^2 sigma^2 / 2) (Canonne, Kamath, Steinke 2020).
    """
    sizes = [(float(weight * scale), law, count) for weight, law, scale, count in terms]
    widest = max((size for size, law, _ in sizes if law == "laplace"), default=0.0)
    spread = math.sqrt(sum(count * size**2 for size, _, count in sizes))
    odds = math.log(2 / _REACH)
    best = math.inf
    for share in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0):
        rate = share / widest if widest and share < 1 else share / spread
        if rate * widest >= 0.99:
            continue
        power = sum(
            count * (-math.log1p(-((rate * size) ** 2)) if law == "laplace" else (rate * size) ** 2 / 2)
            for size, law, count in sizes
        )
        best = min(best, (power + odds) / rate)
    return best


def _lattice(terms: tuple[Term, ...]) -> Fraction:
    """Return the largest step of which every coefficient is a multiple."""
    below = math.lcm(*(weight.denominator for weight, *_ in terms))
    return Fraction(reduce(math.gcd, (int(weight * below) for weight, *_ in terms)), below)


def _quantile(terms: tuple[Term, ...], grid: Fraction, reach: float, level: float) -> Fraction:
    """Return the least multiple h of the grid with P(|sum| <= h) >= level, the noises rounded to the grid.

    On a circle of so many cells the sum wraps around with probability below 1e-11: that much is taken off.
    """
    half = math.ceil(reach / grid) + 1
    cells = 1 << (2 * half).bit_length()
    spectrum: NDArray[np.complex128] = np.ones(cells // 2 + 1, dtype=np.complex128)
    for weight, law, scale, count in terms:
        law_of_one = _rounded(law, scale, weight / grid, cells)
        spectrum *= np.fft.rfft(law_of_one) ** count
    chances = np.fft.irfft(spectrum, cells)
    inside = chances[0] + np.concatenate([[0.0], np.cumsum(chances[1 : cells // 2] + chances[-1 : -cells // 2 : -1])])
    found = int(np.searchsorted(inside, level + _ROUNDING, side="left"))
    return min(found, half) * grid


def _rounded(law: Law, scale: Fraction, steps: Fraction, cells: int) -> Array:
    """Return the law of one noise times `steps`, rounded to the nearest integer, on a circle of cells."""
    out = np.zeros(cells)
    width = float(steps)
    half = cells // 2 - 1
    if width >= 1:
        # Every value has a cell of its own; those beyond the circle are too unlikely to matter.
        values = np.arange(0, int(half / width) + 1)
        places = np.floor(values * width + 0.5).astype(np.int64) if steps.denominator != 1 else values * int(steps)
        chances = masses(law, float(scale), values)
        keep = places <= half
        out[places[keep]] += chances[keep]
        out[-places[keep][1:]] += chances[keep][1:]
        return out
    # Cell j > 0 holds the values k with (j - 1/2) <= k steps < (j + 1/2).
    # As floats: noise of a price near zero is wider than any integer of 64 bits.
    with np.errstate(divide="ignore"):  # steps too small for a float: all of the noise lies within the first cell
        edges = np.ceil((np.arange(half + 2) - 0.5) / width)
    edges[0] = 0
    beyond = upper(law, float(scale), np.maximum(edges, 1))
    inner = beyond[:-1] - beyond[1:]
    out[: half + 1] = inner
    out[0] = 1 - 2 * beyond[1]
    out[-1 : -half - 1 : -1] = inner[1:]
    return out


def masses(law: Law, scale: float, values: NDArray[np.int64]) -> Array:
    """Return the probability of each integer."""
    if law == "laplace":
        q = math.exp(-1 / scale)
        chances: Array = np.exp(-np.abs(values) / scale) * ((-math.expm1(-1 / scale)) / (1 + q))
        return chances
    weights: Array = np.exp(-0.5 * (values / scale) ** 2)
    return weights / _normaliser(scale)


def upper(law: Law, scale: float, values: Array) -> Array:
    """Return P(noise >= k) for every k >= 1 among the values."""
    if law == "laplace":
        q = math.exp(-1 / scale)
        chances: Array = np.exp(-values / scale) / (1 + q)
        return chances
    from scipy.special import ndtr

    if scale > 1 << 15:
        # Euler and Maclaurin: off by at most sup |density'| / 24, below 1e-11 here.
        tail: Array = ndtr(-(values - 0.5) / scale)
        return tail
    most = math.ceil(12 * scale) + 1  # beyond lies less than 1e-30
    sums = np.concatenate([np.cumsum(masses("gaussian", scale, np.arange(most, 0, -1)))[::-1], [0.0]])
    tail_sums: Array = sums[np.minimum(values, most + 1).astype(np.int64) - 1]
    return tail_sums


def _normaliser(scale: float) -> float:
    if scale > 4:
        return scale * math.sqrt(2 * math.pi)  # exact except for e^(-2 pi^2 scale^2), by Poisson summation
    k = np.arange(-int(40 * scale) - 40, int(40 * scale) + 41)
    return float(np.exp(-0.5 * (k / scale) ** 2).sum())
