"""Points: the one value that a cell shows beside its interval; none where everything is possible."""

from __future__ import annotations

import math

from discreet.answers.functions import value_of
from discreet.answers.interval import Pair, interval
from discreet.answers.quantity import FunctionQuantity, Plain, Quantity, RatioQuantity, to_float


def point_of(quantity: Quantity, ends: Pair | None = None) -> Plain | str | None:
    """Return the value of a quantity, or None: what is not defined, or may be anything, has no point.

    A mean, a variance or a correlation has none where its interval is all of its declared range, a quotient none where
    its interval has no end on either side, and what is computed from such a one has none either. `ends` is the
    interval, where it is known already.
    """
    if isinstance(quantity, RatioQuantity | FunctionQuantity) and ends is None:
        ends = interval(quantity)
    if not has_point(quantity, ends):
        return None
    value = value_of(quantity)
    if isinstance(value, float) and math.isnan(value):
        return None
    return _inside(value, ends) if isinstance(quantity, FunctionQuantity) else value


def _inside(value: Plain | str | None, ends: Pair | None) -> Plain | str | None:
    """Bring a value to the nearest one that the noise leaves possible."""
    low, high = (end for end in ends or (None, None))
    if not isinstance(value, int | float):
        return value
    if isinstance(low, int | float) and value < low:
        return low
    return high if isinstance(high, int | float) and value > high else value


def has_point(quantity: Quantity, ends: Pair | None = None) -> bool:
    """Return whether the noise leaves more to say of a quantity than what was declared before anyone asked."""
    match quantity:
        case RatioQuantity(low=low, high=high):
            return not _covers(interval(quantity) if ends is None else ends, low, high)
        case FunctionQuantity(name, parts, _, low, high):
            if not all(map(has_point, parts)):
                return False
            # What is clipped has a point: the bounds are those of the question, not of what is known.
            return name in _ARITHMETIC or not _covers(interval(quantity) if ends is None else ends, low, high)
    return True


_ARITHMETIC = ("absolute", "clip", "root", "round")


def _covers(ends: Pair, low: object, high: object) -> bool:
    """Return whether an interval is all there is between two bounds; the missing ones are infinitely far."""
    first, last = ends
    if not isinstance(first, int | float) or not isinstance(last, int | float):
        return False
    least = -math.inf if low is None else to_float(low)  # type: ignore[arg-type]
    most = math.inf if high is None else to_float(high)  # type: ignore[arg-type]
    return least < most and first <= least and last >= most
