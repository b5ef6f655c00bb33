"""How many Unicode code points a text has."""

from __future__ import annotations

from fractions import Fraction

from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.rules.text import check_text
from discreet.plan.typed_expression import Made, Typed, number
from discreet.plan.whole import Whole

# What no text is longer than; where a length is summed a tighter bound is needed, which clip() gives.
MOST_LENGTH = (1 << 31) - 1


def length(node: Call, value: Typed) -> Made:
    """Type and write how many code points a text has; the keys of a category bound it."""
    check_text(node, value)
    lengths = [len(key) for key in value.column.keys or () if isinstance(key, str)] or [0, MOST_LENGTH]
    dialect = value.dialect
    counted = Whole(dialect.length(value.sql), 0, 1 << 61, dialect)  # an engine's own limit, whatever it is
    known = counted.within(min(lengths), max(lengths)) if value.column.keys else counted.clamped(0, MOST_LENGTH)
    return number(known, Fraction(1), nullable=value.nullable)


FUNCTION = Function(length, words=("LENGTH",))
