"""Expressions: all families of rules, in one reader of rows."""

from __future__ import annotations

from discreet.plan.sql import arithmetic, calls, choices, dates, logic, patterns, rows
from discreet.plan.sql.rows import Rows
from discreet.plan.sql.scope import Scope
from discreet.plan.sql.source import SqlText

_RULES = {
    rule: made for family in (rows, logic, arithmetic, choices, dates, patterns) for rule, made in family.RULES.items()
}
_FUNCTIONS = (*arithmetic.FUNCTIONS, *choices.FUNCTIONS, *dates.FUNCTIONS)


def rows_of(source: SqlText, scope: Scope) -> Rows:
    """Return the reader of what is computed from one row of a scope."""
    return Rows(source, scope, {**calls.rules(), **_RULES}, (*_FUNCTIONS, *calls.words()))
