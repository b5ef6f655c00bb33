"""Whether a value is missing."""

from __future__ import annotations

from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.typed_expression import Made, Typed, flag


def is_null(_node: Call, value: Typed) -> Made:
    """Type and write whether a value is missing."""
    return flag(f"({value.sql} IS NULL)", nullable=False)


FUNCTION = Function(is_null)
