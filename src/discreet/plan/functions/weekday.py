"""The day of the week of a date: Monday is 1, Sunday is 7, as in ISO 8601."""

from __future__ import annotations

from fractions import Fraction

from discreet.plan.expressions import Call
from discreet.plan.function import Function
from discreet.plan.rules.arithmetic import FIRST_DAY
from discreet.plan.typed_expression import Made, Typed, number, require
from discreet.plan.whole import Whole

# One numbering for the days of the week. DOW is not among them: where it is known, Sunday is 0.
_WORDS = ("DAYOFWEEK", "DAYOFWEEKISO", "DAYOFWEEK_ISO")


def weekday(node: Call, value: Typed) -> Made:
    """Type and write the day of the week by arithmetic alone: the first day of the calendar is a Monday."""
    require(value, ["date"], node, "have a weekday")
    since = value.whole.shifted(-FIRST_DAY)
    rest = value.dialect.remainder(since.sql, value.dialect.literal(7), wide=since.wide)
    return number(Whole(rest, 0, 6, value.dialect).shifted(1), Fraction(1), nullable=value.nullable)


FUNCTION = Function(weekday, words=_WORDS, parts=(*_WORDS, "ISODOW"))
