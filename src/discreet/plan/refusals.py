"""Refusals of expressions: ill-typed ones, and those whose values no engine's integers can hold."""

from __future__ import annotations

from discreet.core.errors import Refusal, show
from discreet.engines.dialect import MOST_TEXT


class IllTyped(Refusal, TypeError):
    """An operation on columns of a kind for which it means nothing."""

    def __init__(self, expression: object, *, why: str, fix: str) -> None:
        super().__init__(show(expression), why=why, fix=fix, value=repr(expression))


class TooWide(Refusal, OverflowError):
    """An expression whose values, or whose text, might not fit."""

    def __init__(self, expression: object, *, why: str, fix: str) -> None:
        super().__init__(show(expression), why=why, fix=fix, value=repr(expression))


def too_wide(expression: object) -> TooWide:
    """Refuse an expression whose values, counted in steps, might not fit 126 bits."""
    why = "counted in steps its values, or what is computed on the way, might not fit 126 bits"
    return TooWide(expression, why=why, fix="narrow what goes in with clip(low, high), or coarsen it with round(step)")


def too_long(expression: object) -> TooWide:
    """Refuse an expression that an engine would have to read for too long."""
    why = f"written as SQL it is longer than {MOST_TEXT} characters"
    return TooWide(expression, why=why, fix="name parts of it with derive() and use the names")
