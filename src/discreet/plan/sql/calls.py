"""Calls: CASE, COALESCE, NULLIF and CAST; EXTRACT and days; and the functions of `plan/functions` by their words."""

from __future__ import annotations

import datetime as dt
from calendar import monthrange
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from discreet.plan.expressions import Arithmetic, Call, Case, Compare, Expression, Literal
from discreet.plan.function import FUNCTIONS, function
from discreet.plan.sql.rows import Rows, Rule, day
from discreet.plan.sql.source import exact

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


# The parser's own name for a call of what it does not know.
UNKNOWN = "anonymous"

_WHOLE = frozenset({"INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "HUGEINT", "INT128"})
_EXACT = frozenset({"DECIMAL", "BIGDECIMAL"})
_FLOATS = frozenset({"DOUBLE", "FLOAT", "REAL"})
_TEXTS = frozenset({"TEXT", "VARCHAR", "CHAR", "NVARCHAR"})
_MONTHS = {"MONTH": 1, "MONTHS": 1, "QUARTER": 3, "QUARTERS": 3, "YEAR": 12, "YEARS": 12}
_DAYS = {"DAY": 1, "DAYS": 1, "WEEK": 7, "WEEKS": 7}


@cache
def words() -> dict[str, str]:
    """Return each word of SQL with the function that it calls."""
    return {word: name for name in FUNCTIONS for word in function(name).words}


@cache
def parts() -> dict[str, str]:
    """Return each part of a date that EXTRACT knows with the function that it is."""
    return {part: name for name in FUNCTIONS for part in function(name).parts}


@cache
def rules() -> dict[str, Rule]:
    """Return a rule for each kind of node that the parser makes of a word."""
    from sqlglot import expressions

    known = {word: expressions.FUNCTION_BY_NAME.get(word) for word in words()}
    read: dict[str, Rule] = {kind.key: _rule(words()[word], word) for word, kind in known.items() if kind is not None}
    return {**read, UNKNOWN: _unknown}


def _rule(name: str, word: str) -> Rule:
    """Read the arguments in the order in which SQL has them."""

    def rule(rows: Rows, node: Node) -> Expression:
        names = list(node.arg_types)
        given = [node.args[each] for each in names if node.args.get(each) not in (None, False, [], ())]
        return _called(
            rows, node, name, word, [each for one in given for each in (one if isinstance(one, list) else [one])]
        )

    return rule


def _unknown(rows: Rows, node: Node) -> Expression:
    word = node.name.upper()
    if word not in words():
        raise rows.unknown(node)
    return _called(rows, node, words()[word], word, node.expressions)


def _called(rows: Rows, node: Node, name: str, word: str, given: list[Node]) -> Expression:
    found = function(name)
    most = None if found.most is None else found.most + len(found.parameters)
    if len(given) < found.least + len(found.parameters) or (most is not None and len(given) > most):
        count = found.least + len(found.parameters)
        raise rows.refused(node, f"{word} takes {count} argument{'s' * (count != 1)}", f"see {word} in docs/sql.md")
    made = [rows.read(each) for each in given]
    split = len(made) - len(found.parameters)
    for each, argument in zip(made[split:], given[split:], strict=True):
        if not isinstance(each, Literal):
            raise rows.refused(argument, f"{word} takes a constant here", "write it as a number or in quotes")
    return found.call(name, tuple(made))


def _extract(rows: Rows, node: Node) -> Expression:
    part = node.name.upper()
    name = parts().get(part)
    if name is None:
        why = f"days have no {part.lower()} here"
        raise rows.refused(node, why, "extract YEAR, QUARTER, MONTH, DAY or ISODOW (Monday is 1)")
    return Call(name, (rows.read(node.expression),))


def _difference(rows: Rows, node: Node) -> Expression:
    """Read DATEDIFF(last, first), in days."""
    unit = node.args.get("unit")
    if node.this.is_string and node.this.name.upper() in ("DAY", "MONTH", "YEAR", "WEEK"):
        raise rows.refused(
            node, "which of its days is the later one differs from system to system", "write last - first"
        )
    if unit is not None and unit.name.upper() not in ("DAY", "DAYS"):
        raise rows.refused(node, "differences are counted in days", "write last - first")
    return Arithmetic("-", rows.read(node.this), rows.read(node.expression))


def _shifted(rows: Rows, node: Node) -> Expression:
    """Read DATE_ADD(day, INTERVAL 7 DAY) and DATE_SUB."""
    value, by = rows.read(node.this), node.expression
    unit = node.args.get("unit")
    if by.key != "interval" and unit is not None and unit.name.upper() not in _DAYS:
        raise rows.refused(node, "months and years differ in length", "add days or weeks")
    days = rows.read(by)
    if by.key != "interval" and unit is not None and _DAYS[unit.name.upper()] == 7:
        days = days * 7
    return Arithmetic("+" if node.key == "dateadd" else "-", value, days)


def _interval(rows: Rows, node: Node) -> Expression:
    """Read INTERVAL '7' DAY as a number of days."""
    found = _span(node)
    if found is None or found[1] not in _DAYS:
        raise rows.refused(
            node, "months and years differ in length, and days have no times", "add days or weeks: INTERVAL '7' DAY"
        )
    return Literal(found[0] * Fraction(_DAYS[found[1]]))


def _span(node: Node) -> tuple[Fraction, str] | None:
    """Return how many of which unit an interval is."""
    unit = node.args.get("unit")
    amount = exact(node.name) if node.this is not None and node.this.key == "literal" else None
    if unit is None or amount is None:
        return None
    # DAY (3), which says of how many digits a number is, is a call to the parser.
    return amount, (unit.name if unit.key == "var" else unit.key).upper()


def moved(rows: Rows, day: dt.date, sign: str, node: Node) -> Expression | None:
    """Return a constant day so many days, weeks, months or years later or earlier; None where it is none.

    A day that a month lacks is its last one: a month after 31 January is the last day of February.
    """
    if node.key == "interval":
        found = _span(node)
    else:
        made = rows.read(node)
        whole = isinstance(made, Literal) and isinstance(made.value, Fraction)
        found = (made.value, "DAY") if whole else None  # type: ignore[attr-defined]
    if found is None or found[1] not in {*_DAYS, *_MONTHS} or found[0].denominator != 1:
        return None
    by = int(found[0]) * (1 if sign == "+" else -1)
    try:
        if found[1] in _DAYS:
            return Literal(day + dt.timedelta(by * _DAYS[found[1]]))
        month = day.year * 12 + day.month - 1 + by * _MONTHS[found[1]]
        first = dt.date(month // 12, month % 12 + 1, 1)
        return Literal(first.replace(day=min(day.day, monthrange(first.year, first.month)[1])))
    except (ValueError, OverflowError) as error:
        raise rows.refused(node, "no calendar has that day", "write it, as in DATE '2024-02-29'") from error


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


def _left(rows: Rows, node: Node) -> Expression:
    """Read LEFT(x, 2), the first letters of a text."""
    rows.only(node, "this", "expression")
    return _called(rows, node, "substring", "LEFT", [node.this, _one(node), node.expression])


def _one(node: Node) -> Node:
    """Return the number one as if it stood there."""
    from sqlglot import exp

    made = exp.Literal.number(1)
    made.meta.update(node.expression.meta)
    return made


RULES: dict[str, Rule] = {
    "case": _case,
    "if": _if,
    "coalesce": _coalesce,
    "nullif": _nullif,
    "cast": _cast,
    "extract": _extract,
    "datediff": _difference,
    "dateadd": _shifted,
    "datesub": _shifted,
    "interval": _interval,
    "left": _left,
}
WRITTEN = ("CASE", "LEFT", "IF", "COALESCE", "NULLIF", "CAST", "EXTRACT", "DATEDIFF", "DATE_ADD", "DATE_SUB")
