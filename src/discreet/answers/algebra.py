"""Algebra: sums, products, quotients and comparisons of quantities; free, because it reads answers alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from discreet.answers.interval import LEVEL, interval
from discreet.answers.point import point_of
from discreet.answers.quantity import (
    BracketedValue,
    FunctionQuantity,
    LinearQuantity,
    Plain,
    PublicValue,
    Quantity,
    RatioQuantity,
    is_whole,
)
from discreet.core.errors import BadParameter

Comparison = Literal["<", "<=", ">", ">="]

_MOST_PLACES = 100  # floats have no more by far


def add(one: Quantity, other: Quantity) -> Quantity:
    """Return the sum; noise that both share is added up before its spread is measured."""
    left, right = as_linear(one), as_linear(other)
    if left is not None and right is not None:
        return left.plus(right)
    if isinstance(one, RatioQuantity) and isinstance(other, RatioQuantity):
        times = _multiple(other.below, one.below)
        if times is not None:
            above = one.above.plus(other.above.times(1 / times))
            if above == LinearQuantity(()):
                return PublicValue(Fraction(0))
            return RatioQuantity(above, one.below, _sum_of(one.low, other.low), _sum_of(one.high, other.high))
    for this, number in ((one, constant(other)), (other, constant(one))):
        if number is not None:
            return _shifted(this, Fraction(1), number)
    return FunctionQuantity("sum", (one, other), (Fraction(1), Fraction(1), Fraction(0)))


def scale(quantity: Quantity, factor: Fraction) -> Quantity:
    """Return so many times the quantity."""
    known = as_linear(quantity)
    if known is not None:
        return known.times(factor)
    return _shifted(quantity, factor, Fraction(0))


def multiply(one: Quantity, other: Quantity) -> Quantity:
    """Return the product."""
    for this, number in ((one, constant(other)), (other, constant(one))):
        if number is not None:
            return scale(this, number)
    for this, that in ((one, as_linear(other)), (other, as_linear(one))):
        if isinstance(this, RatioQuantity) and that is not None:
            times = _multiple(that, this.below)
            if times is not None:  # a mean times the size that it was computed with is their sum
                return this.above.times(times)
    return FunctionQuantity("product", (one, other))


def divide(one: Quantity, other: Quantity) -> Quantity:
    """Return the quotient; by an exact zero it is empty."""
    number = constant(other)
    if number is not None:
        return scale(one, 1 / number) if number else PublicValue(None)
    left, right = as_linear(one), as_linear(other)
    if left is not None and right is not None:
        times = _multiple(left, right)
        return RatioQuantity(left, right) if times is None else PublicValue(times)
    if isinstance(other, RatioQuantity):
        if isinstance(one, RatioQuantity) and (times := _multiple(other.below, one.below)) is not None:
            return divide(one.above.times(times), other.above)
        if left is not None and (times := _multiple(left, other.above)) is not None:
            return other.below.times(times)
    return FunctionQuantity("quotient", (one, other))


def absolute(quantity: Quantity) -> Quantity:
    """Return the size of a quantity."""
    return FunctionQuantity("absolute", (quantity,))


def clip(quantity: Quantity, low: Fraction | None, high: Fraction | None) -> Quantity:
    """Return the nearest value between two public ones; the interval is cut in the same way."""
    if low is not None and high is not None and low > high:
        why = "the lower bound exceeds the upper one"
        raise BadParameter("low", low, why=why, fix="give the smaller bound first")
    return FunctionQuantity("clip", (quantity,), (), low, high)


def rounded(quantity: Quantity, digits: int) -> Quantity:
    """Return the quantity rounded to so many decimal places, halves upwards, and the ends with it."""
    if isinstance(digits, bool) or not isinstance(digits, int) or abs(digits) > _MOST_PLACES:
        why = f"a place is an integer from {-_MOST_PLACES} to {_MOST_PLACES}"
        raise BadParameter("digits", digits, why=why, fix="use round(answer, 2), for example")
    return FunctionQuantity("round", (quantity,), (Fraction(digits),))


def compare(one: Quantity, sign: Comparison, other: Quantity) -> Quantity:
    """Return whether a comparison holds: for the values, for certain (`low`) and possibly (`high`).

    It is certain where it holds all over the interval of the difference, possible where it holds somewhere in it. Of
    what has no point it is not known whether it holds; it may still be certain.
    """
    difference = add(one, scale(other, Fraction(-1)))
    ends = interval(difference, LEVEL)
    low, high = (_number(end) for end in ends)
    value = _number(point_of(difference, ends))
    if sign in ("<", "<="):
        low, high, value = -high, -low, -value
    strict = sign in ("<", ">")
    if math.isnan(low) or math.isnan(high):
        return BracketedValue(None, False, True)  # nothing is known
    holds = [(number > 0) if strict else (number >= 0) for number in (value, low, high)]
    return BracketedValue(None if math.isnan(value) else holds[0], holds[1], holds[2])


def as_linear(quantity: Quantity) -> LinearQuantity | None:
    """Return the quantity as a weighted sum, if it is one."""
    if isinstance(quantity, LinearQuantity):
        return quantity
    number = constant(quantity)
    return None if number is None else LinearQuantity((), number)


def constant(quantity: Quantity) -> Fraction | None:
    """Return the number that a quantity is for certain, if it is one."""
    if isinstance(quantity, LinearQuantity) and not quantity.terms:
        return quantity.constant
    if isinstance(quantity, PublicValue) and isinstance(quantity.value, int | float | Fraction):
        return Fraction(quantity.value) if math.isfinite(quantity.value) else None
    return None


def _multiple(left: LinearQuantity, right: LinearQuantity) -> Fraction | None:
    """Return how many times one sum is the other, where all noise cancels, as in n / n."""
    if not left.terms or len(left.terms) != len(right.terms):
        return None
    weights = {noisy: weight for weight, noisy in right.terms}
    if left.terms[0][1] not in weights:
        return None
    weight, noisy = left.terms[0]
    times = weight / weights[noisy]
    return times if left.plus(right.times(-times)) == LinearQuantity(()) else None


def _sum_of(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _shifted(quantity: Quantity, factor: Fraction, shift: Fraction) -> Quantity:
    """Return factor * quantity + shift, as a quantity of the same kind."""
    match quantity:
        case RatioQuantity(above, below, low, high):
            ends = [None if end is None else factor * end + shift for end in (low, high)]
            low, high = ends if factor >= 0 else reversed(ends)
            return RatioQuantity(above.times(factor).plus(below.times(shift)), below, low, high)
        case BracketedValue(value, low, high, level):
            if low is None or high is None:
                return quantity if value is None else BracketedValue(_moved(quantity, value, factor, shift), None, None)
            first, last = sorted(_moved(quantity, end, factor, shift) for end in (low, high))
            middle = None if value is None else _moved(quantity, value, factor, shift)
            return BracketedValue(middle, first, last, level)
        case PublicValue():
            return PublicValue(None)
        case _:
            return FunctionQuantity("sum", (quantity,), (factor, shift))


def _moved(bracket: BracketedValue, end: Plain, factor: Fraction, shift: Fraction) -> Plain:
    if not math.isfinite(end):
        return end * float(factor)
    moved = factor * Fraction(end) + shift
    return int(moved) if is_whole(bracket) and factor.denominator == shift.denominator == 1 else float(moved)


def _number(value: object) -> float:
    return float(value) if isinstance(value, bool | int | float) else math.nan
