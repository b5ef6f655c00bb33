"""Whether a text matches a pattern of texts and %, by Unicode code points, without folding of case."""

from __future__ import annotations

from discreet.core.errors import BadParameter
from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.rules.text import check_text
from discreet.plan.typed_expression import Made, Typed, flag

# More pieces would let one long text decide how long an engine looks for them.
MOST_PIECES = 4
# What engines read differently, or not as itself.
SPECIAL = "_\\"


def like(node: Call, value: Typed) -> Made:
    """Type and write whether a text is made of these pieces, in this order, with anything in the place of each %."""
    check_text(node, value)
    (pattern,) = node.parameters
    assert isinstance(pattern, str)
    pieces = pattern.split("%")
    if any(each in pattern for each in SPECIAL) or sum(map(bool, pieces)) > MOST_PIECES:
        why = f"a pattern has at most {MOST_PIECES} pieces between its %, and neither _ nor a backslash"
        raise BadParameter("pattern", pattern, why=why, fix="write like('%special%requests%')")
    return flag(value.dialect.like(value.sql, pieces), nullable=value.nullable)


FUNCTION = Function(like, parameters=(str,))
