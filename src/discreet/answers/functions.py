"""Functions of quantities, by name: how each is computed from many values of its parts at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from discreet.answers.quantity import (
    BracketedValue,
    FunctionQuantity,
    LinearQuantity,
    NoisyInteger,
    Plain,
    PublicValue,
    Quantity,
    RatioQuantity,
    is_whole,
    to_float,
    within,
)
from discreet.core.errors import UnknownName
from discreet.noise.arrays import NDArray, np

Array: TypeAlias = "NDArray[np.float64]"
Rule = Callable[[Sequence[Array], Sequence[float]], Array]


def _sum(parts: Sequence[Array], parameters: Sequence[float]) -> Array:
    """Return the weighted sum; the last parameter is the constant."""
    total = np.full_like(parts[0], parameters[-1])
    for part, weight in zip(parts, parameters, strict=False):
        total = total + weight * part
    return total


def _product(parts: Sequence[Array], _: Sequence[float]) -> Array:
    return parts[0] * parts[1]


def _quotient(parts: Sequence[Array], _: Sequence[float]) -> Array:
    return divided(parts[0], parts[1])


def _covariance(parts: Sequence[Array], parameters: Sequence[float]) -> Array:
    """Return (p / n - (s / n) (t / n)) times a unit, from sums s, t, the sum p of products and the size n."""
    s, t, p, n = parts
    n = np.where(n > 0, n, np.nan)
    return (p / n - (s / n) * (t / n)) * parameters[0]


def _correlation(parts: Sequence[Array], _: Sequence[float]) -> Array:
    """Return the correlation from sums s, t, those of squares, that of products, and the size n."""
    s, t, ss, tt, st, n = parts
    one, other, both = (
        _covariance((a, b, product, n), (1.0,)) for a, b, product in ((s, s, ss), (t, t, tt), (s, t, st))
    )
    spread = np.where((one > 0) & (other > 0), one, np.nan) * other
    return both / np.sqrt(spread, where=spread > 0, out=np.full_like(spread, np.nan))


def _root(parts: Sequence[Array], _: Sequence[float]) -> Array:
    root: Array = np.sqrt(np.maximum(parts[0], 0.0))
    return root


def _absolute(parts: Sequence[Array], _: Sequence[float]) -> Array:
    size: Array = np.abs(parts[0])
    return size


def _round(parts: Sequence[Array], parameters: Sequence[float]) -> Array:
    unit = 10.0 ** -parameters[0]
    rounded: Array = np.floor(parts[0] / unit + 0.5) * unit
    return rounded


def _same(parts: Sequence[Array], _: Sequence[float]) -> Array:
    return parts[0]


RULES: Mapping[str, Rule] = {
    "absolute": _absolute,
    "clip": _same,
    "correlation": _correlation,
    "covariance": _covariance,
    "product": _product,
    "quotient": _quotient,
    "root": _root,
    "round": _round,
    "settled": _same,
    "sum": _sum,
}


def divided(above: Array, below: Array) -> Array:
    """Return quotients; whatever is divided by zero is not a number."""
    out: Array = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=out, where=below != 0)
    return out


def rule(function: FunctionQuantity) -> Rule:
    """Return how a function is computed, or refuse a name that is none."""
    if function.name not in RULES:
        raise UnknownName("function", function.name, RULES)
    return RULES[function.name]


def evaluate(quantity: Quantity, drawn: Mapping[NoisyInteger, Array]) -> Array:
    """Compute a quantity where its noisy integers take other values, before any bounds of the last step.

    Bounds inside (a clip of a part, the bounds of a mean) hold, since the truth keeps to them.
    """
    match quantity:
        case PublicValue(value):
            return np.asarray(_number(value))
        case BracketedValue(value):
            return np.asarray(_number(value))
        case LinearQuantity(terms, constant):
            total: Array = np.asarray(to_float(constant))
            for weight, noisy in terms:
                total = total + to_float(weight) * drawn[noisy]
            return total
        case RatioQuantity(above, below):
            return divided(evaluate(above, drawn), evaluate(below, drawn))
        case FunctionQuantity(_, parts, parameters):
            values = [_bounded(evaluate(part, drawn), part) for part in parts]
            values = [np.atleast_1d(each) for each in np.broadcast_arrays(*values)]
            return rule(quantity)(values, [to_float(each) for each in parameters])


def value_of(quantity: Quantity) -> Plain | str | None:
    """Return what the noisy numbers say: an integer where it is whole by its computation; NaN where nothing is defined.

    Within declared bounds it is the middle of them that stands for what is not defined. What an answer shows is
    `discreet.answers.point.point_of`, which is nothing there.
    """
    match quantity:
        case PublicValue(value) | BracketedValue(value):
            if isinstance(value, Fraction):
                return value.numerator if value.denominator == 1 else float(value)
            return math.nan if value is None and isinstance(quantity, BracketedValue) else value
        case LinearQuantity():
            return int(quantity.estimate) if is_whole(quantity) else to_float(quantity.estimate)
        case RatioQuantity(above, below, low, high):
            size = below.estimate
            if low is not None and high is not None and size <= 0:
                return to_float((low + high) / 2)
            return within(to_float(above.estimate / size), low, high) if size else math.nan
        case FunctionQuantity():
            return _of_function(quantity)


def _of_function(function: FunctionQuantity) -> Plain:
    if function.name == "settled":
        return to_float(function.parameters[0])
    parts = [value_of(part) for part in function.parts]
    if function.name in ("absolute", "clip") and isinstance(parts[0], int) and is_whole(function):
        return _integer(function, parts[0])
    values = [np.asarray([_number(part)]) for part in parts]
    raw = float(rule(function)(values, [to_float(each) for each in function.parameters])[0])
    if math.isnan(raw) and function.low is not None and function.high is not None:
        raw = to_float((function.low + function.high) / 2)
    value = within(raw, function.low, function.high)
    return int(value) if is_whole(function) and math.isfinite(value) else value


def _integer(function: FunctionQuantity, value: int) -> int:
    """Return a size or a clipped value of an integer, which no float could hold exactly."""
    value = abs(value) if function.name == "absolute" else value
    value = value if function.low is None else max(value, math.ceil(function.low))
    return value if function.high is None else min(value, math.floor(function.high))


def _bounded(values: Array, part: Quantity) -> Array:
    low, high = (part.low, part.high) if isinstance(part, RatioQuantity | FunctionQuantity) else (None, None)
    if low is None and high is None:
        return values
    bounded: Array = np.clip(values, None if low is None else to_float(low), None if high is None else to_float(high))
    return bounded


def _number(value: object) -> float:
    return to_float(value) if isinstance(value, bool | int | float | Fraction) else math.nan
