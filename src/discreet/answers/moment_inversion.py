"""Inversion of moments: intervals of variances, covariances and correlations, as all values that a test keeps.

With the true means m and k of two columns, sum (x - m)(y - k) = sum xy - m sum y - k sum x + m k n is their covariance
times n, so that

    sum xy - m sum y - k sum x + (m k - c) n

is zero where c is the covariance, and its noise is a weighted sum of known weights. The means are not known: so each of
them is left anywhere in an interval that misses it once in a thousand answers, and a value is kept if any of these
means keeps it (Berger and Boos 1994). What a wrong mean changes is a product of two small numbers, so this costs little
width. A correlation r has the same form, minus r / 2 times (q sum (x - m)^2 + sum (y - k)^2 / q), where q is the
quotient of the standard deviations, the third number that is left open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from discreet.answers.noise_tail import beyond
from discreet.answers.quantity import FunctionQuantity, LinearQuantity, NoisyInteger, Quantity, RatioQuantity, to_float
from discreet.noise.arrays import NDArray, np

Array: TypeAlias = "NDArray[np.float64]"
Pair = tuple[float, float]

_ASIDE = 1 / 50  # the share of what may go wrong that each number left open takes
_STEPS = 9
_NEAR = 1e-4  # no step is nearer to an end than this share of the way
_FARTHEST = 1e4  # how far the quotient of two standard deviations is searched
_MEANS = {1: 9, 2: 5}  # how many values of each mean are tried, ends and middle among them
_QUOTIENTS = 5
_NOTHING_LEFT = 2.0, -2.0  # an interval without any value


def inverted(function: FunctionQuantity, level: float) -> Pair | None:
    """Return the interval of a covariance or a correlation; None where its noise is of several laws, or not its own.

    It covers with probability at least `level`, up to the grid of the means that are tried. Where no value is kept, or
    the size may be zero, it is the whole declared range.
    """
    forms = _Forms.of(function.parts)
    if forms is None or function.low is None or function.high is None:
        return None
    low, high = to_float(function.low), to_float(function.high)
    if forms.law is None:  # no noise at all
        return None
    if function.name == "covariance":
        unit = to_float(function.parameters[0])
        first, last = _covariances(forms, 1 - level)
        first, last = first * unit, last * unit
    else:
        first, last = _correlations(forms, 1 - level)
    if first > last:
        return low, high
    return max(first, low), min(last, high)


def bounded_quotient(ratio: RatioQuantity, level: float) -> Pair | None:
    """Return the interval of a quotient between declared bounds, of several noises of one law; None of any other.

    It is that of `inversion.quotient`, and the whole range where no value is kept.
    """
    noises = {noisy for part in (ratio.above, ratio.below) for _, noisy in part.terms}
    if ratio.low is None or ratio.high is None or min((noisy.scale for noisy in noises), default=0) < _COARSE:
        return None
    forms = _Forms.of((ratio.above, ratio.below))
    if forms is None or forms.law is None:
        return None
    low, high = to_float(ratio.low), to_float(ratio.high)
    ends = np.array([low]), np.array([high])
    lows, highs, some = _ends(forms, np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), *ends, 1 - level)
    return (float(lows[0]), float(highs[0])) if some[0] else (low, high)


_COARSE = 8  # noise of a smaller scale shows its lattice: it is better taken value by value


class _Forms:
    """Weighted sums of the same noises: what they are at the noisy integers, and their weights."""

    __slots__ = ("law", "scales", "values", "weights")

    def __init__(self, sums: Sequence[LinearQuantity]) -> None:
        noises = list(dict.fromkeys(noisy for each in sums for _, noisy in each.terms))
        place = {noisy: at for at, noisy in enumerate(noises)}
        self.values = np.array([to_float(each.estimate) for each in sums])
        self.weights = np.zeros((len(sums), len(noises)))
        for row, each in enumerate(sums):
            for weight, noisy in each.terms:
                self.weights[row, place[noisy]] = to_float(weight)
        self.scales = np.array([to_float(noisy.scale) for noisy in noises])
        self.law = noises[0].law if noises else None

    @classmethod
    def of(cls, parts: Sequence[Quantity]) -> _Forms | None:
        """Return the forms of weighted sums; None of anything else, of several laws, or where floats do not reach."""
        sums = [part for part in parts if isinstance(part, LinearQuantity)]
        laws = {noisy.law for each in sums for _, noisy in each.terms}
        noises: set[NoisyInteger] = {noisy for each in sums for _, noisy in each.terms}
        if len(sums) < len(parts) or len(laws) > 1 or len(noises) > _MOST_NOISES:
            return None
        made = cls(sums)
        known = (made.values, made.weights, made.scales)
        return made if all(np.isfinite(each).all() for each in known) else None

    def folded(self, factors: Array) -> Array:
        """Return what rows of factors make of the forms: the weights of every noise, and the sum last."""
        return np.concatenate([factors @ self.weights, (factors @ self.values)[:, None]], axis=1)

    def margin(self, sums: Array, miss: float) -> Array:
        """Return how clearly noise may explain what each of such sums is.

        It is a logarithm of a chance, which is nearly straight far out; below zero the sum is too large for its noise.
        """
        assert self.law is not None
        chances = beyond(self.law, sums[:, :-1], self.scales, np.abs(sums[:, -1]) * (1 - 1e-12))
        return np.log(np.maximum(chances, _UNDERFLOW)) - math.log(miss)


_UNDERFLOW = 1e-200
_MOST_NOISES = 12


def _ends(
    forms: _Forms, above: Array, below: Array, lows: Array, highs: Array, miss: float
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return, for each row of two forms, the least and the largest quotient of them that is kept, and if any is.

    The quotients that are not excluded form an interval around that of the noisy sums (see `inversion.quotient`).
    """
    size = below @ forms.values
    sound = size > 0
    start = np.clip(np.where(sound, (above @ forms.values) / np.where(sound, size, 1.0), 0.0), lows, highs)

    twice = forms.folded(np.concatenate([above, above])), forms.folded(np.concatenate([below, below]))
    both = np.concatenate([sound, sound])

    def margin(at: Array) -> Array:
        return np.where(both, forms.margin(twice[0] - at[:, None] * twice[1], miss), 1.0)

    starts = np.concatenate([start, start])
    at_start = margin(starts)
    found = _last(margin, starts, at_start, np.concatenate([lows, highs]))
    return found[: len(start)], found[len(start) :], at_start[: len(start)] > 0


def _last(margin: Callable[[Array], Array], start: Array, at_start: Array, bound: Array) -> Array:
    """Return values that are excluded, next to ones that are not; the bounds, where these are not excluded.

    By false position, with the end that stays halved in weight (the Illinois method), and so from outside.
    """
    inner, outer = start.copy(), bound.copy()
    above, below = np.maximum(at_start, 0.0), margin(bound)
    reached = below > 0
    side = np.zeros(len(start))
    for _ in range(_STEPS):
        share = np.clip(above / np.maximum(above - below, _UNDERFLOW), _NEAR, 1 - _NEAR)
        middle = inner + (outer - inner) * share
        found = margin(middle)
        inside = found > 0
        below = np.where(inside & (side > 0), below / 2, below)
        above = np.where(~inside & (side < 0), above / 2, above)
        inner, above = np.where(inside, middle, inner), np.where(inside, found, above)
        outer, below = np.where(inside, outer, middle), np.where(inside, below, found)
        side = np.where(inside, 1.0, -1.0)
    return np.where(reached, bound, outer)


def _mean(forms: _Forms, sums: int, size: int, miss: float) -> Array | None:
    """Return values all over the interval of a mean, which lies between -1 and 1; None where there are none."""
    count = len(forms.values)
    above, below = np.zeros((1, count)), np.zeros((1, count))
    above[0, sums] = below[0, size] = 1.0
    one = np.ones(1)
    lows, highs, some = _ends(forms, above, below, -one, one, miss)
    return np.array([lows[0], highs[0]]) if some[0] else None


def _spread_over(ends: Array, middle: float, many: int) -> Array:
    low, high = float(ends[0]), float(ends[1])
    inside, widest = (min(max(value, low), high) for value in (middle, 0.0))  # at 0 there is most room for a variance
    half = many // 2
    return np.concatenate([np.linspace(low, inside, half + 1), np.linspace(inside, high, half + 1)[1:], [widest]])


def _middle(forms: _Forms, sums: int, size: int) -> float:
    below = float(forms.values[size])
    return float(forms.values[sums]) / below if below > 0 else 0.0


def _covariances(forms: _Forms, miss: float) -> Pair:
    """Return the interval of p / n - (s / n) (t / n), where all values lie between -1 and 1."""
    same = bool((forms.weights[0] == forms.weights[1]).all()) and forms.values[0] == forms.values[1]
    open_ones = 1 if same else 2
    tried = []
    for sums in (0, 1)[:open_ones]:
        ends = _mean(forms, sums, 3, miss * _ASIDE)
        if ends is None:
            return _NOTHING_LEFT
        tried.append(_spread_over(ends, _middle(forms, sums, 3), _MEANS[open_ones]))
    m, k = (each.ravel() for each in (np.meshgrid(*tried) if not same else (tried[0], tried[0])))
    above = np.stack([-k, -m, np.ones_like(m), m * k], axis=1)
    below = np.tile([0.0, 0.0, 0.0, 1.0], (len(m), 1))
    room = np.sqrt(np.maximum(1 - m**2, 0.0) * np.maximum(1 - k**2, 0.0))
    return _hull(forms, above, below, np.zeros_like(room) if same else -room, room, miss * (1 - open_ones * _ASIDE))


def _correlations(forms: _Forms, miss: float) -> Pair:
    """Return the interval of the correlation, from s, t, the sums of their squares, that of products, and the size."""
    tried = []
    for sums in (0, 1):
        ends = _mean(forms, sums, 5, miss * _ASIDE)
        if ends is None:
            return _NOTHING_LEFT
        tried.append(_spread_over(ends, _middle(forms, sums, 5), _MEANS[2]))
    m, k = (each.ravel() for each in np.meshgrid(*tried))
    zero, one = np.zeros_like(m), np.ones_like(m)
    squares = np.stack([-2 * m, zero, one, zero, zero, m * m], axis=1)
    others = np.stack([zero, -2 * k, zero, one, zero, k * k], axis=1)
    products = np.stack([-k, -m, zero, zero, one, m * k], axis=1)
    near, far, some = _quotients(forms, others, squares, miss * _ASIDE)
    if not some.any():
        return _NOTHING_LEFT
    near, far = near[some], far[some]
    if (far >= _FARTHEST).any() or (near <= 1 / _FARTHEST).any():
        return -1.0, 1.0  # one of them may be constant
    steps = np.linspace(0.0, 1.0, _QUOTIENTS)
    # The root of a quotient of variances is that of standard deviations.
    roots = np.sqrt(np.exp(np.log(near)[:, None] * (1 - steps) + np.log(far)[:, None] * steps)).ravel()
    squares, others, products = (np.repeat(each[some], _QUOTIENTS, axis=0) for each in (squares, others, products))
    below = (roots[:, None] * squares + others / roots[:, None]) / 2
    bound = np.ones(len(roots))
    return _hull(forms, products, below, -bound, bound, miss * (1 - 3 * _ASIDE))


def _quotients(forms: _Forms, above: Array, below: Array, miss: float) -> tuple[Array, Array, NDArray[np.bool_]]:
    most = np.full(len(above), _FARTHEST)
    turned: Callable[[Array, Array], tuple[Array, Array, NDArray[np.bool_]]] = lambda one, other: _ends(  # noqa: E731
        forms, one, other, 0 * most, most, miss
    )
    _, far, some = turned(above, below)
    _, back, others = turned(below, above)
    return 1 / np.maximum(back, 1 / _FARTHEST), far, some & others


def _hull(forms: _Forms, above: Array, below: Array, lows: Array, highs: Array, miss: float) -> Pair:
    first, last, some = _ends(forms, above, below, lows, highs, miss)
    return (float(first[some].min()), float(last[some].max())) if some.any() else _NOTHING_LEFT
