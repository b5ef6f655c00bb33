"""Relations: a registered table as an engine can read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.core.schema import Table
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB

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
