"""A part of a text, by its place and its length in Unicode code points, the first of which is 1."""

from __future__ import annotations

from fractions import Fraction

from discreet.core.column import Column
from discreet.core.errors import BadParameter
from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.rules.text import check_text
from discreet.plan.typed_expression import Made, Typed

# Far beyond any code or prefix, and within what every engine takes for a place.
MOST_PLACE = 10_000


def substring(node: Call, value: Typed) -> Made:
    """Type and write a part of a text; of declared keys the parts are the keys of what is made."""
    check_text(node, value)
    first, length = (_place(each) for each in node.parameters)
    parts = [key[first - 1 : first - 1 + length] for key in value.column.keys or () if isinstance(key, str)]
    sql = value.dialect.part(value.sql, first, length)
    if parts and "" not in parts:  # which is no key
        return Column(None, "category", keys=tuple(dict.fromkeys(parts)), nullable=value.nullable), sql
    return Column(None, "text", nullable=value.nullable), sql


def _place(number: object) -> int:
    """Return a place or a length; engines differ in what lies before the first code point."""
    if isinstance(number, Fraction) and number.denominator == 1 and 1 <= number <= MOST_PLACE:
        return int(number)
    why = f"a part of a text begins at, and is as long as, a whole number from 1 to {MOST_PLACE:,}"
    raise BadParameter("substring", number, why=why, fix="write substring(1, 2) for the first two letters")


FUNCTION = Function(substring, parameters=(Fraction, Fraction), words=("SUBSTRING", "SUBSTR"))
