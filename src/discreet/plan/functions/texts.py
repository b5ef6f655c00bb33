"""Functions of text: starts_with and length, both by Unicode code points, without normalization or folding of case."""

from __future__ import annotations

from fractions import Fraction

from discreet.core.errors import show
from discreet.plan.expressions import Call
from discreet.plan.refusals import IllTyped
from discreet.plan.typed_expression import Made, Typed, flag, number
from discreet.plan.whole import Whole

# What no text is longer than; where a length is summed a tighter bound is needed, which clip() gives.
MOST_LENGTH = (1 << 31) - 1


def starts_with(node: Call, value: Typed) -> Made:
    """Type and write whether a text begins with a prefix."""
    _check_text(node, value)
    (prefix,) = node.parameters
    assert isinstance(prefix, str)
    return flag(value.dialect.starts_with(value.sql, value.dialect.literal(prefix)), nullable=value.nullable)


def length(node: Call, value: Typed) -> Made:
    """Type and write how many code points a text has; the keys of a category bound it."""
    _check_text(node, value)
    lengths = [len(key) for key in value.column.keys or () if isinstance(key, str)] or [0, MOST_LENGTH]
    dialect = value.dialect
    counted = Whole(dialect.length(value.sql), 0, 1 << 61, dialect)  # an engine's own limit, whatever it is
    known = counted.within(min(lengths), max(lengths)) if value.column.keys else counted.clamped(0, MOST_LENGTH)
    return number(known, Fraction(1), nullable=value.nullable)


def _check_text(node: Call, value: Typed) -> None:
    if not value.has_text:
        why = f"{show(value.expression)} is a {value.kind}, not text"
        raise IllTyped(node, why=why, fix="use a text column, or a category whose keys are text")
