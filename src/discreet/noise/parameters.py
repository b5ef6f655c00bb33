"""Parameters of noise: exact rationals, and shapes."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from numbers import Rational

from discreet.core.errors import BadParameter
from discreet.noise.enclosure import Ratio

Number = int | float | Fraction
_MOST = 1 << 40

Size = int | tuple[int, ...] | None


def exact(name: str, value: Number) -> Ratio:
    """Return the rational a number is, as (numerator, denominator) in lowest terms; a float is the one it stores."""
    kind = type(value)
    if kind is int or kind is Fraction:
        return value.as_integer_ratio()
    if isinstance(value, bool) or not isinstance(value, (float, Rational)):
        raise BadParameter(
            name, value, why=f"{name} must be a number, not {kind.__name__}", fix="pass an int, a Fraction or a float"
        )
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadParameter(name, value, why=f"{name} must be finite", fix="pass a finite number")
        return value.as_integer_ratio()
    return int(value.numerator), int(value.denominator)


def positive(name: str, value: Number) -> Ratio:
    """Return a number above zero as an exact ratio."""
    ratio = exact(name, value)
    if ratio[0] <= 0:
        raise BadParameter(
            name, value, why="noise needs a positive scale", fix="use sensitivity / epsilon, which is above 0"
        )
    return ratio


def whole(name: str, value: int, least: int) -> int:
    """Return an integer of at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        kind = type(value).__name__
        raise BadParameter(name, value, why=f"{name} must be an integer, not {kind}", fix="pass an int")
    if number < least:
        raise BadParameter(name, value, why=f"{name} must be at least {least}", fix=f"pass {least} or more")
    return number


def shape(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of an array of that size."""
    dimensions = tuple(whole("size", n, 0) for n in (size if isinstance(size, tuple) else (size,)))
    if math.prod(dimensions) > _MOST:
        raise BadParameter("size", size, why=f"no more than {_MOST} values fit one array", fix="draw in parts")
    return dimensions
