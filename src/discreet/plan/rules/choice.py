"""Choices between values: CASE, and the type that all of them have."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.column import Column
from discreet.core.errors import show
from discreet.plan.expressions import Case, Expression
from discreet.plan.refusals import IllTyped
from discreet.plan.typed_expression import Made, Typed, aligned, days, in_common, number, require
from discreet.plan.whole import Whole


def case(node: Case, *values: Typed) -> Made:
    """Type and write a choice; a condition that is null counts as not true."""
    pairs = 2 * len(node.branches)
    conditions, chosen, default = values[:pairs:2], values[1:pairs:2], values[pairs:]
    for condition in conditions:
        require(condition, ["flag"], node, "can be conditions")
    results = (*chosen, *default)
    column, found = unified(node, results, nullable=not default or any(value.nullable for value in results))
    branches = " ".join(f"WHEN {one.sql} THEN {sql}" for one, sql in zip(conditions, found, strict=False))
    return column, f"(CASE {branches} ELSE {found[-1] if default else 'NULL'} END)"


def unified(node: Expression, values: Sequence[Typed], *, nullable: bool) -> tuple[Column, list[str]]:
    """Bring values to one type, which holds all of them."""
    values = in_common(values)
    kinds = {value.kind for value in values}
    if len(kinds) > 1 and not all(value.has_text for value in values):
        listed = ", ".join(f"{show(value.expression)} is a {value.kind}" for value in values)
        raise IllTyped(node, why=f"a choice is between values of one kind: {listed}", fix="convert with as_number()")
    match values[0].kind if len(kinds) == 1 else "text":
        case "number":
            step, wholes = aligned(values)
            return number(_hull(wholes), step, nullable=nullable)[0], [whole.stored for whole in wholes]
        case "date":
            wholes = [value.whole for value in values]
            return days(_hull(wholes), nullable=nullable)[0], [whole.stored for whole in wholes]
        case "category":
            if len({value.has_text for value in values}) > 1:
                raise IllTyped(node, why="text is not an integer", fix="use keys of one type")
            keys = tuple(dict.fromkeys(key for value in values for key in value.column.keys or ()))
            return Column(None, "category", keys=keys, nullable=nullable), [value.sql for value in values]
        case kind:
            return Column(None, kind, nullable=nullable), [value.sql for value in values]


def _hull(wholes: Sequence[Whole]) -> Whole:
    low, high = min(whole.low for whole in wholes), max(whole.high for whole in wholes)
    return Whole("", low, high, wholes[0].dialect)
