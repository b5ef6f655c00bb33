"""Scalars in SQL: reading a raw column as it was declared, and computing expressions over columns read so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache

from discreet.core.column import Column
from discreet.core.errors import Refusal
from discreet.core.schema import Table
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.physical import Physical
from discreet.plan.expressions import Expression
from discreet.plan.nodes import Derive, Filter, Plan, Scan
from discreet.plan.to_sql.column_values import READERS, storage
from discreet.plan.to_sql.owners import OWNER, Owners, chained_sql, compared_sql, is_whole, owners_sql, person_of
from discreet.plan.to_sql.person_bounds import PERSON
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


@dataclass(frozen=True, slots=True)
class Relation:
    """A table's declaration, the physical types of its source, and what stands after FROM to read it.

    `kept` says that `from_sql` is a cache of the rows that `bound="table"` keeps, with all columns read already.
    `owners` are those of the rows that its link refers to; `unowned` leaves it to who reads it to look them up. One
    that `is_public` has nobody's rows: it is joined as a dimension, and never scanned.
    """

    table: Table
    physical: Mapping[str, str]
    from_sql: str
    kept: bool = False
    owners: Owners | None = None
    is_public: bool = False
    unowned: bool = False

    @property
    def has_whole_people(self) -> bool:
        """Whether people are told apart by whole numbers, which is faster than by text."""
        if self.owners is not None:
            return self.owners.has_whole_people
        return is_whole(self.physical.get(self.table.unit.identifier or "", ""))

    def rows_from(self, dialect: Dialect = DUCKDB) -> str:
        """Return what stands after FROM to read the rows; where they are linked, those that belong to someone."""
        via = self.table.unit.via
        if self.owners is None or via is None or self.kept or self.unowned:
            assert via is None or self.kept or self.owners is not None, "a linked table is read with its owners"
            return self.from_sql
        return self.owners.rows_from(self.from_sql, self.table, self.reference_sql(dialect), dialect)

    def reference_sql(self, dialect: Dialect = DUCKDB) -> str:
        """Write what a row of a linked table refers to."""
        via = self.table.unit.via
        assert via is not None
        assert self.owners is not None
        return self.owners.reference(via.column, self.physical[via.column], dialect)

    def linked(self, referred: Relation, remembered: Callable[[str], str], dialect: Dialect = DUCKDB) -> Relation:
        """Return the relation with its owners, found from the one that its link refers to, and kept by `remembered`."""
        via = self.table.unit.via
        assert via is not None
        owners = remembered(referred.owners_by(via.key, self.physical[via.column], dialect))
        return replace(self, owners=Owners(owners, referred.physical[via.key], referred.has_whole_people))

    def owners_by(self, key: str, physical: str, dialect: Dialect = DUCKDB) -> str:
        """Write whose the rows are that refer to a row of this one by its `key`; `physical` is the reference's type."""
        via = self.table.unit.via
        compared = compared_sql(dialect.quote(key), self.physical[key], physical, dialect)
        if self.owners is None or via is None:
            return owners_sql(self.from_sql, compared, self.person_sql(dialect))
        return chained_sql(owners_sql(self.from_sql, compared, self.reference_sql(dialect)), self.owners)

    def person_sql(self, dialect: Dialect = DUCKDB) -> str:
        """Write who a row belongs to: a whole number or a text, and null for the one person called null."""
        if self.owners is not None:
            return OWNER
        name = self.table.unit.identifier or ""
        return person_of(name, self.physical.get(name, ""), dialect)


@lru_cache(maxsize=1024)
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


def linked_below(plan: Plan, relations: Mapping[str, Relation]) -> Relation | None:
    """Return the linked table that a plan only filters and derives from, if its rows are still to get their owners."""
    while isinstance(plan, Filter | Derive):
        plan = plan.source
    if not isinstance(plan, Scan):
        return None
    relation = relations[plan.table]
    once = relation.kept or relation.table.unit.bound == "table"
    return None if relation.owners is None or once or relation.unowned else relation


def owned_sql(
    unowned: str, relation: Relation, columns: Iterable[str], coded: Collection[str], dialect: Dialect
) -> str:
    """Write the rows of a linked table that belong to somebody, of those that were read `unowned`.

    Conditions and derived columns are total, and look at a row alone: it makes no difference whether they come before.
    """
    assert relation.owners is not None
    names = [*map(dialect.quote, columns), *(code_name(name, dialect) for name in sorted(coded))]
    return relation.owners.owned(unowned, names, PERSON)
