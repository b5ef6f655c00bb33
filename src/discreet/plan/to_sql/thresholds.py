"""Thresholds: the floats between which rounding to a step stays within the bounds."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable
from fractions import Fraction


def thresholds(bounds: tuple[int, int], step: Fraction) -> tuple[float, float]:
    """Return the least and the greatest float that round into the bounds; the first is larger where none does."""
    first = _first(lambda steps: steps >= bounds[0], step)
    beyond = _first(lambda steps: steps > bounds[1], step)
    return first, math.nextafter(beyond, -math.inf)


def rounded_float(value: float, step: Fraction) -> float:
    """Return floor(x * k + 0.5) in floats, as the engines do and as `mechanisms` does."""
    top, bottom = as_float(step.denominator), as_float(step.numerator)
    steps = value * top / bottom + 0.5
    return math.floor(steps) if math.isfinite(steps) else steps


def _first(reached: Callable[[float], bool], step: Fraction) -> float:
    """Return the least float whose rounding has reached something, by halving the floats in their order."""
    below, above = _place(-math.inf), _place(math.inf)
    while above - below > 1:
        middle = (below + above) // 2
        if reached(rounded_float(_float_at(middle), step)):
            above = middle
        else:
            below = middle
    return _float_at(above)


def _place(value: float) -> int:
    """Return the place of a float in the order of floats."""
    bits = int(struct.unpack("<q", struct.pack("<d", value))[0])
    return bits if bits >= 0 else -(bits & (1 << 63) - 1)


def _float_at(place: int) -> float:
    bits = place if place >= 0 else (-place) | 1 << 63
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def as_float(value: int) -> float:
    """Return the float nearest to a whole number, the largest one beyond all."""
    try:
        return float(value)
    except OverflowError:
        return sys.float_info.max
