"""Functions of numbers: abs, round, clip, least, greatest, as_number."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction

from discreet.core.column import Column
from discreet.core.errors import show
from discreet.plan.expressions import Call
from discreet.plan.refusals import IllTyped
from discreet.plan.typed_expression import Made, Typed, aligned, as_day, days, in_common, number, require
from discreet.plan.whole import Whole


def absolute(node: Call, value: Typed) -> Made:
    """Type and write the magnitude of a number."""
    require(value, ["number"], node, "have a magnitude")
    return number(value.whole.magnitude(), value.step or Fraction(1), nullable=value.nullable)


def rounded(node: Call, value: Typed) -> Made:
    """Type and write a number rounded to a step, halves upwards."""
    require(value, ["number"], node, "can be rounded")
    (step,) = node.parameters
    assert isinstance(step, Fraction)
    ratio = (value.step or step) / step
    return number(value.whole.rounded(ratio.numerator, ratio.denominator), step, nullable=value.nullable)


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


def extreme(node: Call, *values: Typed) -> Made:
    """Type and write the least or greatest of several numbers or dates in a row; null where one of them is."""
    values = tuple(in_common(values))
    for value in values:
        require(value, [values[0].kind] if values[0].kind == "date" else ["number"], node, "can be ranked with these")
    if values[0].kind == "date":
        step, wholes = Fraction(1), [value.whole for value in values]
    else:
        step, wholes = aligned(values)
    pick = min if node.function == "least" else max
    missing = " OR ".join(f"{whole.sql} IS NULL" for whole in wholes)
    listed = ", ".join(whole.sql for whole in wholes)
    found = Whole(
        f"(CASE WHEN {missing} THEN NULL ELSE {node.function.upper()}({listed}) END)",
        pick(whole.low for whole in wholes),
        pick(whole.high for whole in wholes),
        wholes[0].dialect,
        wide=any(whole.wide for whole in wholes),
    )
    nullable = any(value.nullable for value in values)
    return days(found, nullable=nullable) if values[0].kind == "date" else number(found, step, nullable=nullable)


def as_number(node: Call, value: Typed) -> Made:
    """Type and write a flag as 0 or 1, or a category of integers as a number."""
    require(value, ["number", "flag", "category"], node, "can be numbers")
    if value.kind == "number":
        return value.column, value.sql
    if value.kind == "flag":
        sql = value.dialect.flag_to_integer(value.sql)
        return Column(None, "number", bounds=(Fraction(0), Fraction(1)), step=Fraction(1), nullable=value.nullable), sql
    keys = [key for key in value.column.keys or () if isinstance(key, int)]
    if not keys:
        fix = "write when(x == 'A', 1).otherwise(0) to give each key a number"
        raise IllTyped(node, why=f"the keys of {show(value.expression)} are text", fix=fix)
    bounds = min(keys), max(keys)
    return number(Whole.of(value.sql, bounds, value.dialect), Fraction(1), nullable=value.nullable)


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
