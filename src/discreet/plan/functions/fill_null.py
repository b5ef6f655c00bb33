"""A value with another in its place where it is null."""

from __future__ import annotations

from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.rules.choice import unified
from discreet.plan.typed_expression import Made, Typed


def fill_null(node: Call, value: Typed, other: Typed) -> Made:
    """Type and write a value with another in its place where it is null."""
    column, found = unified(node, (value, other), nullable=value.nullable and other.nullable)
    return column, f"COALESCE({found[0]}, {found[1]})"


FUNCTION = Function(fill_null, least=2, most=2)
