"""Types: the column that an expression makes, its bounds and step derived exactly from those of its columns."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.column import Column
from discreet.core.errors import UnknownName
from discreet.engines.dialect import MOST_TEXT, Dialect
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.plan.expressions import Arithmetic, Call, Case, Compare, Expression, Literal, Logic, Name
from discreet.plan.function import function
from discreet.plan.refusals import IllTyped, too_long, too_wide
from discreet.plan.rules.arithmetic import arithmetic
from discreet.plan.rules.choice import case
from discreet.plan.rules.logic import compare, logic
from discreet.plan.typed_expression import Made, Typed, constant
from discreet.plan.whole import OutOfRange, is_wide


def compiled(expression: Expression, columns: Mapping[str, Column], dialect: Dialect = DUCKDB) -> Typed:
    """Type an expression and write its SQL, or refuse it; what refuses depends on the question and the schema alone.

    Type and SQL come from one walk, so a range is proven for the very operations that the engine will do.
    """
    if isinstance(expression, Literal):
        return constant(expression, expression.value, dialect)
    parts = [compiled(part, columns, dialect) for part in expression.parts]
    try:
        column, sql = _made(expression, parts, columns, dialect)
    except OutOfRange:
        raise too_wide(expression) from None
    if len(sql) > MOST_TEXT:
        raise too_long(expression)
    return Typed(expression, column, sql, dialect)


def check_width(column: Column) -> None:
    """Raise OutOfRange if a column's values, counted in steps, do not fit the widest integers."""
    if column.kind in ("number", "date"):
        is_wide(*column.steps)
    for key in column.keys or ():
        if isinstance(key, int):
            is_wide(key, key)


def _made(expression: Expression, parts: list[Typed], columns: Mapping[str, Column], dialect: Dialect) -> Made:
    match expression:
        case Name(name=name):
            if name not in columns:
                raise UnknownName("column", name, columns)
            check_width(columns[name])
            return columns[name], dialect.quote(name)
        case Arithmetic():
            return arithmetic(expression, *parts)
        case Compare():
            return compare(expression, *parts)
        case Logic():
            return logic(expression, *parts)
        case Case():
            return case(expression, *parts)
        case Call():
            found = function(expression.function)
            found.check(expression)
            return found.rule(expression, *parts)
    raise IllTyped(expression, why="it is not an expression", fix="write it with columns and operators")


def type_of(expression: Expression, columns: Mapping[str, Column]) -> Column:
    """Return what an expression's values may be, or refuse it with what, why and fix.

    Guarantee: for rows within their declared bounds every value is null or within the derived bounds and on the
    derived step, and none raises; what is refused depends on the expression and the declared columns alone.
    """
    return compiled(expression, columns).column


def check_predicate(expression: Expression, columns: Mapping[str, Column]) -> None:
    """Refuse what cannot be a condition, since it is not true or false for a row."""
    found = type_of(expression, columns)
    if found.kind != "flag":
        why = f"it is a {found.kind}, not true or false"
        raise IllTyped(expression, why=why, fix="compare it with something, for example == or >=")
