"""Intervals: where the exact value of a quantity lies, with at least the asked probability over the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.answers.functions import rule, value_of
from discreet.answers.inversion import quotient
from discreet.answers.moment_inversion import inverted
from discreet.answers.quantity import BracketedValue as BracketedValue
from discreet.answers.quantity import FunctionQuantity as FunctionQuantity
from discreet.answers.quantity import LinearQuantity as LinearQuantity
from discreet.answers.quantity import NoisyInteger as NoisyInteger
from discreet.answers.quantity import Plain, is_whole, leaves, to_float, within
from discreet.answers.quantity import PublicValue as PublicValue
from discreet.answers.quantity import Quantity as Quantity
from discreet.answers.quantity import RatioQuantity as RatioQuantity
from discreet.answers.simulation import simulated
from discreet.answers.spread import half_width, terms_of
from discreet.core.errors import BadParameter
from discreet.noise.arrays import np

LEVEL = 0.95
Pair = tuple[Plain | str | None, Plain | str | None]

# Functions that keep or reverse the order of one part: its interval is carried over, end by end.
_CARRIED = ("absolute", "clip", "root", "round", "settled")


def interval(quantity: Quantity, level: float = LEVEL) -> Pair:
    """Return the ends of an interval that covers the exact value with probability at least `level`.

    A weighted sum: the shortest symmetric one on the lattice of its noise. A quotient, a variance, a covariance and a
    correlation: all values that a test does not exclude, and the whole declared range where it excludes them all. Other
    functions: simulation, which is close to the level rather than proven. A bracket, and whatever is computed from one,
    keeps the level at which it was bought.
    """
    if not 0.5 <= level < 1:
        raise BadParameter("level", level, why="it is the probability to be covered", fix="use 0.95, for example")
    match quantity:
        case PublicValue():
            value = value_of(quantity)
            return value, value
        case BracketedValue(_, low, high):
            return low, high
        case LinearQuantity():
            half = half_width(terms_of(quantity), level)
            return _plain(quantity, quantity.estimate - half), _plain(quantity, quantity.estimate + half)
        case RatioQuantity():
            return quotient(quantity, level)
        case FunctionQuantity():
            return _of_function(quantity, level)


def _of_function(function: FunctionQuantity, level: float) -> Pair:
    parts = function.parts
    if function.name in _CARRIED or (function.name == "sum" and len(parts) == 1):
        low, high = _carried(function, _floats(parts[0], level))
    elif function.name in ("covariance", "correlation") and (found := inverted(function, level)) is not None:
        low, high = found
    elif any(isinstance(leaf, BracketedValue) for part in parts for leaf in leaves(part)):
        low, high = _corners(function, [_floats(part, level) for part in parts])
    elif not all(map(_steady, parts)):
        each = 1 - (1 - level) / len(parts)
        low, high = _corners(function, [_floats(part, each) for part in parts])
    else:
        low, high = simulated(function, level)
    if _beyond(function, low, high):
        return _bounds(function)
    low, high = within(low, function.low, function.high), within(high, function.low, function.high)
    if is_whole(function) and math.isfinite(low) and math.isfinite(high):
        return math.ceil(low), math.floor(high)
    return low, high


def _beyond(function: FunctionQuantity, low: float, high: float) -> bool:
    """Return whether the noise has carried all of an interval beyond bounds that the truth keeps to.

    Bounds of a clip are not such bounds: they are what was asked for.
    """
    least, most = _bounds(function)
    return function.name != "clip" and (high < least or low > most)


def _bounds(function: FunctionQuantity) -> tuple[float, float]:
    low, high = function.low, function.high
    return -math.inf if low is None else to_float(low), math.inf if high is None else to_float(high)


def _steady(quantity: Quantity) -> bool:
    """Return whether every size that a quantity is divided by is far larger than its noise.

    Where one is not, noise drawn around the noisy numbers says little of noise around the exact ones: then any values
    in the intervals of the parts go together, each at a level that all of them keep at once (Bonferroni).
    """
    match quantity:
        case RatioQuantity(below=below):
            return abs(to_float(below.estimate)) >= _FAR * to_float(half_width(terms_of(below), LEVEL))
        case FunctionQuantity("covariance" | "correlation", parts):
            return _steady(RatioQuantity(LinearQuantity(()), parts[-1]))  # type: ignore[arg-type]
        case FunctionQuantity(_, parts):
            return all(map(_steady, parts))
    return True


_FAR = 4


def _carried(function: FunctionQuantity, ends: tuple[float, float]) -> tuple[float, float]:
    images = _at(function, [[end] for end in ends])
    if function.name == "settled" and not _beyond(function, *ends):
        images.append(to_float(function.parameters[0]))
    if function.name == "absolute" and ends[0] < 0 < ends[1]:
        images.append(0.0)
    return min(images), max(images)


def _corners(function: FunctionQuantity, ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the range of a function over a box, from its corners: right for sums, products and quotients.

    With brackets nothing is known of the law inside, so the whole box is possible. It covers with at least the
    product of the parts' levels if they are independent.
    """
    if function.name == "quotient" and ends[1][0] <= 0 <= ends[1][1]:
        return -math.inf, math.inf
    corners: list[list[float]] = [[]]
    if function.name == "sum":  # of thousands of parts, perhaps: the corners of the least and of the most
        turned = [pair if weight > 0 else pair[::-1] for pair, weight in zip(ends, function.parameters, strict=False)]
        corners = [list(corner) for corner in zip(*turned, strict=True)]
    else:
        for pair in ends:
            corners = [[*corner, end] for corner in corners for end in pair]
    images = _at(function, corners)
    return (-math.inf, math.inf) if any(map(math.isnan, images)) else (min(images), max(images))


def _at(function: FunctionQuantity, points: Sequence[Sequence[float]]) -> list[float]:
    columns = [np.asarray(column, dtype=np.float64) for column in zip(*points, strict=True)]
    with np.errstate(invalid="ignore", over="ignore"):
        images = rule(function)(columns, [to_float(each) for each in function.parameters])
    return [float(image) for image in images]


def _floats(quantity: Quantity, level: float) -> tuple[float, float]:
    low, high = interval(quantity, level)
    return _number(low), _number(high)


def _number(value: Plain | str | None) -> float:
    return float(value) if isinstance(value, bool | int | float) else math.nan


def _plain(linear: LinearQuantity, value: Fraction) -> Plain:
    return int(value) if is_whole(linear) else to_float(value)
