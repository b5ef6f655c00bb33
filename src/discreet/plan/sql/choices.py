"""Choices: CASE, IF, COALESCE, NULLIF and CAST."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.plan.expressions import Case, Compare, Expression, Literal
from discreet.plan.sql.rows import Rows, Rule, day

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

_WHOLE = frozenset({"INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "HUGEINT", "INT128"})
_EXACT = frozenset({"DECIMAL", "BIGDECIMAL"})
_FLOATS = frozenset({"DOUBLE", "FLOAT", "REAL"})
_TEXTS = frozenset({"TEXT", "VARCHAR", "CHAR", "NVARCHAR"})


def _case(rows: Rows, node: Node) -> Expression:
    rows.only(node, "this", "ifs", "default")
    subject = None if node.this is None else rows.read(node.this)
    pairs = []
    for each in node.args["ifs"]:
        condition = rows.read(each.this)
        pairs.append((condition if subject is None else Compare("==", subject, condition), each.args["true"]))
    return _chosen(rows, node, pairs, node.args.get("default"))


def _if(rows: Rows, node: Node) -> Expression:
    return _chosen(rows, node, [(rows.read(node.this), node.args["true"])], node.args.get("false"))


def _chosen(rows: Rows, node: Node, pairs: list[tuple[Expression, Node]], default: Node | None) -> Expression:
    """Make a choice; a branch that gives null is taken out, and those behind it are for the rows it leaves."""
    branches: list[tuple[Expression, Expression]] = []
    left: Expression | None = None
    for condition, value in pairs:
        if value.key == "null":
            rest = ~condition.fill_null(False)
            left = rest if left is None else left & rest
        else:
            branches.append((condition if left is None else left & condition, rows.read(value)))
    otherwise = None if default is None or default.key == "null" else rows.read(default)
    if otherwise is not None and left is not None:
        branches.append((left, otherwise))
        otherwise = None
    if not branches:
        raise rows.refused(node, "every branch is null, so there is nothing to choose", "give one branch a value")
    return Case(tuple(branches), otherwise)


def _coalesce(rows: Rows, node: Node) -> Expression:
    rows.only(node, "this", "expressions", "is_nvl")
    made = rows.read(node.this)
    for each in node.expressions:
        made = made.fill_null(rows.read(each))
    return made


def _nullif(rows: Rows, node: Node) -> Expression:
    value, other = rows.read(node.this), rows.read(node.expression)
    differs: Expression = Compare("!=", value, other)
    if not isinstance(other, Literal):
        differs = differs | other.is_null()
    return Case(((differs, value),))


def _cast(rows: Rows, node: Node) -> Expression:
    """Read the conversions that no row makes fail; numbers are rounded, halves upwards."""
    rows.only(node, "this", "to")
    to = node.args["to"]
    target = to.this.name if hasattr(to.this, "name") else str(to.this)
    if target == "DATE" and node.this.is_string:
        return day(rows, node.this)
    value, column = rows.typed(node.this)
    number = column.kind in ("number", "flag") or isinstance((column.keys or ("",))[0], int)
    if target in _WHOLE and number:
        return value.round(1) if column.kind == "number" and column.step != 1 else _number(value, column.kind)
    if target in _EXACT and number:
        places = int(to.expressions[1].name) if len(to.expressions) > 1 else 0
        return _number(value, column.kind).round(Fraction(10) ** -min(places, 20))
    if target in _FLOATS and number:
        return _number(value, column.kind)
    same = {"DATE": ("date",), "BOOLEAN": ("flag",)} | dict.fromkeys(_TEXTS, ("text", "category"))
    if column.kind in same.get(target, ()) and (column.kind != "category" or not number):
        return value
    why = f"no conversion of a {column.kind} to {target} means the same for every value on every engine"
    raise rows.refused(node, why, "leave the CAST out, or write CASE WHEN ... THEN ... END")


def _number(value: Expression, kind: str) -> Expression:
    return value if kind == "number" else value.as_number()


RULES: dict[str, Rule] = {"case": _case, "if": _if, "coalesce": _coalesce, "nullif": _nullif, "cast": _cast}
FUNCTIONS = ("CASE", "IF", "COALESCE", "NULLIF", "CAST")
