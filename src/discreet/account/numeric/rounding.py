"""Upward: arithmetic in many decimal digits, and floats that are never below what they stand for."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

from discreet.account.numeric.checks import Number
from discreet.noise.arrays import NDArray, np

# Results are computed to at least this many digits beyond what cancels, then raised by MARGIN: the margin exceeds
# every accumulated rounding error (at most 1e9 operations of relative error 1e-60) and is far below a float's last bit.
DIGITS = 60
MARGIN = Decimal("1e-40")

# Where floats are needed they are rounded outward by margins that depend on no processor's last bits. NumPy's exp, log,
# expm1 and log1p take other paths on other vector units and are known to within 4 units in the last place; one call and
# the few sums and products around it count as `CALL`, four times that. A sum or a scalar product of n positive terms,
# added up in any order, errs by less than n * `TERM` of itself.
CALL = 2.0**-49
TERM = 2.0**-52

Array: TypeAlias = "NDArray[np.float64]"
_SERIES = 16  # terms of e^x for |x| <= 1/2, after which less than 2^-60 is left


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


def sloped(slope: Number, places: Array) -> Array:
    """Return slope * place for each place, rounded up; infinity where it is beyond all floats."""
    with np.errstate(over="ignore"):
        return up(slope) * places * (1 + 2 * TERM)


def excess(x: Array) -> Array:
    """Return e^x - 1 - x, which is never negative, to within `CALL` of itself: by its series where x is small."""
    with np.errstate(over="ignore"):
        small = np.clip(x, -0.5, 0.5)
        series = np.full(len(x), 1 / math.factorial(_SERIES + 1))
        for power in range(_SERIES, 1, -1):
            series = series * small + 1 / math.factorial(power)
        return np.where(np.abs(x) <= 0.5, series * small * small, np.expm1(x) - x)


def raised(value: Decimal, scale: Decimal | None = None) -> float:
    """Return a float that is at least the true number which `value` approximates (relative to `scale`, if given)."""
    return up(value + MARGIN * abs(value if scale is None else scale))
