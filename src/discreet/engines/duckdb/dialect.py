"""DuckDB's dialect: what it spells in its own way, with 128-bit integers, casts that give null, and enums for keys."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from discreet.core.value import dataclass
from discreet.engines.dialect import Dialect, longest


@dataclass(frozen=True, slots=True)
class DuckDB(Dialect):
    """How DuckDB spells things."""

    name: str = "duckdb"

    def try_cast(self, sql: str, kind: str) -> str:
        """Convert; what cannot be converted becomes null."""
        return f"TRY_CAST({sql} AS {kind})"

    def bytes_of(self, text: str) -> str:
        """Count the bytes of a text in UTF-8, without looking at them."""
        return f"strlen({text})"

    def whole_of_double(self, sql: str, kind: str) -> str:
        """Convert a float that is a whole number, exactly, where it fits."""
        return self.try_cast(sql, kind)

    def total(self, sql: str, least: int, most: int) -> str:  # noqa: ARG002
        """Add up whole numbers from least to most, of fewer than MOST_ROWS rows; null where there are none."""
        return f"sum({sql})"

    def floor_div(self, above: str, below: str, *, wide: bool = False) -> str:  # noqa: ARG002
        """Divide whole numbers and drop the fraction; only for above >= 0 and below > 0, where all engines agree.

        `wide` says that either is of the wide type, and that the result is.
        """
        return f"({above} // {below})"

    def matches(self, sql: str, pattern: str) -> str:
        """Say whether the whole text matches a regular expression of ASCII classes, groups and repetitions."""
        return f"regexp_full_match({sql}, {self.literal(pattern)})"

    def among(self, sql: str, keys: Iterable[str]) -> str:
        """Return the text if it is one of the keys, else null."""
        return self.cast(self.code(sql, keys), self.text)

    def code(self, sql: str, keys: Iterable[str]) -> str:
        """Return a code for a text, by which rows are grouped at little cost; what is no key may have one or none.

        It is an ENUM, which DuckDB makes from the dictionary of a Parquet file rather than from every row.
        """
        known = list(keys)
        return self.try_cast(self.short(sql, longest(known)), f"ENUM({', '.join(map(self.literal, known))})")

    def code_place(self, code: str, keys: Iterable[str]) -> str:  # noqa: ARG002  (others have to look them up)
        """Return the place among the keys, from 0, of what `code` gave; null where it has none."""
        return self.cast(f"enum_code({code})", self.narrow)

    def code_text(self, code: str, keys: Iterable[str]) -> str:  # noqa: ARG002
        """Return the key that a code stands for; null where it stands for none."""
        return self.cast(code, self.text)

    def position(self, sql: str, values: Iterable[bool | int | str | None]) -> str:
        """Return the place of a value in a list, from 1; null or 0 where it has none."""
        return f"list_position([{', '.join(map(self.literal, values))}], {sql})"

    def text_number(self, sql: str) -> str:
        """Return 64 bits of the MD5 of a text, as a whole number from 0."""
        return f"md5_number_lower({sql})"

    def days_of_date(self, sql: str) -> str:
        """Return a date as days since 1970-01-01."""
        return f"({sql} - {self.date(dt.date(1970, 1, 1))})"

    def date_of_instant(self, sql: str) -> str:
        """Return the day, in UTC, of a timestamp with a time zone, whatever zone the session is in."""
        # The zone cannot be taken off what lies before the first day, as the least integer does, which stands for none.
        return self.try_cast(f"TRY({sql} AT TIME ZONE 'UTC')", "DATE")

    def date_part(self, part: str, days: str) -> str:
        """Return the year, month or day of the month of days since 1970-01-01."""
        return f"{part}({self.date(dt.date(1970, 1, 1))} + {self.cast(days, 'INTEGER')})"


DIALECT = DuckDB()
