"""The year of a date."""

from __future__ import annotations

from discreet.plan.function import Function
from discreet.plan.rules.date_part import date_part

FUNCTION = Function(date_part, words=("YEAR",), parts=("YEAR",))
