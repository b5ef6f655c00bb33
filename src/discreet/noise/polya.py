"""Polya noise: a share of a geometric number, such that shares of several people add up to the whole, exactly."""

from __future__ import annotations

import math
from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter
from discreet.noise import rejection
from discreet.noise.bernoulli import bernoulli
from discreet.noise.bits import BitSource, current
from discreet.noise.enclosure import Ratio
from discreet.noise.geometric import geometric
from discreet.noise.inversion import Integers
from discreet.noise.sampling import Number, Size, exact, pack, positive, shape


@overload
def polya(share: Number, scale: Number, size: None = None) -> int: ...
@overload
def polya(share: Number, scale: Number, size: int | tuple[int, ...]) -> Integers: ...
def polya(share: Number, scale: Number, size: Size = None) -> int | Integers:
    """Draw k >= 0 with probability Gamma(k + share) / (k! Gamma(share)) (1 - q)^share q^k, where q = exp(-1 / scale).

    Guarantee: exact. Independent draws whose shares sum to 1 sum to a geometric number of that scale. A share alone is
    not differentially private; the difference of two whole sums is discrete Laplace noise.

    A geometric number is the size of a random permutation whose cycles of length j are independent Poisson numbers of
    mean q^j / j (Shepp and Lloyd 1966). To keep each cycle with probability `share` multiplies these means by it, and
    what is kept is then the Polya (negative binomial) law. No transcendental function meets a random bit.
    """
    part, width = _share(share), positive("scale", scale)
    if size is None:
        return _one(current(), part, width)
    dimensions = shape(size)
    count = math.prod(dimensions)
    whole = geometric(scale, count)
    if whole.dtype == object:  # a scale, or a number drawn, beyond 64 bits
        return pack([_cycles(current(), part, each) for each in whole.tolist()], narrow=True).reshape(dimensions)
    return _kept(current(), share, whole.astype(np.int64)).reshape(dimensions)


def _share(share: Number) -> Ratio:
    ratio = exact("share", share)
    if not 0 < ratio[0] <= ratio[1]:
        why = "a share is a part of one whole"
        raise BadParameter("share", share, why=why, fix="use Fraction(1, m), with m people who each add one")
    return ratio


def _one(source: BitSource, share: Ratio, scale: Ratio) -> int:
    return _cycles(source, share, rejection.geometric(source, scale))


def _cycles(source: BitSource, share: Ratio, left: int) -> int:
    """Draw the cycles of one permutation: that of its first element has a length uniform in 1 .. size, and so on."""
    kept = 0
    while left:
        cycle = 1 + rejection.uniform(source, left)
        if rejection.bernoulli(source, share):
            kept += cycle
        left -= cycle
    return kept


def _kept(source: BitSource, share: Number, left: NDArray[np.int64]) -> NDArray[np.int64]:
    """Do the same for many permutations at once, a cycle of each at a time; `left` is used up."""
    kept = np.zeros_like(left)
    active = np.flatnonzero(left)
    while active.size:
        sizes = left[active]
        cycles = 1 + _below(source, sizes)
        kept[active] += cycles * bernoulli(share, len(active))
        sizes -= cycles
        left[active] = sizes
        active = active[sizes > 0]
    return kept


def _below(source: BitSource, bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw from 0 .. bound-1 for each bound: as many bits as bound - 1 has, again where that is too large."""
    masks = bounds - 1
    for shift in (1, 2, 4, 8, 16, 32):
        masks |= masks >> shift
    width = 32 if int(masks.max(initial=0)) < 1 << 32 else 64
    out = source.words(len(bounds), width).astype(np.int64) & masks
    again = np.flatnonzero(out >= bounds)
    if again.size:
        out[again] = _below(source, bounds[again])
    return out
