"""Parts of dates: year, month, day, weekday; weeks begin on Monday, which is 1, as in ISO 8601."""

from __future__ import annotations

from fractions import Fraction

from discreet.plan.expressions import Call
from discreet.plan.functions.arithmetic import FIRST_DAY
from discreet.plan.typed_expression import EPOCH, Made, Typed, number, require
from discreet.plan.whole import Whole


def date_part(node: Call, value: Typed) -> Made:
    """Type and write the year, month or day of the month."""
    require(value, ["date"], node, f"have a {node.function}")
    sql = value.dialect.date_part(node.function, value.sql)
    return number(Whole.of(sql, _bounds(node.function, value), value.dialect), Fraction(1), nullable=value.nullable)


def weekday(node: Call, value: Typed) -> Made:
    """Type and write the day of the week by arithmetic alone: the first day of the calendar is a Monday."""
    require(value, ["date"], node, "have a weekday")
    since = value.whole.shifted(-FIRST_DAY)
    rest = value.dialect.remainder(since.sql, value.dialect.literal(7), wide=since.wide)
    return number(Whole(rest, 0, 6, value.dialect).shifted(1), Fraction(1), nullable=value.nullable)


def _bounds(part: str, value: Typed) -> tuple[int, int]:
    first, last = value.column.bounds or (EPOCH, EPOCH)
    assert not isinstance(first, Fraction)
    assert not isinstance(last, Fraction)
    if part == "year":
        return first.year, last.year
    if part == "month":
        return (first.month, last.month) if first.year == last.year else (1, 12)
    same = (first.year, first.month) == (last.year, last.month)
    return (first.day, last.day) if same else (1, 31)
