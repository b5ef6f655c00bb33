"""Sampling: intervals of what a population has, from a noisy answer about rows that were drawn from it.

The rows, or people with all of their rows, were drawn independently from one population. An interval holds the value
that the population has (for a count or a sum: what samples of this kind have on average) with probability at least 95%
over sampling *and* noise, nearly so where few rows were sampled. A value is kept where the distance of the noisy sums
from it is at most

    sqrt(h^2 + z^2 v) + c,

h being the half-width of the noise, v the largest variance that sampling may have if that value is the right one (as in
the score interval of Wilson 1927), and c half of what one unit may add. v is bounded by what is declared: a value
between two bounds with mean m has at most the variance (m - low)(high - m) (Bhatia and Davis 2000), and k rows of one
person together at most k times the sum of theirs. So it errs on the wide side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.answers.column import SampledRows
from discreet.answers.functions import value_of
from discreet.answers.interval import Pair, interval
from discreet.answers.noise_tail import reaches
from discreet.answers.quantity import (
    BracketedValue,
    FunctionQuantity,
    LinearQuantity,
    NoisyInteger,
    PublicValue,
    Quantity,
    RatioQuantity,
    leaves,
    to_float,
)
from discreet.answers.spread import half_width, terms_of

Array = NDArray[np.float64]
Ends = tuple[float, float]

_GRID = 801
_CERTAIN = 0.99  # the level at which a group is no larger, or no smaller, than is supposed


def sampled(quantity: Quantity, rows: SampledRows | None, level: float, spread: Quantity | None = None) -> Pair | None:
    """Return an interval that covers what the population has; None where none can be told.

    `spread` is the variance of the values of a mean in the same group, if it is known: without it a mean has the
    largest that its bounds allow.
    """
    if isinstance(quantity, PublicValue):
        return interval(quantity, level)
    if rows is None:
        return None
    match quantity:
        case LinearQuantity():
            return _of_sum(quantity, rows, level)
        case RatioQuantity():
            return _of_quotient(quantity, rows, level, spread)
        case FunctionQuantity("covariance", parts) if parts[0] == parts[1]:
            return _of_variance(quantity, rows, level)
        case FunctionQuantity("sum", parts, weights):
            return _of_several(parts, weights, rows, level)
        case FunctionQuantity("root" | "round" | "absolute" | "clip" | "settled", (part,)):
            return _carried(quantity, sampled(part, rows, level, spread))
    return None


def _normal(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def _of_sum(linear: LinearQuantity, rows: SampledRows, level: float) -> Ends | None:
    """Solve (t - x)^2 = h^2 + z^2 k m x for x, t being the noisy sum, of which each row has at most m."""
    largest = rows.largest
    if largest is None or rows.low is None:
        return None
    side = -1.0 if rows.low < 0 else 1.0
    constant = to_float(linear.constant)
    at = side * (to_float(linear.estimate) - constant)
    each = to_float(largest)
    half, curve = to_float(half_width(terms_of(linear), level)), _normal(level) ** 2 * rows.most_rows * each
    jump = each * rows.most_rows / 2
    low, high = _end(at - jump, half, curve, -1.0), _end(at + jump, half, curve, 1.0)
    if high is None or high < 0:
        low, high = 0.0, math.inf  # farther below zero than noise goes at this level
    first, last = sorted((side * max(low or 0.0, 0.0), side * high))
    return constant + first, constant + last


def _end(at: float, half: float, curve: float, sign: float) -> float | None:
    root = half**2 + curve * at + curve**2 / 4
    return None if root < 0 else at + curve / 2 + sign * math.sqrt(root)


def _of_quotient(ratio: RatioQuantity, rows: SampledRows, level: float, spread: Quantity | None) -> Ends | None:
    """Keep each m at which above - m below is no larger than noise and sampling make it."""
    within = _range_of(ratio, rows)
    size = to_float(ratio.below.estimate)
    most = size + to_float(half_width(terms_of(ratio.below), _CERTAIN))
    if within is not None:
        low, high = within
        if size <= 0:
            return within
        z2 = _normal(level) ** 2 * rows.most_rows
        widest = math.inf
        if spread is not None and (found := sampled(spread, rows, level)) is not None:
            widest = _number(found[1])

        def far(at: Array) -> tuple[Array, Array]:
            binary = np.maximum((at - low) * (high - at), 0.0)
            jump = (high - low) / 2 * rows.most_rows if widest >= (high - low) ** 2 / 4 else 0.0
            return z2 * most * np.minimum(binary, widest), np.full_like(at, jump)

        return _kept(ratio, within, far, level)
    below = rows.below
    above_most, below_most = rows.largest, None if below is None else below.largest
    if above_most is None or below is None or below_most is None or ratio.low is not None or ratio.high is not None:
        return None
    one, other = interval(ratio, level)
    if not (math.isfinite(_number(one)) and math.isfinite(_number(other))):
        return -math.inf, math.inf
    top = abs(to_float(ratio.above.estimate)) + to_float(half_width(terms_of(ratio.above), _CERTAIN))
    z = _normal(level) * math.sqrt(rows.most_rows)
    ends = z * math.sqrt(to_float(above_most) * top), z * math.sqrt(to_float(below_most) * most)
    jumps = to_float(above_most) * rows.most_rows / 2, to_float(below_most) * rows.most_rows / 2
    room = max(_number(other) - _number(one), 1e-12) + (ends[0] + jumps[0]) / max(size, 1e-12)
    reach = abs(_number(one)) + abs(_number(other)) + 20 * room

    def both(at: Array) -> tuple[Array, Array]:
        return (ends[0] + np.abs(at) * ends[1]) ** 2, jumps[0] + np.abs(at) * jumps[1]

    found = _kept(ratio, (-reach, reach), both, level)
    return -math.inf if found[0] <= -reach else found[0], math.inf if found[1] >= reach else found[1]


def _range_of(ratio: RatioQuantity, rows: SampledRows) -> Ends | None:
    """Return the range in which a mean of rows lies: declared, or what rows of a size's own add to a sum."""
    if ratio.low is not None and ratio.high is not None:
        return to_float(ratio.low), to_float(ratio.high)
    if rows.below is None or not rows.below.is_count or rows.low is None or rows.high is None:
        return None
    if _among(ratio, rows.below):
        return min(to_float(rows.low), 0.0), max(to_float(rows.high), 0.0)
    return None


def _among(ratio: RatioQuantity, below: SampledRows) -> bool:
    """Return whether the rows of the sum above are among those that are counted below."""
    own, others = ({noisy: weight for weight, noisy in each.terms} for each in (ratio.above, ratio.below))
    if below.is_count and own.items() <= others.items():
        return True
    return below.all_rows and _groups(ratio.above) <= _groups(ratio.below)


def _groups(quantity: Quantity) -> set[tuple[str, str]]:
    """Return which groups of which releases a quantity is computed from, by the names of its noise."""
    noises = (leaf for leaf in leaves(quantity) if isinstance(leaf, NoisyInteger))
    return {(noisy.id.partition(".")[0], noisy.id.rpartition(".")[0].rpartition(".")[2]) for noisy in noises}


def _kept(ratio: RatioQuantity, within: Ends, far: Callable[[Array], tuple[Array, Array]], level: float) -> Ends:
    """Return the hull of the values on a grid that are kept, a step wider on each side."""
    size = to_float(ratio.below.estimate)
    start = min(max(to_float(ratio.above.estimate) / size, within[0]), within[1]) if size else sum(within) / 2
    # Dense near the estimate, where small intervals end.
    steps = np.linspace(0.0, 1.0, _GRID) ** 3
    grid = np.concatenate([start - (start - within[0]) * steps[::-1], start + (within[1] - start) * steps[1:]])
    distance = np.abs(to_float(ratio.above.estimate) - grid * size)
    variance, jump = far(grid)
    kept = np.flatnonzero(distance <= np.sqrt(_noise(ratio, grid, level) ** 2 + variance) + jump)
    if not len(kept):
        return within
    return float(grid[max(kept[0] - 1, 0)]), float(grid[min(kept[-1] + 1, len(grid) - 1)])


def _noise(ratio: RatioQuantity, at: Array, level: float) -> Array:
    """Return half-widths of the noise of above - m below, for each m."""
    noises = list(dict.fromkeys(noisy for part in (ratio.above, ratio.below) for _, noisy in part.terms))
    laws = {noisy.law for noisy in noises}
    if not noises:
        return np.zeros_like(at)
    if len(laws) > 1 or len(noises) > _MOST_NOISES:  # half-widths are a norm of the weights (Bobkov 2010)
        above, below = (to_float(half_width(terms_of(part), level)) for part in (ratio.above, ratio.below))
        return above + np.abs(at) * below
    weights = [{noisy: to_float(weight) for weight, noisy in part.terms} for part in (ratio.above, ratio.below)]
    one, other = (np.array([each.get(noisy, 0.0) for noisy in noises]) for each in weights)
    scales = np.array([to_float(noisy.scale) for noisy in noises])
    return reaches(noises[0].law, one - at[:, None] * other, scales, level)


_MOST_NOISES = 8


def _of_variance(function: FunctionQuantity, rows: SampledRows, level: float) -> Ends | None:
    """Keep each v that is no farther from the noisy variance than noise and sampling make it.

    The squared distance from the mean is at most the squared distance of the bounds, 4 r for the largest variance r, so
    its variance is at most v (4 r - v); a sample of n units has on average v / n less than the population.
    """
    most = to_float(function.high or 0)
    first, last = (_number(end) for end in interval(function, level))
    size = function.parts[3]
    if not isinstance(size, LinearQuantity):
        return None
    n = (to_float(size.estimate) - to_float(half_width(terms_of(size), _CERTAIN))) / rows.most_rows
    if n <= 1:
        return 0.0, most
    grid = np.concatenate([[0.0], most * np.linspace(0.0, 1.0, _GRID) ** 2])
    middle = (first + last) / 2
    variance = _normal(level) ** 2 * grid * (4 * most - grid) / n
    noise = (last - first) / 2
    away = np.abs(grid - middle) - grid / n - 2 * most / n
    kept = np.flatnonzero(away <= np.sqrt(noise**2 + variance))
    return float(grid[max(kept[0] - 1, 0)]), float(grid[min(kept[-1] + 1, len(grid) - 1)])


def _of_several(
    parts: tuple[Quantity, ...], weights: tuple[Fraction, ...], rows: SampledRows, level: float
) -> Ends | None:
    """Add intervals up: the distances from the values as a root of squares where rows and noise are others.

    (Newcombe 1998, squaring and adding of score intervals.) Rows that may be the same add their distances.
    """
    groups = [_groups(part) for part in parts]
    apart = sum(map(len, groups)) == len(set().union(*groups)) and not _shares_noise(parts)
    middle, below, above = to_float(weights[-1]), [], []
    for part, weight in zip(parts, weights, strict=False):
        found = sampled(part, rows, level)
        if found is None:
            return None
        low, high = (_number(end) for end in found)
        at = min(max(_middle(part, low, high), low), high)
        factor = to_float(weight)
        ends = sorted((factor * (low - at), factor * (high - at)))
        below.append(-ends[0])
        above.append(ends[1])
        middle += factor * at
    if apart:
        return middle - math.hypot(*below), middle + math.hypot(*above)
    return middle - sum(below), middle + sum(above)


def _shares_noise(parts: tuple[Quantity, ...]) -> bool:
    found: set[NoisyInteger | BracketedValue] = set()
    for part in parts:
        own = set(leaves(part))
        if found & own:
            return True
        found |= own
    return False


def _middle(part: Quantity, low: float, high: float) -> float:
    value = _number(value_of(part))
    return value if math.isfinite(value) else (low + high) / 2


def _carried(function: FunctionQuantity, ends: Pair | None) -> Pair | None:
    """Return the image of an interval under a function that keeps or folds the order."""
    if ends is None or not all(isinstance(end, int | float) for end in ends):
        return ends
    low, high = (_number(end) for end in ends)
    if function.name == "root":
        return math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))
    if function.name == "absolute":
        return (0.0 if low < 0 < high else min(abs(low), abs(high))), max(abs(low), abs(high))
    if function.name == "settled":
        value = to_float(function.parameters[0])
        return min(low, value), max(high, value)
    if function.name == "round":
        unit = 10.0 ** -to_float(function.parameters[0])
        return tuple(math.floor(end / unit + 0.5) * unit if math.isfinite(end) else end for end in (low, high))  # type: ignore[return-value]
    least = -math.inf if function.low is None else to_float(function.low)
    most = math.inf if function.high is None else to_float(function.high)
    return min(max(low, least), most), min(max(high, least), most)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
