"""A number or a date clamped to bounds."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction

from discreet.core.errors import show
from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.refusals import IllTyped
from discreet.plan.typed_expression import Made, Typed, as_day, days, number, require


def clipped(node: Call, value: Typed) -> Made:
    """Type and write a number or a date clamped to bounds, which are snapped inwards to its step."""
    require(value, ["number", "date"], node, "can be clipped")
    whole = value.whole
    if value.kind == "date":
        low, high = (_days(node, bound) for bound in node.parameters)
    else:
        step = value.step or Fraction(1)
        first, last = (_number(node, bound) for bound in node.parameters)
        low = None if first is None else math.ceil(first / step)
        high = None if last is None else math.floor(last / step)
    if low is not None and high is not None and low > high:
        why = f"nothing that {show(value.expression)} can be lies between the bounds"
        raise IllTyped(node, why=why, fix="give the smaller bound first, at least one step below the other")
    if low is None:
        low = whole.low if high is None else min(whole.low, high)
    if high is None:
        high = max(whole.high, low)
    found = whole.clamped(low, high)
    return (
        days(found, nullable=value.nullable) if value.kind == "date" else number(found, step, nullable=value.nullable)
    )


def _number(node: Call, bound: object) -> Fraction | None:
    if bound is None or isinstance(bound, Fraction):
        return bound
    raise IllTyped(node, why=f"{bound!r} is not a number", fix="clip numbers to numbers, and dates to days")


def _days(node: Call, bound: object) -> int | None:
    if bound is None:
        return None
    day = as_day(bound, node) if isinstance(bound, str) else bound
    if isinstance(day, dt.date):
        return (day - dt.date(1970, 1, 1)).days
    raise IllTyped(node, why=f"{bound!r} is not a day", fix="clip numbers to numbers, and dates to days")


FUNCTION = Function(clipped, parameters=(object, object))
