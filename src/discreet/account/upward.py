"""Upward: arithmetic in many decimal digits, and floats that are never below what they stand for."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from discreet.account.checks import Number

# Results are computed to at least this many digits beyond what cancels, then raised by MARGIN: the margin exceeds
# every accumulated rounding error (at most 1e9 operations of relative error 1e-60) and is far below a float's last bit.
DIGITS = 60
MARGIN = Decimal("1e-40")


@contextmanager
def precise(digits: int = DIGITS) -> Iterator[None]:
    """Compute with Decimals of that many digits and, in effect, unbounded exponents; tiny results become zero."""
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])):
        yield


def decimal(value: Number) -> Decimal:
    """Return a number as a Decimal, correct to the digits of the present context."""
    exact = Fraction(value)
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def zeros(value: Number) -> int:
    """Return how many zeros follow the decimal point before a positive number begins (0 for numbers from 1 on)."""
    exact = Fraction(value)
    return max(0, math.ceil((exact.denominator.bit_length() - exact.numerator.bit_length() + 1) * 0.30103))


def up(value: Fraction | Decimal | float) -> float:
    """Return the least float that is at least `value`."""
    if isinstance(value, float):
        return value
    if isinstance(value, Decimal) and (not value.is_finite() or abs(value.adjusted()) > 400):
        return _far(value)  # as_integer_ratio would spell such a number out digit by digit
    above, below = value.as_integer_ratio()
    try:
        nearest = above / below
    except OverflowError:
        return math.inf if above > 0 else -sys.float_info.max
    numerator, denominator = nearest.as_integer_ratio()
    return math.nextafter(nearest, math.inf) if numerator * below < above * denominator else nearest


def _far(value: Decimal) -> float:
    """Return the least float that is at least a number beyond the floats, too large or too small for them."""
    if not value.is_finite():
        return float(value)
    if value.adjusted() > 0:
        return math.inf if value > 0 else -sys.float_info.max
    return math.ulp(0.0) if value > 0 else 0.0


def raised(value: Decimal, scale: Decimal | None = None) -> float:
    """Return a float that is at least the true number which `value` approximates (relative to `scale`, if given)."""
    return up(value + MARGIN * abs(value if scale is None else scale))
