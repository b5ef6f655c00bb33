"""Days: EXTRACT, differences, and intervals of days; Monday is 1, as in ISO 8601."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.plan.expressions import Arithmetic, Call, Expression, Literal
from discreet.plan.sql import calls
from discreet.plan.sql.rows import Rows, Rule
from discreet.plan.sql.source import exact

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

_DAYS = {"DAY": 1, "DAYS": 1, "WEEK": 7, "WEEKS": 7}


def _extract(rows: Rows, node: Node) -> Expression:
    part = node.name.upper()
    name = calls.parts().get(part)
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
    unit = node.args.get("unit")
    amount = exact(node.name) if node.this is not None and node.this.key == "literal" else None
    if unit is None or unit.name.upper() not in _DAYS or amount is None:
        raise rows.refused(
            node, "months and years differ in length, and days have no times", "add days or weeks: INTERVAL '7' DAY"
        )
    return Literal(amount * Fraction(_DAYS[unit.name.upper()]))


RULES: dict[str, Rule] = {
    "extract": _extract,
    "datediff": _difference,
    "dateadd": _shifted,
    "datesub": _shifted,
    "interval": _interval,
}
FUNCTIONS = ("EXTRACT", "DATEDIFF", "DATE_ADD", "DATE_SUB")
