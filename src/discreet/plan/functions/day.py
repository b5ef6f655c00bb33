"""The day of the month, 1 to 31."""

from __future__ import annotations

from discreet.plan.function import Function
from discreet.plan.rules.date_part import date_part

FUNCTION = Function(date_part, words=("DAY", "DAYOFMONTH"), parts=("DAY", "DAYOFMONTH"))
