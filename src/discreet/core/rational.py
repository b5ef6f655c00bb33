"""Numbers as written: the exact rational a person meant when they typed a bound or a step."""

from __future__ import annotations

import math
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational

from discreet.core.errors import BadParameter

# What a person types in a schema: never a measured value, so never in need of a float's last bit.
Number = int | Fraction | Decimal | float

# Wider than any float; Decimal("1e999999999") would otherwise be spelled out digit by digit.
_MOST_DIGITS = 400
# What a decimal may become: its digits above the line, its places below.
_WIDEST = 10 ** (2 * _MOST_DIGITS)
# From here on people write 1e16, and Python does.
_LONG = 10**16


def as_written(name: str, value: object) -> Fraction:
    """Return a declared number as an exact rational; a float means the decimal it prints, so 0.1 is 1/10.

    (The noise functions read floats as the rationals they are: there a float is a computed parameter, not a label.)
    """
    if isinstance(value, bool):
        raise _refused(name, value, "a boolean is not a number", "use 0 or 1, or flag() for a column of booleans")
    if isinstance(value, Rational):
        above, below = int(value.numerator), int(value.denominator)
        if max(abs(above), below) > _WIDEST:
            why = f"a number has at most {2 * _MOST_DIGITS} digits above its line, and as many below"
            raise _refused(name, value, why, "round it to fewer digits")
        return Fraction(above, below)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _refused(name, value, "a bound has to be a finite number", "use the largest value that makes sense")
        return Fraction(float.__repr__(value))
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > _MOST_DIGITS or len(value.as_tuple().digits) > _MOST_DIGITS:
            why = f"a bound has to be a finite number of at most {_MOST_DIGITS} digits"
            raise _refused(name, value, why, "use the largest value that makes sense")
        return Fraction(value)
    raise _refused(name, value, "it is not a number", "use an int, Fraction, Decimal or float")


def parse_written(name: str, text: str) -> Fraction:
    """Return a number typed as text: "2", "0.1" (exactly 1/10), "1e-6" or "1/3"."""
    numerator, slash, denominator = text.strip().partition("/")
    try:
        if not text.isascii():  # digits of other scripts are digits to Decimal
            raise InvalidOperation
        parts = [Decimal(numerator), Decimal(denominator if slash else 1)]
    except InvalidOperation as error:
        raise _refused(name, text, "it is not a number", "write it like 2, 0.1, 1e-6 or 1/3") from error
    above, below = (as_written(name, part) for part in parts)
    if not below:
        raise _refused(name, text, "nothing can be divided by zero", "write it like 2, 0.1, 1e-6 or 1/3")
    return above / below


def typed(value: object) -> object:
    """Return a number as a person would type it: Fraction(2, 1) as 2, Fraction(1, 1000) as 0.001; others stay.

    For showing values in refusals; what is returned means the same number when it is read `as_written`.
    """
    if not isinstance(value, Fraction):
        return value
    whole = value.denominator == 1
    if not whole or abs(value) >= _LONG:
        with suppress(OverflowError):  # wider than floats are
            if Fraction(repr(near := float(value))) == value:
                return near
    return value.numerator if whole else value


def _refused(name: str, value: object, why: str, fix: str) -> BadParameter:
    return BadParameter(name, value, why=why, fix=fix)
