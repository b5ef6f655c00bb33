"""A number rounded to a step, halves upwards."""

from __future__ import annotations

from fractions import Fraction

from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.typed_expression import Made, Typed, number, require


def rounded(node: Call, value: Typed) -> Made:
    """Type and write a number rounded to a step, halves upwards."""
    require(value, ["number"], node, "can be rounded")
    (step,) = node.parameters
    assert isinstance(step, Fraction)
    ratio = (value.step or step) / step
    return number(value.whole.rounded(ratio.numerator, ratio.denominator), step, nullable=value.nullable)


FUNCTION = Function(rounded, parameters=(Fraction,), positive=True)
