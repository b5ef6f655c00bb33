"""Inversion: the interval of a quotient, as all values that a test at the level does not exclude (Fieller 1954)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from discreet.answers.moment_inversion import bounded_quotient
from discreet.answers.quantity import Law, RatioQuantity, to_float
from discreet.answers.spread import half_width, masses, terms_of
from discreet.noise.arrays import NDArray, np

_COARSE = 8  # noise of a smaller scale is counted value by value
_HALVINGS = 40
_PIECES = 48
_DENOMINATOR = 1 << 40
_ZERO = Fraction(0)

Pair = tuple[float, float]
Array: TypeAlias = "NDArray[np.float64]"


def quotient(ratio: RatioQuantity, level: float) -> Pair:
    """Return an interval that covers the quotient of the exact sums with probability at least `level`.

    The exact quotient m makes above - m below zero, so m is excluded where the noise of the noisy difference is as
    large as that with probability at most 1 - level: all tests here bound that one probability from above, so the
    true m is excluded with probability at most 1 - level. The excluded values on either side of the estimate form an
    interval, because the half-width of a weighted sum of symmetric log-concave noises is a norm of the weights (Bobkov
    2010): so the search runs from the estimate outwards. Where nothing is excluded the declared bounds remain; and so
    do they where everything is, since the noise has then carried the estimate farther out than it does at the level.
    """
    low, high = _float(ratio.low, -math.inf), _float(ratio.high, math.inf)
    above, below = to_float(ratio.above.estimate), to_float(ratio.below.estimate)
    bounded = math.isfinite(low) and math.isfinite(high)
    if (bounded and below <= 0) or not math.isfinite(above) or not math.isfinite(below):
        return low, high
    if not bounded and abs(ratio.below.estimate) <= half_width(terms_of(ratio.below), level):
        return low, high  # the size may be zero: the quotient may be anything
    start = min(max(above / below, low), high)
    test = _Test(ratio, level)
    if not test.closed and (found := bounded_quotient(ratio, level)) is not None:
        return found
    if test.excludes(start):
        return low, high
    return _end(test, start, low, -1.0), _end(test, start, high, 1.0)


class _Test:
    """The test that a value is the quotient; noises of the same weights, law and scale are one entry with a count."""

    __slots__ = ("_above", "_below", "_constants", "_counts", "_kinds", "_level", "_scales", "_weights")

    def __init__(self, ratio: RatioQuantity, level: float) -> None:
        self._level = level
        self._constants = to_float(ratio.above.estimate), to_float(ratio.below.estimate)
        groups = _grouped(ratio)
        self._weights = [(a, b) for a, b, _, _ in groups]
        self._kinds = [(law, scale) for _, _, law, scale in groups]
        self._counts = list(groups.values())
        self._above, self._below = ([to_float(each[side]) for each in self._weights] for side in (0, 1))
        self._scales = [to_float(scale) for _, scale in self._kinds]

    @property
    def closed(self) -> bool:
        """Whether the spread of the difference has a closed form: that of two noises of one law."""
        return self._counts == [1, 1] and self._kinds[0][0] == self._kinds[1][0]

    @property
    def coarse(self) -> bool:
        """Whether the lattice of both noises shows, and their values are few enough to be listed."""
        return self.closed and max(self._scales) < _COARSE

    def excludes(self, m: float) -> bool:
        """Return whether the difference is too large for its noise."""
        if not self.closed:
            return self.margin(m) > 0
        weights = [abs(a - m * b) for a, b in zip(self._above, self._below, strict=True)]
        return self._tail(weights, abs(self._difference(m))) <= 1 - self._level

    def margin(self, m: float) -> float:
        """Return by how much the difference is larger than the half-width of its noise."""
        size = abs(self._difference(m))
        if self._counts == [1]:  # one noise: its half-width is that of the integer, times its weight
            return size - abs(self._above[0] - m * self._below[0]) * float(
                half_width(((Fraction(1), *self._kinds[0], 1),), self._level)
            )
        short = Fraction(m).limit_denominator(_DENOMINATOR)
        sums = [
            (abs(a - short * b), *kind, count)
            for (a, b), kind, count in zip(self._weights, self._kinds, self._counts, strict=True)
        ]
        return size - to_float(half_width(tuple(sorted(each for each in sums if each[0])), self._level))

    def _difference(self, m: float) -> float:
        return self._constants[0] - m * self._constants[1]

    def guess(self, start: float) -> float:
        """Return a distance beyond which values are likely to be excluded."""
        scale = math.hypot(
            *(s * (a - start * b) for a, b, s in zip(self._above, self._below, self._scales, strict=True))
        )
        return 3 * scale / abs(self._constants[1]) or 1e-9 * max(abs(start), 1.0)

    def _tail(self, weights: list[float], size: float) -> float:
        """Bound the chance that the noise of the difference is at least `size`.

        A noise of large scale is within 1 of a continuous one, drawn with it (see `tail`); one of small scale beside it
        is taken value by value.
        """
        law = self._kinds[0][0]
        fine, coarse = (
            [(weight, scale) for weight, scale in zip(weights, self._scales, strict=True) if (scale < _COARSE) is small]
            for small in (False, True)
        )
        if not (fine and coarse):
            fine, coarse = fine + coarse, []
        room = size - sum(weight for weight, _ in fine)
        sizes = [weight * scale for weight, scale in fine]
        if not coarse:
            return tail(law, sizes, room) if room > 0 else 1.0
        ((weight, scale),) = coarse
        values, chances = _listed(law, scale)
        rooms = room - weight * values
        # The listed values are symmetric, so either side of zero has the same chance.
        return 2 * float(chances @ one_sided(law, sizes[0], rooms)) + 1.0 - float(chances.sum())

    def excluded_pieces(self, edges: Array) -> NDArray[np.bool_]:
        """Return for each piece between neighbouring edges whether the test excludes all of it, by listing values.

        A sum that is linear in m is within a piece at most as large as at one of its ends.
        """
        (one, chance), (other, chances) = (_listed(law, to_float(scale)) for law, scale in self._kinds)
        weights = np.outer(chance, chances).ravel()
        a, b = (above - edges * below for above, below in zip(self._above, self._below, strict=True))
        sums = np.abs(np.multiply.outer(a, one)[:, :, None] + np.multiply.outer(b, other)[:, None, :])
        largest = np.maximum(sums[:-1], sums[1:]).reshape(len(edges) - 1, -1)
        sizes = np.abs(self._constants[0] - edges * self._constants[1]) * (1 - 1e-12)
        reached = largest >= np.minimum(sizes[:-1], sizes[1:])[:, None]
        found: NDArray[np.bool_] = reached @ weights + max(0.0, 1.0 - float(weights.sum())) <= 1 - self._level
        return found


def _end(test: _Test, start: float, bound: float, side: float) -> float:
    """Return where exclusion begins on one side of the estimate, erring outwards."""
    outer = _outside(test, start, bound, side)
    if outer is None:
        return bound
    if not test.closed:
        return _secants(test, start, outer)
    outer = _halvings(test, start, outer)
    if not test.coarse:
        return outer
    edges = np.linspace(outer, start, _PIECES + 1)
    kept = np.flatnonzero(~test.excluded_pieces(edges))
    return float(edges[kept[0]]) if len(kept) else start


def _outside(test: _Test, start: float, bound: float, side: float) -> float | None:
    """Return an excluded value on one side, or None where there is none within the bound."""
    if math.isfinite(bound):
        return bound if test.excludes(bound) else None
    step = test.guess(start)
    for _ in range(200):
        if test.excludes(start + side * step):
            return start + side * step
        step *= 2
    return None


def _halvings(test: _Test, inner: float, outer: float) -> float:
    """Return an excluded value that is next to one that is not."""
    whole = abs(outer - inner)
    for _ in range(_HALVINGS):
        middle = (inner + outer) / 2
        if middle in (inner, outer) or abs(outer - inner) <= 1e-7 * whole:
            break
        inner, outer = (inner, middle) if test.excludes(middle) else (middle, outer)
    return outer


def _secants(test: _Test, inner: float, outer: float) -> float:
    """Do the same where every look is dear: the margin is nearly straight, so a line finds where it ends."""
    below, above = test.margin(inner), test.margin(outer)
    near = -1e-3 * below  # a thousandth of the half-width, by which the interval may be too wide
    for _ in range(_HALVINGS):
        if above <= near:
            break
        # Just outside of where the line crosses zero, so it ends there.
        middle = inner + (outer - inner) * min(0.98, (near / 2 - below) / (above - below))
        margin = test.margin(middle)
        inner, below, outer, above = (inner, below, middle, margin) if margin > 0 else (middle, margin, outer, above)
    return outer


def tail(law: Law, sizes: list[float], distance: float) -> float:
    """Return P(|aX + bY| > distance) for independent continuous X, Y of one law with scale 1, a and b being `sizes`.

    Discrete Laplace noise of scale b is the difference of two rounded-down exponential variables of mean b, so it is
    within 1 of the continuous one; discrete Gaussian noise too, drawn with the same uniform, since its tails lie
    between those of the continuous one a step before and a step after.
    """
    if law == "gaussian":
        return math.erfc(distance / math.sqrt(2 * sum(size**2 for size in sizes))) if any(sizes) else 0.0
    large, small = max(sizes), min(sizes) if len(sizes) == 2 else 0.0
    if not large:
        return 0.0
    if small > 0.999 * large:  # equal ones are a little wider: an upper bound, without a difference of equals
        return (1 + distance / (2 * large)) * math.exp(-distance / large)
    rest = small**2 * math.exp(-distance / small) if small else 0.0
    return (large**2 * math.exp(-distance / large) - rest) / (large**2 - small**2)


def one_sided(law: Law, size: float, distances: Array) -> Array:
    """Return P(aX >= d) for one continuous X of a law with scale 1, a being its `size`, and each distance d."""
    if not size:
        return (distances <= 0).astype(np.float64)
    if law == "gaussian":
        from scipy.special import ndtr

        beyond: Array = ndtr(-distances / size)
        return beyond
    half = np.exp(-np.abs(distances) / size) / 2
    return np.where(distances >= 0, half, 1 - half)


def _listed(law: Law, scale: float) -> tuple[Array, Array]:
    reach = math.ceil((9.0 if law == "laplace" else 4.5) * scale) + 1
    values = np.arange(-reach, reach + 1)
    return values.astype(np.float64), masses(law, scale, values)


def _grouped(ratio: RatioQuantity) -> dict[tuple[Fraction, Fraction, Law, Fraction], int]:
    """Count the noises of each pair of weights (above, below), law and scale."""
    above = {noisy: weight for weight, noisy in ratio.above.terms}
    counts: dict[tuple[Fraction, Fraction, Law, Fraction], int] = {}
    shared = set()
    for weight, noisy in ratio.below.terms:
        if noisy in above:
            shared.add(noisy)
        key = above.get(noisy, _ZERO), weight, noisy.law, noisy.scale
        counts[key] = counts.get(key, 0) + 1
    for noisy, weight in above.items():
        if noisy not in shared:
            key = weight, _ZERO, noisy.law, noisy.scale
            counts[key] = counts.get(key, 0) + 1
    return counts


def _float(bound: Fraction | None, default: float) -> float:
    return default if bound is None else to_float(bound)
