"""Truth: comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.plan.expressions import Compare, Expression, Literal
from discreet.plan.sql.rows import Rows, Rule, joined, run

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

_ORDERS = {"eq": "==", "neq": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}


def _compare(rows: Rows, node: Node) -> Expression:
    for one, other in ((node.this, node.expression), (node.expression, node.this)):
        if other.key == "null":
            fix = f"write {rows.source.written(one)} IS {'NOT ' if node.key == 'neq' else ''}NULL"
            raise rows.refused(node, "nothing equals null, and nothing differs from it", fix)
    left, right = rows.read(node.this), rows.read(node.expression)
    return Compare(_ORDERS[node.key], left, right)  # type: ignore[arg-type]


def _run(rows: Rows, node: Node) -> Expression:
    first, *others = run(node, node.key)
    return joined(node.key, [rows.read(first), *(rows.read(each.expression) for each in others)])


def _not(rows: Rows, node: Node) -> Expression:
    return ~rows.read(node.this)


def _in(rows: Rows, node: Node) -> Expression:
    rows.only(node, "this", "expressions", "query")
    if node.args.get("query") is not None:
        why = "a subquery inside an expression would look at other rows than this one"
        raise rows.refused(node.args["query"], why, "list the values, or join a public table")
    listed = [rows.read(each) for each in node.expressions]
    for value, each in zip(listed, node.expressions, strict=True):
        if not isinstance(value, Literal):
            raise rows.refused(each, "IN lists constants", "compare columns with =, joined by OR")
    return rows.read(node.this).is_in(listed)


def _between(rows: Rows, node: Node) -> Expression:
    rows.only(node, "this", "low", "high")
    low, high = rows.source.span(node.args["low"]), rows.source.span(node.args["high"])
    if "AND" not in rows.source.clean[low[1] : high[0]].upper():  # which the parser does not miss
        raise rows.refused(node, "AND is missing between the bounds", "write age BETWEEN 18 AND 65")
    value = rows.read(node.this)
    return (value >= rows.read(node.args["low"])) & (value <= rows.read(node.args["high"]))


def _is(rows: Rows, node: Node) -> Expression:
    value, other = rows.read(node.this), node.expression
    if other.key == "null":
        return value.is_null()
    if other.key == "boolean":
        return (value if other.this else ~value).fill_null(False)
    raise rows.refused(node, "IS asks for NULL, TRUE or FALSE", "write = to compare")


def _paren(rows: Rows, node: Node) -> Expression:
    return rows.read(node.this)


RULES: dict[str, Rule] = {
    **dict.fromkeys(_ORDERS, _compare),
    "and": _run,
    "or": _run,
    "not": _not,
    "in": _in,
    "between": _between,
    "is": _is,
    "paren": _paren,
}
