"""Arithmetic: sums, differences, products and rounded quotients of numbers; differences and shifts of dates."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

from discreet.core.errors import show
from discreet.plan.expressions import Arithmetic
from discreet.plan.refusals import IllTyped
from discreet.plan.typed_expression import EPOCH, Made, Typed, aligned, days, in_common, number, require
from discreet.plan.whole import Whole

FIRST_DAY, LAST_DAY = ((day - EPOCH).days for day in (dt.date.min, dt.date.max))


def arithmetic(node: Arithmetic, left: Typed, right: Typed) -> Made:
    """Type and write two operands joined by a sign."""
    if node.sign in "+-" and "date" in (left.kind, right.kind):
        return _of_dates(node, left, right)
    for operand in (left, right):
        require(operand, ["number"], node, "can be added, subtracted, multiplied and divided")
    nullable = left.nullable or right.nullable
    match node.sign:
        case "+" | "-":
            step, (one, two) = aligned((left, right))
            return number(one.plus(two) if node.sign == "+" else one.minus(two), step, nullable=nullable)
        case "*":
            return _product(node, left, right)
        case "/":
            return _quotient(node, left, right)


def _product(node: Arithmetic, left: Typed, right: Typed) -> Made:
    product = left.whole.times(right.whole)
    if node.left.same_as(node.right):
        product = product.within(0, product.high)  # a square is never negative, whatever intervals say
    step = (left.step or 1) * (right.step or Fraction(1))
    return number(product, step, nullable=left.nullable or right.nullable)


def _quotient(node: Arithmetic, left: Typed, right: Typed) -> Made:
    """Return floor(x / y + 1/2) in steps; null where y is zero.

    With x = X * sx, y = Y * sy and a / b = sx / (sy * step) the quotient is (X * a) / (Y * b) steps. It is bounded
    whatever the bounds of y, since a divisor that is not zero is at least one step of its own away from it.
    """
    finest = min([each.step for each in (left, right) if each.step], default=Fraction(1))
    step = node.step or finest
    ratio = (left.step or 1) / ((right.step or 1) * step)
    above, below = left.whole, right.whole
    parts = [part for part in ((below.low, min(below.high, -1)), (max(below.low, 1), below.high)) if part[0] <= part[1]]
    nullable = left.nullable or right.nullable or below.low <= 0 <= below.high
    corners = [_nearest(x * ratio / y) for x in (above.low, above.high) for part in parts for y in part]
    if not corners:  # the divisor is zero in every row
        return number(above.scaled(0).over(below.within(0, 0), 0, 0), step, nullable=True)
    if below.low < 0:
        above, below = _signed(above, below), below.magnitude()
    divisor = below.scaled(2 * ratio.denominator)
    dividend = above.scaled(2 * ratio.numerator).plus(below.scaled(ratio.denominator))
    return number(dividend.over(divisor, min(corners), max(corners)), step, nullable=nullable)


def _signed(above: Whole, below: Whole) -> Whole:
    """Return the dividend with its sign turned where the divisor is negative."""
    if below.high <= 0:
        return above.scaled(-1)
    turned = above.scaled(-1)
    sql = f"(CASE WHEN {below.sql} < 0 THEN {turned.sql} ELSE {above.sql} END)"
    low, high = min(above.low, turned.low), max(above.high, turned.high)
    return Whole(sql, low, high, above.dialect, wide=above.wide or turned.wide)


def _nearest(value: Fraction) -> int:
    return (value + Fraction(1, 2)).__floor__()


def _of_dates(node: Arithmetic, left: Typed, right: Typed) -> Made:
    """Return the days between two dates, or a date so many days later, clamped to the calendar."""
    left, right = in_common((left, right))
    nullable = left.nullable or right.nullable
    if node.sign == "-" and left.kind == right.kind == "date":
        return number(left.whole.minus(right.whole), Fraction(1), nullable=nullable)
    if right.kind == "date" and (node.sign == "-" or left.kind == "date"):
        fix = "write last - first for the days between, date + 7 for a later day"
        raise IllTyped(node, why="dates are not added, nor subtracted from numbers", fix=fix)
    day, shift = (left, right) if left.kind == "date" else (right, left)
    require(shift, ["number"], node, "can be added to a date")
    if shift.step.denominator != 1:
        raise IllTyped(
            node, why=f"{show(shift.expression)} is not a whole number of days", fix="round it with round(1)"
        )
    # Shifts beyond the calendar all lead to its end, so they are clamped first, and nothing can overflow.
    step = int(shift.step or 1)
    reach = (LAST_DAY - FIRST_DAY) // step + 1
    by = shift.whole.clamped(-reach, reach).scaled(step)
    moved = day.whole.plus(by) if node.sign == "+" else day.whole.minus(by)
    return days(moved.clamped(FIRST_DAY, LAST_DAY), nullable=nullable)
