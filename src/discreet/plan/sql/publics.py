"""Public tables inside a question: VALUES, with the names of its columns."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.plan.nodes import Public, public
from discreet.plan.sql.numbers import exact
from discreet.plan.sql.source import SqlText

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

Datum = Fraction | str | bool | dt.date | None


def public_of(source: SqlText, node: Node, name: str | None, columns: list[str]) -> Public:
    """Return VALUES as a public table."""
    alias = node.args.get("alias")
    if alias is not None and not columns:
        columns = [each.name for each in alias.args.get("columns") or ()]
        name = name or alias.name
    rows = [each.expressions if each.key == "tuple" else [each] for each in node.expressions]
    if not columns or name is None:
        fix = "write WITH floors(ward, floor) AS (VALUES ('A', 1), ('B', 2))"
        raise source.refused(node, "the table and its columns need names", fix)
    for row, each in zip(rows, node.expressions, strict=True):
        if len(row) != len(columns):
            why = f"this row has {len(row)} values, and there are {len(columns)} columns"
            raise source.refused(each, why, "give each row all of its values")
    data = {title: [_constant(source, row[place]) for row in rows] for place, title in enumerate(columns)}
    try:
        return public(name, data)
    except Refusal as refusal:
        raise source.translated(node, refusal) from refusal


def _constant(source: SqlText, node: Node) -> Datum:
    match node.key:
        case "literal" if node.is_string:
            return str(node.name)
        case "literal":
            number = exact(node.name)
            if number is not None:
                return number
        case "neg" if node.this.key == "literal" and not node.this.is_string:
            number = exact(node.this.name)
            if number is not None:
                return -number
        case "boolean":
            return bool(node.this)
        case "null":
            return None
        case "cast" if node.this.is_string and str(node.args["to"]).upper() == "DATE":
            try:
                return dt.date.fromisoformat(node.this.name)
            except ValueError:
                pass
    raise source.refused(node, "a public table has constants", "write numbers, texts in quotes, or DATE '2024-02-29'")
