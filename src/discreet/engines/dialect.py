"""Dialects: every construct of SQL that engines spell differently, spelled in one place."""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from typing import cast

from discreet.core.value import dataclass
from discreet.engines import registry
from discreet.engines.physical import Physical


def named(sql: str) -> str:
    """Put a SELECT after FROM, under a name, which some engines insist on and nothing refers to."""
    return f'({sql}) AS "~q"'


def select(what: str | Iterable[str], source: str, *, where: str = "", by: Iterable[str] = ()) -> str:
    """Write a SELECT; the source is another one, or what stands after FROM by itself."""
    columns = what if isinstance(what, str) else ", ".join(what)
    clauses = ["SELECT", columns, "FROM", named(source) if source.startswith("SELECT ") else source]
    if where:
        clauses += ["WHERE", where]
    if groups := ", ".join(by):
        clauses += ["GROUP BY", groups]
    return " ".join(clauses)


# Beyond this many characters an engine spends its time on the text of a question rather than on its rows.
MOST_TEXT = 100_000

# Integers of smaller magnitude are stored narrow, the others wide; sums of two of either kind cannot overflow.
NARROW = 1 << 62
WIDE = 1 << 126
# A table has fewer rows: sums are proven to fit for so many.
MOST_ROWS = 1 << 40
# What spells a number, a day or a truth value has at most so many bytes; a longer text spells none.
MOST_SPELLED = 1000
# A plain text and an identifier have at most so many bytes of UTF-8; a longer one is null. So no row is too large.
MOST_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Dialect(ABC):
    """How an engine spells things: what is abstract every engine spells in its own way, the rest most spell alike.

    Whatever an analyst wrote reaches SQL only through `quote` and `literal`. DuckDB folds the case of identifiers even
    when they are quoted, so that a relation must not have two columns that differ by case alone. Types go by DuckDB's
    names in all of the plan; `cast` spells them for an engine.
    """

    name: str
    small: str = "INTEGER"  # for numbers below 2^31
    narrow: str = "BIGINT"
    wide: str = "HUGEINT"
    double: str = "DOUBLE"
    text: str = "VARCHAR"
    most_digits: int = 38  # of a decimal
    packs: bool = True  # whether one sum of long numbers costs less than a sum and a count
    rows_of_person: str = "count(*)"  # in one group
    shares_digests: bool = False  # whether the digest of a text has to be a column to be computed once

    def quote(self, identifier: str) -> str:
        """Write the name of a column or a table."""
        return '"' + identifier.replace('"', '""') + '"'

    def literal(self, value: bool | int | str | None) -> str:
        """Write a value; whole numbers are of the narrow or the wide type, never of a type that depends on them."""
        match value:
            case None:
                return "NULL"
            case bool():
                return "TRUE" if value else "FALSE"
            case int():
                return self.cast(str(value), self.narrow if abs(value) < NARROW else self.wide)
            case str():
                return "'" + value.replace("'", "''") + "'"

    def float_literal(self, value: float) -> str:
        """Write a float, infinities too, so that the engine reads the same one."""
        return self.cast(f"'{value!r}'", self.double)

    def cast(self, sql: str, kind: str) -> str:
        """Convert where that cannot fail."""
        return f"CAST({sql} AS {kind})"

    @abstractmethod
    def try_cast(self, sql: str, kind: str) -> str:
        """Convert; what cannot be converted becomes null."""

    @abstractmethod
    def bytes_of(self, text: str) -> str:
        """Count the bytes of a text in UTF-8, without looking at them."""

    def short(self, text: str, most: int) -> str:
        """Return a text of at most so many bytes, and null for a longer one, which nothing else ever looks at."""
        return f"(CASE WHEN {self.bytes_of(text)} <= {most} THEN {text} END)"

    def double_of_text(self, text: str, pattern: str) -> str:
        """Return the float nearest to the number that a text spells, infinite or zero at the ends; null for others."""
        return self.try_cast(f"(CASE WHEN {self.matches(text, pattern)} THEN {text} END)", self.double)

    def whole_of_text(self, text: str, pattern: str) -> str:
        """Return the whole number that a text spells, in the wide type; null for others and for those beyond it."""
        return self.try_cast(f"(CASE WHEN {self.matches(text, pattern)} THEN {text} END)", self.wide)

    def days_of_text(self, text: str, pattern: str) -> str:
        """Return the days since 1970-01-01 of the day that a text begins with; null where there is no such day."""
        matched = f"(CASE WHEN {self.matches(text, pattern)} THEN {text} END)"
        return self.days_of_date(self.try_cast(self.prefix(matched, 10), "DATE"))

    @abstractmethod
    def whole_of_double(self, sql: str, kind: str) -> str:
        """Convert a float that is a whole number, exactly, where it fits."""

    def is_number(self, sql: str, kind: str) -> str:  # noqa: ARG002
        """Say whether a float, or a number of any size, is one at all; null of null. This is asked before all else."""
        return f"(NOT isnan({sql}))"

    def number(self, sql: str, kind: Physical) -> str:
        """Read a decimal; one that is not a number of its type is null.

        Files claim a number of digits that nobody checks, and some numbers beyond it overflow or end the engine.
        """
        most = f"{kind.high:0{kind.digits}}"
        most = f"{most[: kind.digits - kind.places]}.{most[kind.digits - kind.places :]}"
        first, last = (self.cast(f"'{sign}{most}'", kind.name) for sign in ("-", ""))
        return f"(CASE WHEN {sql} BETWEEN {first} AND {last} THEN {sql} END)"

    def person(self, sql: str, physical: str) -> str:
        """Write an identifier as a text, the same for equal ones; numbers of all types alike: 1.0 and 1.00 are 1.

        Tables that share people may store them in different types, and a person with two names would count twice. What
        is not a number is a missing identifier.
        """
        kind = Physical.parse(physical)
        if kind.family == "text":
            return self.short(self.cast(sql, self.text), MOST_BYTES)
        if kind.family == "double":
            return self.spelled_float(sql if kind.name == self.double else self.cast(sql, self.double))
        if kind.family == "boolean":
            return self.cast(self.flag_to_integer(sql), self.text)
        sql = self.number(sql, kind) if kind.family == "decimal" else sql
        return self.plain_decimal(sql) if kind.places else self.cast(sql, self.text)

    def plain_decimal(self, sql: str) -> str:
        """Write a decimal that has places as a text, without the zeros at its end."""
        return f"trim(TRAILING '.' FROM trim(TRAILING '0' FROM {self.cast(sql, self.text)}))"

    def spelled_float(self, sql: str) -> str:
        """Write a float as the text that a copy of frames has for it; NaN is null, and tested first.

        Whole ones below 2^126 are whole numbers, so that zeros have no sign; others have the fewest digits that tell
        them apart, as Python writes them.
        """
        narrow, wide = (self.cast(self.whole_of_double(sql, kind), self.text) for kind in (self.narrow, self.wide))
        short, long = (f"abs({sql}) < {self.float_literal(float(most))}" for most in (NARROW, WIDE))
        whole = f"WHEN {sql} = {self.floor(sql)} THEN CASE WHEN {short} THEN {narrow} WHEN {long} THEN {wide} END"
        most, least = (self.float_literal(float(end)) for end in ("inf", "-inf"))
        ends = f"WHEN {sql} = {most} THEN 'inf' WHEN {sql} = {least} THEN '-inf'"
        written = f"COALESCE((CASE {ends} {whole} END), {self.shortest(sql)})"
        return f"(CASE WHEN {self.is_number(sql, self.double)} THEN {written} END)"

    def shortest(self, sql: str) -> str:
        """Write a finite float that is not whole, or beyond 2^126, with the fewest digits, as Python writes it."""
        return self.cast(sql, self.text)

    def plain_text(self, sql: str) -> str:
        """Read a column of text, to be compared by its code points alone."""
        return sql

    @abstractmethod
    def total(self, sql: str, least: int, most: int) -> str:
        """Add up whole numbers from least to most, of fewer than MOST_ROWS rows; null where there are none."""

    @abstractmethod
    def floor_div(self, above: str, below: str, *, wide: bool = False) -> str:
        """Divide whole numbers and drop the fraction; only for above >= 0 and below > 0, where all engines agree.

        `wide` says that either is of the wide type, and that the result is.
        """

    def remainder(self, above: str, below: str, *, wide: bool = False) -> str:  # noqa: ARG002
        """Return what `floor_div` leaves, under the same conditions."""
        return f"({above} % {below})"

    def divided(self, sql: str, by: float) -> str:
        """Divide a float by one that is at least 1, to be rounded afterwards."""
        return f"({sql} / {self.float_literal(by)})"

    def floor(self, sql: str) -> str:
        """Round a float down; the result is a float."""
        return f"floor({sql})"

    def flag_to_integer(self, sql: str) -> str:
        """Return 1 for true, 0 for false, null for null."""
        return self.cast(sql, self.narrow)

    def length(self, sql: str) -> str:
        """Count the Unicode code points of a text."""
        return f"length({sql})"

    def starts_with(self, sql: str, prefix: str) -> str:
        """Say whether a text begins with these code points."""
        return f"starts_with({sql}, {prefix})"

    def like(self, sql: str, pieces: Sequence[str]) -> str:
        """Say whether a text is made of these pieces in order, with anything between; none has %, _ or a backslash."""
        return f"({sql} LIKE {self.literal('%'.join(pieces))})"

    def prefix(self, sql: str, length: int) -> str:
        """Return the first code points of a text."""
        return self.part(sql, 1, length)

    def part(self, sql: str, first: int, length: int) -> str:
        """Return so many code points of a text, or as many as there are, from a place on; the first place is 1."""
        return f"substr({sql}, {first}, {length})"

    @abstractmethod
    def matches(self, sql: str, pattern: str) -> str:
        """Say whether the whole text matches a regular expression of ASCII classes, groups and repetitions."""

    def ascii_lower(self, sql: str) -> str:
        """Lower the ASCII letters and leave all others, whatever the locale says."""
        upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        return f"translate({sql}, '{upper}', '{upper.lower()}')"

    def without_blanks(self, sql: str) -> str:
        """Take the blanks off both ends of a text, and no other white space, of which engines know different kinds."""
        return f"trim(BOTH ' ' FROM {sql})"

    @abstractmethod
    def among(self, sql: str, keys: Iterable[str]) -> str:
        """Return the text if it is one of the keys, else null."""

    @abstractmethod
    def code(self, sql: str, keys: Iterable[str]) -> str:
        """Return a code for a text, by which rows are grouped at little cost; what is no key may have one or none."""

    @abstractmethod
    def code_place(self, code: str, keys: Iterable[str]) -> str:
        """Return the place among the keys, from 0, of what `code` gave; null where it has none."""

    @abstractmethod
    def code_text(self, code: str, keys: Iterable[str]) -> str:
        """Return the key that a code stands for; null where it stands for none."""

    @abstractmethod
    def position(self, sql: str, values: Iterable[bool | int | str | None]) -> str:
        """Return the place of a value in a list, from 1; null or 0 where it has none."""

    def once(self, sql: str) -> str:
        """Have the columns of a SELECT computed once for each row, however often they are named around it."""
        return sql

    @abstractmethod
    def text_number(self, sql: str) -> str:
        """Return 64 bits of the MD5 of a text, as a whole number from 0."""

    def digest_limbs(self, digest: str) -> tuple[str, str]:
        """Return the lowest 31 bits of what `text_number` gave, and the next 31, as narrow integers."""
        parts = self.low_bits(digest, 31), self.low_bits(self.high_bits(digest, 31), 31)
        return self.cast(parts[0], self.narrow), self.cast(parts[1], self.narrow)

    def low_bits(self, sql: str, bits: int) -> str:
        """Return the lowest bits of a whole number; those of a negative one are of its two's complement."""
        return f"({sql} & {(1 << bits) - 1})"

    def high_bits(self, sql: str, bits: int) -> str:
        """Drop the lowest bits of a whole number and move the others down; a division would be far slower."""
        return f"({sql} >> {bits})"

    @abstractmethod
    def days_of_date(self, sql: str) -> str:
        """Return a date as days since 1970-01-01."""

    def date_of_timestamp(self, sql: str) -> str:
        """Return the day of a timestamp without a time zone; null beyond the years that the engine can convert."""
        return self.try_cast(sql, "DATE")

    @abstractmethod
    def date_of_instant(self, sql: str) -> str:
        """Return the day, in UTC, of a timestamp with a time zone, whatever zone the session is in."""

    @abstractmethod
    def date_part(self, part: str, days: str) -> str:
        """Return the year, month or day of the month of days since 1970-01-01."""

    def date(self, day: dt.date) -> str:
        """Write a date."""
        return f"DATE '{day.isoformat()}'"


def longest(texts: Iterable[str]) -> int:
    """Return how many bytes the longest of some texts has."""
    return max((len(text.encode()) for text in texts), default=0)


@cache
def dialect_of(engine: str) -> Dialect:
    """Return the dialect of an engine, by the engine's name."""
    return cast(Dialect, registry.part(engine, "dialect").DIALECT)
