"""Atoms: columns and constants."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from discreet.plan.expressions import Expression, Literal, Name
from discreet.plan.sql.numbers import exact
from discreet.plan.sql.rows import Rows, Rule

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


def _column(rows: Rows, node: Node) -> Expression:
    if node.this.key == "star":
        raise rows.refused(node, "* stands for rows, and rows are never shown", "name the columns")
    return Name(rows.scope.column(node, rows.source))


def _literal(rows: Rows, node: Node) -> Expression:
    if node.is_string:
        return Literal(node.name)
    value = exact(node.name)
    if value is None:
        raise rows.refused(node, "this is not a number of at most a hundred digits", "write it in digits, as in 1e-9")
    return Literal(value)


def _boolean(_rows: Rows, node: Node) -> Expression:
    return Literal(bool(node.this))


def day(rows: Rows, node: Node) -> Expression:
    """Return the constant of DATE '2024-02-29'."""
    try:
        return Literal(dt.date.fromisoformat(node.name))
    except ValueError as error:
        raise rows.refused(node, "this is not a day", "write DATE '2024-02-29'") from error


RULES: dict[str, Rule] = {"column": _column, "literal": _literal, "boolean": _boolean}
