"""Expressions: arithmetic, and all families of rules in one reader of rows.

Signs, ROUND, FLOOR, CEIL, LEAST, GREATEST and STARTS_WITH differ from a plain call.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.plan.expressions import Arithmetic, Expression, Literal, greatest, least
from discreet.plan.sql import calls, logic, rows
from discreet.plan.sql.rows import Rows, Rule, added, run
from discreet.plan.sql.scope import Scope
from discreet.plan.sql.source import SqlText

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


_SIGNS = {"add": "+", "sub": "-"}
_HALF = Fraction(1, 2)


def _sum(rows: Rows, node: Node) -> Expression:
    first, *others = run(node, "add", "sub")
    if len(others) == 1:
        day = rows.read(first)
        value = day.value if isinstance(day, Literal) else None
        found = calls.moved(rows, value, _SIGNS[node.key], node.expression) if isinstance(value, dt.date) else None
        if found is not None:
            return found
    parts = [rows.read(first), *(rows.read(each.expression) for each in others)]
    if all(each.key == "add" for each in others):
        return added(parts)
    made = parts[0]
    for each, part in zip(others, parts[1:], strict=True):
        made = Arithmetic("+" if each.key == "add" else "-", made, part)
    return made


def _product(rows: Rows, node: Node) -> Expression:
    first, *others = run(node, "mul")
    made = rows.read(first)
    for each in others:
        made = Arithmetic("*", made, rows.read(each.expression))
    return made


def _quotient(rows: Rows, node: Node) -> Expression:
    # How the parser marks what its dialects do with integers and zeros; here both are settled: see docs/sql.md.
    rows.only(node, "this", "expression", "typed", "safe")
    return Arithmetic("/", rows.read(node.this), rows.read(node.expression))


def _negative(rows: Rows, node: Node) -> Expression:
    value = rows.read(node.this)
    if isinstance(value, Literal) and isinstance(value.value, Fraction):
        return Literal(-value.value)
    return -value


def _rounded(rows: Rows, node: Node) -> Expression:
    rows.only(node, "this", "decimals")
    step = Fraction(10) ** -_places(rows, node.args.get("decimals"))
    inner = _bare(node.this)
    if inner.key == "div":  # rounded once, not first to the step of the quotient
        return rows.read(inner.this).divided_by(rows.read(inner.expression), step)
    return rows.read(node.this).round(step)


def _floor(rows: Rows, node: Node) -> Expression:
    """Write floor(x) as the rounding, halves upwards, of x - 1/2; of a quotient by a constant likewise, in one step."""
    rows.only(node, "this")
    return _below(rows, node, rows.read)


def _ceil(rows: Rows, node: Node) -> Expression:
    """Write ceil(x) as -floor(-x)."""
    rows.only(node, "this")
    return -_below(rows, node, lambda each: -rows.read(each))


def _below(rows: Rows, node: Node, read: Callable[[Node], Expression]) -> Expression:
    inner = _bare(node.this)
    if inner.key != "div":
        return (read(node.this) - _HALF).round(1)
    by = rows.read(inner.expression)
    if not isinstance(by, Literal) or not isinstance(by.value, Fraction) or by.value <= 0:
        why = "a quotient is rounded before it is cut off, unless its divisor is a positive constant"
        raise rows.refused(inner, why, "divide by a constant, as in FLOOR(age / 10), or write ROUND(a / b, 2)")
    return (read(inner.this) - by.value / 2).divided_by(by, 1)


def _places(rows: Rows, node: Node | None) -> int:
    if node is None:
        return 0
    value = rows.read(node)
    if isinstance(value, Literal) and isinstance(value.value, Fraction) and value.value.denominator == 1:
        places = int(value.value)
        if abs(places) <= 20:
            return places
    raise rows.refused(node, "the places to round to are an integer from -20 to 20", "write ROUND(x, 2)")


def _extreme(rows: Rows, node: Node) -> Expression:
    rows.only(node, "this", "expressions", "ignore_nulls")
    values = [rows.read(each) for each in (node.this, *node.expressions)]
    if len(values) == 1:
        raise rows.refused(
            node, "one value is the least and the greatest of itself", "write MIN(x) or MAX(x), or two values"
        )
    return (least if node.key == "least" else greatest)(*values)


def _starts_with(rows: Rows, node: Node) -> Expression:
    rows.only(node, "this", "expression")
    prefix = node.expression
    if not prefix.is_string:
        raise rows.refused(prefix, "a beginning is a text", "write STARTS_WITH(city, 'B')")
    return rows.read(node.this).starts_with(prefix.name)


def _bare(node: Node) -> Node:
    while node.key == "paren":
        node = node.this
    return node


_ARITHMETIC: dict[str, Rule] = {
    "add": _sum,
    "sub": _sum,
    "mul": _product,
    "div": _quotient,
    "neg": _negative,
    "round": _rounded,
    "floor": _floor,
    "ceil": _ceil,
    "least": _extreme,
    "greatest": _extreme,
    "startswith": _starts_with,
}
_RULES = {**rows.RULES, **logic.RULES, **_ARITHMETIC, **calls.RULES}
_WRITTEN = ("ROUND", "FLOOR", "CEIL", "LEAST", "GREATEST", "STARTS_WITH")
_FUNCTIONS = (*_WRITTEN, *calls.WRITTEN)


def rows_of(source: SqlText, scope: Scope, marks: Mapping[int, Expression] | None = None) -> Rows:
    """Return the reader of what is computed from one row of a scope; `marks` are what subqueries became."""
    return Rows(source, scope, _RULES, calls.rules, lambda: (*_FUNCTIONS, *calls.words()), marks or {})
