"""PostgreSQL's dialect: what it spells differently, and conversions that raise nothing, whatever a record holds.

Texts are compared by their code points, COLLATE "C", whatever collation a column has: of two spellings that a language
holds to be equal only one is a key, on every engine. Wide integers are NUMERIC, whose arithmetic is exact.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from discreet.engines.dialect import MOST_ROWS, Dialect, longest, select
from discreet.engines.physical import Physical

_TYPES = {
    "DOUBLE": "double precision",
    "FLOAT": "real",
    "HUGEINT": "numeric",
    "NUMERIC": "numeric",
    "TIMESTAMP WITH TIME ZONE": "timestamptz",
    "VARCHAR": "text",
}
# Longer names are cut by the server, so that two of them might become one.
_MOST_NAME = 63
# So short a text, with so short an exponent, spells a number that no float is too small or too large for.
_SHORT = 200
_SHORT_NUMBER = r" *[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,2})? *"
# So many digits decide to which float a number is nearest; of the others it matters whether they are all zeros.
_DIGITS = 800
# Up to so many values are looked for one after the other; so are numbers, if it is no name that is looked for.
_FEW = 4
_NAME = 100
_HUGE = 1 << 127


@dataclass(frozen=True, slots=True)
class Postgres(Dialect):
    """How PostgreSQL spells things, from version 16 on.

    Its planner computes a column of a subquery again wherever it is named, so that `once` stands between where that
    would cost; it has no type that stores one of many keys in a byte, so that texts are grouped as they are, and their
    places looked up for the few groups that there are.
    """

    name: str = "postgres"
    most_digits: int = 1000
    packs: bool = False
    # Sums of short numbers cost a third of sums of long ones; whoever has more rows than that counts for no more.
    rows_of_person: str = "CAST(least(count(*), 2147483647) AS integer)"
    shares_digests: bool = True

    def quote(self, identifier: str) -> str:
        """Write a name; one too long for the server goes by a digest, which no other name is."""
        if len(identifier.encode()) > _MOST_NAME:
            identifier = f"~long {hashlib.blake2b(identifier.encode(), digest_size=24).hexdigest()}"
        return Dialect.quote(self, identifier)

    def cast(self, sql: str, kind: str) -> str:
        """Convert where that cannot fail."""
        if kind == self.text:
            return f'(CAST({sql} AS text) COLLATE "C")'
        return f"CAST({sql} AS {_TYPES.get(kind, kind)})"

    def try_cast(self, sql: str, kind: str) -> str:
        """Convert what the caller has proven to fit: there is no conversion here that gives null instead of failing."""
        return self.cast(sql, kind)

    def plain_text(self, sql: str) -> str:
        """Read a column of text, of whatever length, type and collation."""
        return self.cast(sql, self.text)

    def person(self, sql: str, physical: str) -> str:
        """Write an identifier as a text, the same for equal ones; numbers of all types alike."""
        return self.plain_decimal(sql) if physical == "NUMERIC" else Dialect.person(self, sql, physical)

    def plain_decimal(self, sql: str) -> str:
        """Write a decimal as a text, without the zeros at its end."""
        return self.cast(f"trim_scale({sql})", self.text)

    def shortest(self, sql: str) -> str:
        """Write a float with the fewest digits; from 10^15 on, the server alone writes an exponent."""
        text = self.cast(sql, self.text)
        plain = self.cast(f"CAST({text} AS numeric)", self.text)
        first, last = (self.float_literal(edge) for edge in (1e15, 1e16))
        return f"(CASE WHEN abs({sql}) >= {first} AND abs({sql}) < {last} THEN {plain} ELSE {text} END)"

    def is_number(self, sql: str, kind: str) -> str:
        """Say whether a float or a decimal is a number; NaN equals itself here."""
        nan = self.cast("'NaN'", kind)
        return f"({sql} <> {nan})"

    def number(self, sql: str, kind: Physical) -> str:  # noqa: ARG002
        """Read a decimal, of which the server checks the digits; NaN, which equals itself here, is null."""
        return f"NULLIF({sql}, CAST('NaN' AS numeric))"

    def bytes_of(self, text: str) -> str:
        """Count the bytes of a text; the server knows them without fetching or unpacking a long one."""
        return f"octet_length({text})"

    def double_of_text(self, text: str, pattern: str) -> str:
        """Return the float nearest to the number that a text spells; long ones are weighed digit by digit."""
        short = f"length({text}) <= {_SHORT} AND {self.matches(text, _SHORT_NUMBER)}"
        long = f"WHEN {self.matches(text, pattern)} THEN {_far_double(text)}"
        return f"(CASE WHEN {short} THEN CAST({text} AS double precision) {long} END)"

    def whole_of_text(self, text: str, pattern: str) -> str:
        """Return the whole number that a text spells; null beyond 128 bits, as in an engine that has no more."""
        short = f"length(btrim(ltrim({text}, ' +-0'), ' ')) < 40"
        number = f"CAST((CASE WHEN {short} AND {self.matches(text, pattern)} THEN {text} END) AS numeric)"
        return f"(CASE WHEN {number} BETWEEN {-_HUGE} AND {_HUGE - 1} THEN {number} END)"

    def days_of_text(self, text: str, pattern: str) -> str:
        """Return the days since 1970-01-01 of the day that a text begins with; the year 0 is 1 BC."""
        year, month, day = (
            f"CAST(substr({text}, {first}, {many}) AS integer)" for first, many in ((1, 4), (6, 2), (9, 2))
        )
        leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
        lengths = "(ARRAY[31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])"
        length = f"CASE WHEN {month} = 2 AND {leap} THEN 29 ELSE {lengths}[{month}] END"
        there = f"{month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {length}"
        date = f"make_date(COALESCE(NULLIF({year}, 0), -1), {month}, {day}) - {self._epoch}"
        return f"(CASE WHEN {self.matches(text, pattern)} THEN CASE WHEN {there} THEN {date} END END)"

    def whole_of_double(self, sql: str, kind: str) -> str:
        """Convert a float that is a whole number, exactly; to NUMERIC the server itself would keep 15 digits of it."""
        if kind != self.wide:
            return self.cast(sql, kind)
        unit = self.float_literal(2.0**63)
        above = f"trunc({sql} / {unit})"
        high, low = (self.cast(self.cast(part, self.narrow), kind) for part in (above, f"({sql} - {above} * {unit})"))
        return f"({high} * {1 << 63} + {low})"

    def total(self, sql: str, least: int, most: int) -> str:
        """Add up whole numbers; where no sum can overflow, as short ones, of which the server adds up many at once."""
        short = max(abs(least), abs(most)) * MOST_ROWS < 1 << 63
        return f"sum({self.cast(sql, self.small)})" if short else f"sum({sql})"

    def floor_div(self, above: str, below: str, *, wide: bool = False) -> str:
        """Divide whole numbers and drop the fraction."""
        return f"div({above}, {below})" if wide else f"({above} / {below})"

    def divided(self, sql: str, by: float) -> str:
        """Divide a float by one that is at least 1; a quotient that would underflow, which is refused here, is 0."""
        tiny = f"abs({sql}) < {self.float_literal(by * 2.0**-60)}"
        return f"(CASE WHEN {tiny} THEN {self.float_literal(0.0)} ELSE {sql} / {self.float_literal(by)} END)"

    def flag_to_integer(self, sql: str) -> str:
        """Return 1 for true, 0 for false, null for null."""
        return self.cast(self.cast(sql, self.small), self.narrow)

    def matches(self, sql: str, pattern: str) -> str:
        """Say whether the whole text matches a regular expression of ASCII classes, groups and repetitions."""
        return f"({sql} ~ {self.literal(f'^(?:{pattern})$')})"

    def among(self, sql: str, keys: Iterable[str]) -> str:
        """Return the text if it is one of the keys, else null; the server looks them up in a hash table."""
        known = list(keys)
        short = self.short(sql, longest(known))
        return f"(CASE WHEN {short} IN ({', '.join(map(self.literal, known))}) THEN {short} END)"

    def code(self, sql: str, keys: Iterable[str]) -> str:
        """Return the text itself: to look it up for every row would keep the server from working in parallel."""
        return self.short(sql, longest(keys))

    def code_place(self, code: str, keys: Iterable[str]) -> str:
        """Return the place among the keys, from 0; null where it has none."""
        return f"({self.position(code, keys)} - 1)"

    def code_text(self, code: str, keys: Iterable[str]) -> str:
        """Return the key that a code stands for; null where it stands for none."""
        return self.among(code, keys)

    def position(self, sql: str, values: Iterable[bool | int | str | None]) -> str:
        """Return the place of a value in a list, from 1; null where it has none. Many are searched by halving."""
        places = {value: place for place, value in enumerate(values, 1) if value is not None}
        if len(places) <= _FEW or any(isinstance(value, bool) for value in places):
            return self._one_of(sql, list(places.items()))
        if len(sql) > _NAME and all(isinstance(value, int) for value in places):
            # Halving writes what is looked for at every turn.
            return f"array_position(ARRAY[{', '.join(map(self.literal, places))}], {sql})"
        # Python orders text by code points, and COLLATE "C" by the bytes of UTF-8, which is the same order.
        return self._halved(sql, sorted(places.items()))

    def _one_of(self, sql: str, places: Sequence[tuple[bool | int | str, int]]) -> str:
        listed = " ".join(f"WHEN {self.literal(value)} THEN {place}" for value, place in places)
        return f"(CASE {sql} {listed} END)" if listed else "CAST(NULL AS integer)"

    def _halved(self, sql: str, places: Sequence[tuple[bool | int | str, int]]) -> str:
        if len(places) <= _FEW:
            return self._one_of(sql, places)
        middle = len(places) // 2
        low, high = self._halved(sql, places[:middle]), self._halved(sql, places[middle:])
        return f"(CASE WHEN {sql} < {self.literal(places[middle][0])} THEN {low} ELSE {high} END)"

    def once(self, sql: str) -> str:
        """Have the columns of a SELECT computed once: its planner does not look into a query that has an OFFSET."""
        return f"{sql} OFFSET 0"

    def text_number(self, sql: str) -> str:
        """Return the MD5 of a text, as bytes."""
        return f"decode(md5({sql}), 'hex')"

    def digest_limbs(self, digest: str) -> tuple[str, str]:
        """Return the lowest 31 bits, and the next, of the last eight bytes of a digest, the first of them lowest."""
        parts = ((8, 0, 255), (9, 8, 255), (10, 16, 255), (11, 24, 127)), ((12, 1, 255), (13, 9, 255), (14, 17, 255))
        low = " + ".join(self._byte(digest, *each) for each in parts[0])
        high = " + ".join(self._byte(digest, *each) for each in (*parts[1], (15, 25, 63)))
        return f"({low})", f"((get_byte({digest}, 11) >> 7) + {high})"

    def _byte(self, digest: str, place: int, shift: int, mask: int) -> str:
        return f"((get_byte({digest}, {place}) & {mask}) << {shift})"

    @property
    def _epoch(self) -> str:
        return "DATE '1970-01-01'"

    def days_of_date(self, sql: str) -> str:
        """Return a date as days since 1970-01-01; infinite ones are beyond all others."""
        least, most = -(1 << 31) + 1, (1 << 31) - 1
        infinite = f"CASE WHEN {sql} > {self._epoch} THEN {most} WHEN {sql} < {self._epoch} THEN {least} END"
        return f"(CASE WHEN isfinite({sql}) THEN {sql} - {self._epoch} ELSE {infinite} END)"

    def date_of_instant(self, sql: str) -> str:
        """Return the day, in UTC, of a timestamp with a time zone; there is none that has no day."""
        return self.cast(f"({sql} AT TIME ZONE 'UTC')", "DATE")

    def date_part(self, part: str, days: str) -> str:
        """Return the year, month or day of the month of days since 1970-01-01."""
        return self.cast(f"EXTRACT({part} FROM {self._epoch} + {self.cast(days, self.small)})", self.narrow)


def _far_double(text: str) -> str:
    """Write the float nearest to a number that may be spelled at any length, with any exponent.

    The number is 0.d * 10^p, d being its digits; beyond what floats can be it is infinite or zero, as in other engines.
    """
    exponent = f"COALESCE(substring({text} from '[eE]([+-]?[0-9]+)'), '0')"
    far = f"CASE WHEN {exponent} LIKE '-%' THEN -2000000000 ELSE 2000000000 END"
    power = f"CASE WHEN length(ltrim({exponent}, '+-0')) > 9 THEN {far} ELSE CAST({exponent} AS bigint) END"
    mantissa = f"translate(regexp_replace({text}, '[eE].*', ''), ' +-', '')"
    sign = f"CASE WHEN ltrim({text}, ' ') LIKE '-%' THEN -1 ELSE 1 END"
    whole, rest = "ltrim(split_part(m, '.', 1), '0')", "split_part(m, '.', 2)"
    place = f"e + CASE WHEN {whole} <> '' THEN length({whole}) ELSE length(ltrim({rest}, '0')) - length({rest}) END"
    sticky = f"CASE WHEN rtrim(substr(d, {_DIGITS + 1}), '0') <> '' THEN '1' ELSE '' END"
    number = f"CAST('0.' || left(d, {_DIGITS}) || {sticky} || 'e' || p AS numeric)"
    # Halfway between the largest float and the next power of two, and half the smallest one.
    most, least = (1 << 1024) - (1 << 970), f"CAST('{5**1075}e-1075' AS numeric)"
    nearest = (
        f"s * CASE WHEN d = '' OR p < -323 OR n <= {least} THEN 0"
        f" WHEN p > 309 OR n >= {most} THEN CAST('inf' AS double precision)"
        f" ELSE CAST(CAST(n AS text) AS double precision) END"
    )
    parts = f"(SELECT {mantissa} AS m, {power} AS e, {sign} AS s OFFSET 0) AS f"
    weighed = select(("ltrim(translate(m, '.', ''), '0') AS d", f"{place} AS p", "s"), parts) + " OFFSET 0"
    small = f"CASE WHEN d <> '' AND p BETWEEN -324 AND 309 THEN {number} END AS n"
    return f"({select(nearest, select((small, 'd', 'p', 's'), weighed) + ' OFFSET 0')})"


DIALECT = Postgres()
