"""Checks: what every number of the accounting has to satisfy before it is used."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral, Rational, Real

from discreet.core.errors import BadParameter

# Exact rationals stay exact; a float is the binary rational it is.
Number = int | Fraction | float


def finite(name: str, value: object) -> Number:
    """Return a finite number as int, Fraction or float; booleans, NaN and infinities are refused."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadParameter(name, value, why="it is not a number", fix="use an int, a Fraction or a float")
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    number = float(value)
    if not math.isfinite(number):
        raise BadParameter(name, value, why="it is not finite", fix="use a finite number")
    return number


def nonnegative(name: str, value: object) -> Number:
    """Return a number that is zero or more."""
    number = finite(name, value)
    if number < 0:
        raise BadParameter(name, value, why="it is negative", fix="use zero or a positive number")
    return number


def positive(name: str, value: object) -> Number:
    """Return a number above zero."""
    number = finite(name, value)
    if number <= 0:
        raise BadParameter(name, value, why="it is not above zero", fix="use a positive number")
    return number


def probability(name: str, value: object) -> Number:
    """Return a number in [0, 1]."""
    number = finite(name, value)
    if not 0 <= number <= 1:
        raise BadParameter(name, value, why="a probability lies between 0 and 1", fix="use a number in [0, 1]")
    return number


def failure(name: str, value: object) -> Number:
    """Return a probability of failure (a delta): a number in [0, 1); at 1 nothing is promised."""
    number = finite(name, value)
    if not 0 <= number < 1:
        why = "a probability of failure is at least 0 and below 1"
        raise BadParameter(name, value, why=why, fix="use a number in [0, 1), far below one over the number of people")
    return number


def positive_failure(name: str, value: object) -> Number:
    """Return a probability of failure above zero, for the theorems that need one."""
    number = failure(name, value)
    if number == 0:
        why = "this theorem trades a positive probability of failure for a smaller epsilon"
        raise BadParameter(name, value, why=why, fix="use a number in (0, 1), for example 1e-6, or basic composition")
    return number


def order(name: str, value: object) -> Number:
    """Return an order of the Renyi divergence: a finite number above 1."""
    number = finite(name, value)
    if number <= 1:
        raise BadParameter(name, value, why="the order of a Renyi divergence is above 1", fix="use an order such as 8")
    return number


def whole(name: str, value: object, *, least: int = 1) -> int:
    """Return an integer that is at least `least`; 2.0 and True are mistakes, not counts."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise BadParameter(name, value, why="it is not an integer", fix=f"use an int of at least {least}")
    if value < least:
        raise BadParameter(name, value, why=f"it is below {least}", fix=f"use an int of at least {least}")
    return int(value)
