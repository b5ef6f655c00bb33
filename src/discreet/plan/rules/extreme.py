"""Extremes: the least and the greatest of several values in one row."""

from __future__ import annotations

from fractions import Fraction

from discreet.plan.expressions import Call
from discreet.plan.typed_expression import Made, Typed, aligned, days, in_common, number, require
from discreet.plan.whole import Whole


def extreme(node: Call, *values: Typed) -> Made:
    """Type and write the least or greatest of several numbers or dates in a row; null where one of them is."""
    values = tuple(in_common(values))
    for value in values:
        require(value, [values[0].kind] if values[0].kind == "date" else ["number"], node, "can be ranked with these")
    if values[0].kind == "date":
        step, wholes = Fraction(1), [value.whole for value in values]
    else:
        step, wholes = aligned(values)
    pick = min if node.function == "least" else max
    missing = " OR ".join(f"{whole.sql} IS NULL" for whole in wholes)
    listed = ", ".join(whole.sql for whole in wholes)
    found = Whole(
        f"(CASE WHEN {missing} THEN NULL ELSE {node.function.upper()}({listed}) END)",
        pick(whole.low for whole in wholes),
        pick(whole.high for whole in wholes),
        wholes[0].dialect,
        wide=any(whole.wide for whole in wholes),
    )
    nullable = any(value.nullable for value in values)
    return days(found, nullable=nullable) if values[0].kind == "date" else number(found, step, nullable=nullable)
