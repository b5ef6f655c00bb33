"""Owners in SQL: which person the rows that refer to a key belong to; see `discreet.core.link` for the proof.

Keys are compared as identifiers are: whole numbers as such where both columns hold them, and otherwise as the texts
that numbers of all types share, so that 7 refers to 7.00 in every engine.
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.core.value import dataclass
from discreet.engines.dialect import Dialect, named, select

# A key that is referred to, whose the rows are that do, and what a row refers to.
REFERRED, OWNER, REFERENCE = '"~referred"', '"~owner"', '"~refers"'
_TIMES = '"~times"'

# Physical types that fit the narrow integers; all others are compared as text.
_WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})


@dataclass(frozen=True, slots=True)
class Owners:
    """Each key that a column refers to, once, and whose the rows are that refer to it: a table of ~referred and ~owner.

    `from_sql` is what stands after FROM to read it. `key` is the physical type of the referenced column, and
    `has_whole_people` says that people are told apart by whole numbers.

    Guarantee: no key is there twice, so a join with it makes no row twice.
    """

    from_sql: str
    key: str
    has_whole_people: bool

    def reference(self, column: str, physical: str, dialect: Dialect) -> str:
        """Write what a column refers to, as it is compared with the key."""
        return compared_sql(dialect.quote(column), physical, self.key, dialect)

    def rows_from(self, source: str, names: Iterable[str], reference: str, dialect: Dialect) -> str:
        """Write what stands after FROM to read some columns of the rows that belong to someone, and their ~owner."""
        columns = [dialect.quote(name) for name in names]
        rows = select((*columns, f"{reference} AS {REFERENCE}"), source)
        return named(self.owned(rows, columns))

    def owned(self, rows: str, columns: Iterable[str], person: str = OWNER) -> str:
        """Write the columns of rows that have a ~refers and belong to someone, and who that is."""
        joined = f'{named(rows)} JOIN {self.from_sql} AS "~o" ON {REFERENCE} = {REFERRED}'
        return select((*columns, OWNER if person == OWNER else f"{OWNER} AS {person}"), joined)


def is_whole(physical: str) -> bool:
    """Say whether values of a physical type are compared as whole numbers."""
    return physical.upper() in _WHOLE


def person_of(name: str, physical: str, dialect: Dialect) -> str:
    """Write an identifier as a whole number or a text, and null for the one person called null."""
    return compared_sql(dialect.quote(name), physical, physical, dialect)


def compared_sql(sql: str, physical: str, other: str, dialect: Dialect) -> str:
    """Write a key, or a reference to one, as what is compared with a column of the `other` physical type."""
    if not is_whole(physical):
        return dialect.person(sql, physical.upper())
    number = dialect.cast(sql, dialect.narrow)
    return number if is_whole(other) else dialect.cast(number, dialect.text)


def owners_sql(source: str, key: str, owner: str) -> str:
    """Write each `key` that one row of a source has, with the `owner` of that row; null is no key.

    Guarantee: a key that several rows have is left out, whosever they are: rows that refer to it are nobody's.
    """
    keyed = select((f"{key} AS {REFERRED}", f"{owner} AS {OWNER}"), source)
    each = (REFERRED, f"any_value({OWNER}) AS {OWNER}", f"count(*) AS {_TIMES}")
    times = select(each, keyed, where=f"{REFERRED} IS NOT NULL", by=(REFERRED,))
    return select((REFERRED, OWNER), times, where=f"{_TIMES} = 1")


def chained_sql(keys: str, owners: Owners) -> str:
    """Write the keys of a table that is linked itself: those of `owners_sql`, whose owners are references."""
    joined = f'({keys}) AS "~a" JOIN {owners.from_sql} AS "~b" ON "~a".{OWNER} = "~b".{REFERRED}'
    return select((f'"~a".{REFERRED} AS {REFERRED}', f'"~b".{OWNER} AS {OWNER}'), joined)


def repeated_sql(source: str, key: str) -> str:
    """Write how many keys of a source several rows have: for its custodian alone."""
    times = select((f"{key} AS {REFERRED}", f"count(*) AS {_TIMES}"), source, by=(key,))
    return select("count(*)", times, where=f"{REFERRED} IS NOT NULL AND {_TIMES} > 1")
