"""The quarter of the year of a date, 1 to 4."""

from __future__ import annotations

from fractions import Fraction

from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.rules.date_part import bounds_of
from discreet.plan.typed_expression import Made, Typed, number, require
from discreet.plan.whole import Whole


def quarter(node: Call, value: Typed) -> Made:
    """Type and write floor((month + 2) / 3)."""
    require(value, ["date"], node, "have a quarter")
    low, high = bounds_of("month", value)
    month = Whole.of(value.dialect.date_part("month", value.sql), (low, high), value.dialect)
    three = Whole.constant(3, value.dialect)
    return number(month.shifted(2).over(three, (low + 2) // 3, (high + 2) // 3), Fraction(1), nullable=value.nullable)


FUNCTION = Function(quarter, words=("QUARTER",), parts=("QUARTER",))
