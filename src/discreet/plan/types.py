"""Types: the column that an expression makes, its bounds and step derived exactly from those of its columns."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.column import Column
from discreet.plan.compiler import compiled
from discreet.plan.expressions import Expression
from discreet.plan.refusals import IllTyped


def type_of(expression: Expression, columns: Mapping[str, Column]) -> Column:
    """Return what an expression's values may be, or refuse it with what, why and fix.

    Guarantee: for rows within their declared bounds every value is null or within the derived bounds and on the
    derived step, and none raises; what is refused depends on the expression and the declared columns alone.
    """
    return compiled(expression, columns).column


def check_predicate(expression: Expression, columns: Mapping[str, Column]) -> None:
    """Refuse what cannot be a condition, since it is not true or false for a row."""
    found = type_of(expression, columns)
    if found.kind != "flag":
        why = f"it is a {found.kind}, not true or false"
        raise IllTyped(expression, why=why, fix="compare it with something, for example == or >=")
