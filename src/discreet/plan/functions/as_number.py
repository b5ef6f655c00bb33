"""A flag as 0 or 1, or a category of integers as a number."""

from __future__ import annotations

from fractions import Fraction

from discreet.core.column import Column
from discreet.core.errors import show
from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.refusals import IllTyped
from discreet.plan.typed_expression import Made, Typed, number, require
from discreet.plan.whole import Whole


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


FUNCTION = Function(as_number)
