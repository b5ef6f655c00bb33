"""Fields of aggregates as plain JSON values: expressions, constants, and lists of them."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

from discreet.plan.expressions import Expression
from discreet.plan.serial import constant_from_record, constant_record, expression_from_record, expression_record


def encoded(value: object) -> object:
    """Return a field as plain JSON values."""
    match value:
        case Expression():
            return expression_record(value)
        case tuple():
            return [encoded(each) for each in value]
        case Fraction() | dt.date():
            return constant_record(value)
    return value


def decoded(name: str, value: object) -> object:
    """Read what `encoded` returned of the field of that name."""
    match value:
        case list():
            return tuple(decoded(name, each) for each in value)
        case dict():
            return expression_from_record(value) if name in ("of", "other") else constant_from_record(value)
    return value
