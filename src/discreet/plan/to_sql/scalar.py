"""Scalars in SQL: reading a raw column as it was declared, and computing expressions over columns read so."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.column import Column
from discreet.core.errors import Refusal
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.physical import Physical
from discreet.plan.compiler import check_width, compiled
from discreet.plan.expressions import Expression
from discreet.plan.to_sql.column_values import READERS, storage
from discreet.plan.whole import OutOfRange


def raw_sql(column: Column, physical: str, dialect: Dialect = DUCKDB) -> str:
    """Write how a raw column of a physical type is read: numbers in steps, dates in days, keys, text, flags, or null.

    Guarantee: whatever a record holds, reading it raises nothing, and gives null or a value within the declaration.
    """
    try:
        check_width(column)
        kind = storage(column, dialect)
        found = READERS[column.kind](column, Physical.parse(physical), dialect.quote(column.name or ""), dialect)
    except OutOfRange:
        raise _too_fine(column, physical) from None
    return dialect.cast("NULL", kind) if found is None else found


def expression_sql(expression: Expression, columns: Mapping[str, Column], dialect: Dialect = DUCKDB) -> str:
    """Write an expression over columns that are already read and go by their names.

    Guarantee: for rows within their declarations the SQL raises nothing, and gives null or a value within `type_of`.
    """
    return compiled(expression, columns, dialect).sql


def stored_type(column: Column, dialect: Dialect = DUCKDB) -> str:
    """Return the SQL type of a column, or of an expression of that type, once it is read."""
    return storage(column, dialect)


def is_readable(column: Column, physical: str, dialect: Dialect = DUCKDB) -> bool:
    """Say whether a physical type can hold such a column at all; one that cannot is read as nulls only.

    A type so fine that its values might not fit is refused.
    """
    try:
        return READERS[column.kind](column, Physical.parse(physical), '"x"', dialect) is not None
    except OutOfRange:
        raise _too_fine(column, physical) from None


def _too_fine(column: Column, physical: str) -> Refusal:
    return Refusal(
        f"column {column.name}",
        why=f"counted in steps, or in the last decimal place of {physical}, its values might not fit 126 bits",
        fix="declare narrower bounds or a coarser step, or store fewer decimal places",
        value=column.name,
    )
