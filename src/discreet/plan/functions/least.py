"""The least of several numbers or dates in one row; null where one of them is."""

from __future__ import annotations

from discreet.plan.function import Function
from discreet.plan.rules.extreme import extreme

FUNCTION = Function(extreme, least=2, most=None)
