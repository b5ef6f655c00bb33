"""Grids: answers counted in whole steps inside, and scaled to their unit at the very end."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import TypeAlias, overload

from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written
from discreet.mechanisms.parts.raw_values import as_number
from discreet.noise.arrays import NDArray, np
from discreet.noise.inversion import Integers
from discreet.noise.sampling import pack

# What a release gives: a number, or an array of integers (a step of 1) or of floats.
Released: TypeAlias = "int | float | Integers | NDArray[np.float64]"

_EXACT = 1 << 53  # integers up to here are floats

_FIX = "pass ints, or an array of an integer type; for real answers declare step= and count in steps (see `exact`)"


def positive_as_written(name: str, value: Number) -> Fraction:
    """Return a declared size (a sensitivity, a step, a threshold's unit): positive, and a float is what it prints."""
    number = as_written(name, value)
    if number <= 0:
        raise BadParameter(name, value, why="it is not above zero", fix="use a positive number")
    return number


def whole_steps(sensitivity: Fraction, step: Fraction) -> int:
    """Return how many steps an answer can move by: the sensitivity over the step, rounded up.

    Rounded up, because rounding two answers that differ by s steps to the grid can part them by ceil(s), not more.
    """
    return math.ceil(sensitivity / step)


@overload
def integers(exact: int) -> int: ...
@overload
def integers(exact: object) -> int | Integers: ...
def integers(exact: object) -> int | Integers:
    """Return an exact answer as a Python int, or as an array of integers; its type may be refused, its value never."""
    if isinstance(exact, int | np.integer) and not isinstance(exact, bool):
        return int(exact)
    if isinstance(exact, list | tuple):
        exact = _objects(exact)
    if isinstance(exact, np.ma.MaskedArray):  # an engine masks where a null occurs: it counts as 0, and decides nothing
        exact = exact.filled(0) if exact.dtype.kind in "iuO" else exact
    if not isinstance(exact, np.ndarray) or exact.dtype.kind not in "iuO":
        kind = str(exact.dtype) if isinstance(exact, np.ndarray) else type(exact).__name__
        raise BadParameter("exact", kind, why="noise is added to integers only", fix=_FIX)
    if exact.dtype.kind == "O":
        if not all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in exact.flat):
            raise BadParameter("exact", "object", why="not everything in it is an integer", fix=_FIX)
        return pack([int(value) for value in exact.flat], narrow=True).reshape(exact.shape)
    if exact.dtype == np.uint64:
        return pack(exact.ravel().tolist(), narrow=True).reshape(exact.shape)
    return exact.astype(np.int64, copy=False)


def add(exact: int | Integers, noise: int | Integers) -> int | Integers:
    """Return the exact sum, as int64 if all of it fits and as Python integers otherwise.

    The type of the result is a function of the noisy values, and so tells no more than they do.
    """
    if isinstance(exact, int) and isinstance(noise, int):
        return exact + noise
    if isinstance(exact, int) and not -(1 << 63) <= exact < 1 << 63:
        exact = np.array(exact, dtype=object)
    one, other = np.asarray(exact), np.asarray(noise)
    if object in (one.dtype, other.dtype):
        return _whole(one.astype(object) + other)
    total: Integers = one + other
    # Two's complement wrapped exactly where both terms differ in sign from their sum.
    if ((one ^ total) & (other ^ total) < 0).any():
        return _whole(one.astype(object) + other)
    return total


@overload
def scaled(counted: int, step: Fraction) -> int | float: ...
@overload
def scaled(counted: int | Integers, step: Fraction) -> Released: ...
def scaled(counted: int | Integers, step: Fraction) -> Released:
    """Return steps in their unit: integers as they are if the step is 1, else the nearest floats."""
    if step == 1:
        return counted
    if isinstance(counted, int):
        return _nearest(counted * step)
    if counted.dtype == np.int64 and step.denominator < _EXACT and counted.size:
        furthest = max(int(counted.max()), -int(counted.min()))
        if furthest * step.numerator < _EXACT:
            # Both are exact as floats, so their quotient is the nearest float.
            return np.asarray(counted * step.numerator / float(step.denominator), dtype=np.float64)
    return np.array([_nearest(value * step) for value in counted.ravel().tolist()]).reshape(counted.shape)


def on_grid(values: object, step: Fraction) -> int | Integers:
    """Return real answers counted in steps, each rounded to the nearest: floor(x / step + 1/2).

    Total: what is no number counts as 0, and infinities as the largest floats, so nothing raises on one answer and
    not on another.
    """
    if isinstance(values, np.ndarray | list | tuple):
        array = values if isinstance(values, np.ndarray) else _objects(values)
        return pack([_round(value, step) for value in array.flat], narrow=True).reshape(array.shape)
    return _round(values, step)


def _round(value: object, step: Fraction) -> int:
    if isinstance(value, np.generic):
        value = value.item()
    return math.floor(_rational(value) / step + Fraction(1, 2))


def _rational(value: object) -> Fraction:
    """Return a number exactly: of the nearest floats, two near a half could part by a step more than they do."""
    if isinstance(value, Rational):
        return Fraction(value)
    number = as_number(value) or 0.0
    if number and abs(number) < 1e308 and isinstance(value, float | Decimal | np.floating):
        return Fraction(*value.as_integer_ratio())
    return Fraction(min(max(number, -1.7976931348623157e308), 1.7976931348623157e308))


def _objects(values: Iterable[object]) -> NDArray[np.object_]:
    rows = list(values)
    if rows and isinstance(rows[0], list | tuple):
        return np.array(rows, dtype=object)
    out = np.empty(len(rows), dtype=object)
    out[:] = rows
    return out


def _whole(values: NDArray[np.object_]) -> Integers:
    return pack(values.ravel().tolist(), narrow=True).reshape(values.shape)


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
