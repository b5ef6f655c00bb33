"""The magnitude of a number."""

from __future__ import annotations

from fractions import Fraction

from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.typed_expression import Made, Typed, number, require


def absolute(node: Call, value: Typed) -> Made:
    """Type and write the magnitude of a number."""
    require(value, ["number"], node, "have a magnitude")
    return number(value.whole.magnitude(), value.step or Fraction(1), nullable=value.nullable)


FUNCTION = Function(absolute, words=("ABS",))
