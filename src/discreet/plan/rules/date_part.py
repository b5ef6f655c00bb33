"""Parts of dates that every engine computes: year, month and day of the month."""

from __future__ import annotations

from fractions import Fraction

from discreet.plan.expressions import Call
from discreet.plan.typed_expression import EPOCH, Made, Typed, number, require
from discreet.plan.whole import Whole


def date_part(node: Call, value: Typed) -> Made:
    """Type and write the year, month or day of the month."""
    require(value, ["date"], node, f"have a {node.function}")
    sql = value.dialect.date_part(node.function, value.sql)
    return number(Whole.of(sql, bounds_of(node.function, value), value.dialect), Fraction(1), nullable=value.nullable)


def bounds_of(part: str, value: Typed) -> tuple[int, int]:
    """Return the least and the greatest that a part of a date can be."""
    first, last = value.column.bounds or (EPOCH, EPOCH)
    assert not isinstance(first, Fraction)
    assert not isinstance(last, Fraction)
    if part == "year":
        return first.year, last.year
    if part == "month":
        return (first.month, last.month) if first.year == last.year else (1, 12)
    same = (first.year, first.month) == (last.year, last.month)
    return (first.day, last.day) if same else (1, 31)
