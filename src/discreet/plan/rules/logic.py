"""Comparisons and connectives, with the three booleans of SQL: null where the truth is not known."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.core.errors import BadParameter, UnknownName, show
from discreet.plan.expressions import Compare, Expression, Logic
from discreet.plan.refusals import IllTyped
from discreet.plan.typed_expression import Made, Typed, aligned, flag, in_common, require
from discreet.plan.whole import Whole

_SQL = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compare(node: Compare, left: Typed, right: Typed) -> Made:
    """Type and write a comparison."""
    left, right = in_common((left, right))
    check_pair(node, left, right)
    nullable = left.nullable or right.nullable
    if left.kind in ("number", "date"):
        if right.literal is not None and left.literal is None:
            return flag(_against(left, node.order, right), nullable=nullable)
        if left.literal is not None and right.literal is None:
            return flag(_against(right, _TURNED[node.order], left), nullable=nullable)
        one, two = (left.whole, right.whole) if left.kind == "date" else aligned((left, right))[1]
        return flag(f"({one.sql} {_SQL[node.order]} {two.sql})", nullable=nullable)
    return flag(f"({left.sql} {_SQL[node.order]} {right.sql})", nullable=nullable)


def logic(node: Logic, *values: Typed) -> Made:
    """Type and write and, or, not."""
    for value in values:
        require(value, ["flag"], node, "can be joined by &, | and ~")
    nullable = any(value.nullable for value in values)
    if node.word == "not":
        return flag(f"(NOT {values[0].sql})", nullable=nullable)
    return flag(f"({values[0].sql} {node.word.upper()} {values[1].sql})", nullable=nullable)


def threshold(value: Typed, constant: Typed) -> Fraction:
    """Return a constant in the steps of the value beside it."""
    if value.kind == "date":
        return Fraction(constant.column.steps[0])
    assert isinstance(constant.literal, Fraction)
    return constant.literal / (value.step or 1)


def _against(value: Typed, order: str, constant: Typed) -> str:
    """Compare with a constant by moving the constant, which may be any number, to the steps of the value.

    One that is no multiple of the step is equal to nothing, and separates the multiples below from those above. One
    outside the bounds is moved next to them, where it compares alike with every value inside.
    """
    whole, exact = value.whole, threshold(value, constant)
    near = whole.high + 1
    if exact.denominator == 1:
        near = int(exact)
    elif order in ("<", "<="):
        order, near = "<=", math.floor(exact)
    elif order in (">", ">="):
        order, near = ">=", math.ceil(exact)
    near = min(max(near, whole.low - 1), whole.high + 1)
    return f"({whole.sql} {_SQL[order]} {beside(whole, near)})"


def beside(whole: Whole, value: int) -> str:
    """Write a constant in the type of the value beside it."""
    kind = whole.dialect.wide if whole.wide else whole.dialect.narrow
    return whole.dialect.cast(str(value), kind)


def check_pair(node: Compare, left: Typed, right: Typed) -> None:
    """Refuse comparisons that mean nothing, and constants that no row can equal since no key is written so."""
    kinds = {left.kind, right.kind}
    if kinds == {"category"} and left.has_text != right.has_text:
        raise IllTyped(node, why="text never equals an integer", fix="compare keys of one type")
    if len(kinds) == 2 and not (left.has_text and right.has_text):
        why = f"{show(left.expression)} is a {left.kind} and {show(right.expression)} is a {right.kind}"
        raise IllTyped(node, why=why, fix=_fix(left, right))
    if node.order not in ("==", "!=") and kinds & {"flag", "category", "text"}:
        why = f"a {left.kind} has no order that all engines agree on"
        raise IllTyped(node, why=why, fix="use == or !=, is_in() or as_number()")
    for value, constant in ((left, right), (right, left)):
        if value.kind == "category" and value.literal is None and constant.literal is not None:
            _check_key(value.expression, value.column.keys or (), constant)


def _check_key(expression: Expression, keys: tuple[str | int, ...], constant: Typed) -> None:
    key = constant.column.keys[0] if constant.column.keys else None
    if key not in keys:
        if isinstance(key, str):
            raise UnknownName(f"key of {expression!r}", key, [str(each) for each in keys])
        why = "it is not among the declared keys"
        raise BadParameter(f"{expression!r}", key, why=why, fix=f"use one of {', '.join(map(str, keys[:20]))}")


def _fix(left: Typed, right: Typed) -> str:
    if "number" in (left.kind, right.kind) and {left.kind, right.kind} & {"flag", "category"}:
        return "convert with as_number() where the keys are integers or flags, else compare with a text"
    return "compare values of one kind"
