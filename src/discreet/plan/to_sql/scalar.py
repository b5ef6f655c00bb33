"""Scalars in SQL: reading a raw column as it was declared, and computing expressions over columns read so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from discreet.core.column import Column
from discreet.core.errors import Refusal
from discreet.core.schema import Table
from discreet.core.value import dataclass
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.physical import Physical
from discreet.plan.expressions import Expression
from discreet.plan.to_sql.column_values import READERS, storage
from discreet.plan.types import check_width, compiled
from discreet.plan.whole import OutOfRange


def code_name(name: str, dialect: Dialect) -> str:
    """Return what the code of a column goes by."""
    return dialect.quote(f"~c {name}")


def chosen_sql(chosen: Iterable[tuple[str, str]], coded: Collection[str], dialect: Dialect) -> list[str]:
    """Write columns, pairs of the new name and the old, and their codes where they have some."""
    found = []
    for new, old in chosen:
        found.append(f"{dialect.quote(old)} AS {dialect.quote(new)}")
        if old in coded:
            found.append(f"{code_name(old, dialect)} AS {code_name(new, dialect)}")
    return found


# Physical types of identifiers that fit the narrow integers; all others are compared as text.
_WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})


@dataclass(frozen=True, slots=True)
class Relation:
    """A table's declaration, the physical types of its source, and what stands after FROM to read it.

    `kept` says that `from_sql` is a cache of the rows that `bound="table"` keeps, with all columns read already.
    """

    table: Table
    physical: Mapping[str, str]
    from_sql: str
    kept: bool = False

    @property
    def has_whole_people(self) -> bool:
        """Whether people are told apart by whole numbers, which is faster than by text."""
        return self.physical.get(self.table.unit.identifier or "", "").upper() in _WHOLE

    def person_sql(self, dialect: Dialect = DUCKDB) -> str:
        """Write who a row belongs to: a whole number or a text, and null for the one person called null."""
        name = self.table.unit.identifier or ""
        if self.has_whole_people:
            return dialect.cast(dialect.quote(name), dialect.narrow)
        return dialect.person(dialect.quote(name), self.physical.get(name, "").upper())


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
