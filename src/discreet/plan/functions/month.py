"""The month of a date, 1 to 12."""

from __future__ import annotations

from discreet.plan.function import Function
from discreet.plan.rules.date_part import date_part

FUNCTION = Function(date_part, words=("MONTH",), parts=("MONTH",))
