"""Whether a text begins with a prefix, by Unicode code points, without folding of case."""

from __future__ import annotations

from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.rules.text import check_text
from discreet.plan.typed_expression import Made, Typed, flag


def starts_with(node: Call, value: Typed) -> Made:
    """Type and write whether a text begins with a prefix."""
    check_text(node, value)
    (prefix,) = node.parameters
    assert isinstance(prefix, str)
    return flag(value.dialect.starts_with(value.sql, value.dialect.literal(prefix)), nullable=value.nullable)


FUNCTION = Function(starts_with, parameters=(str,))
