"""How losses are written: a record of plain JSON values in which every number is exact.

Integers are JSON integers, fractions are texts such as "1/3", floats are JSON numbers in the shortest form that
reads back as the same float, infinity is "inf". The meaning of a record never changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.core.errors import BadParameter


def encode(value: object, record: Callable[[Any], object]) -> object:
    """Return a field of a loss as a JSON value; losses inside it are written by `record`."""
    match value:
        case float() if math.isinf(value):
            return "inf"
        case None | bool() | int() | float() | str():
            return value
        case Fraction():
            return f"{value.numerator}/{value.denominator}"
        case tuple():
            return [encode(each, record) for each in value]
        case _:
            return record(value)


def decode(value: object, loss: Callable[[dict[str, Any]], object]) -> object:
    """Return what `encode` was given; records inside it are read by `loss`."""
    match value:
        case "inf":
            return math.inf
        case str():
            return _fraction(value)
        case list():
            return tuple(decode(each, loss) for each in value)
        case dict():
            return loss(value)
        case _:
            return value


def _fraction(text: str) -> Fraction:
    found = re.fullmatch(r"(-?\d{1,4000})/(\d{1,4000})", text)  # Python reads no whole number of many more digits
    if found is None or int(found[2]) == 0:
        raise BadParameter(
            "number", text, why="it is not a fraction", fix="pass the text that to_json returned, unchanged"
        )
    return Fraction(int(found[1]), int(found[2]))
