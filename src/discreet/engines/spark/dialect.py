"""Spark's dialect: how Apache Spark 4 spells what its neighbours spell otherwise, with ANSI rules switched on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from discreet.engines.dialect import MOST_ROWS, NARROW, Dialect, longest

_TYPES = {"HUGEINT": "DECIMAL(38, 0)", "VARCHAR": "STRING"}
# Doubles of this magnitude are integers.
_WHOLE = 1 << 52
# Wide floats are cut here, into two parts that long integers hold.
_CUT = 1 << 63
# Long sums are put together from sums of so many bits of each value, which fit for as many rows as a table may have.
_LIMB = 22
# So many keys are searched one by one; more are halved first, if what is looked for is a name: it is written each time.
_SLICE = 64
_NAME = 100
# Wide integers have fewer digits than this.
_DECIMALS = 10**38
# Every other hexadecimal digit.
_DIGITS = 0x0F0F0F0F0F0F0F0F

# With `a` and `b` of 38 digits. A quotient of decimals has six places and so 32 digits before them: where the divisor
# has six digits or fewer, the dividend is cut at a million million, and the rest divided in long integers.
_DIVISION = (
    "CASE WHEN b >= 1000000 THEN CAST((a - a % b) / b AS DECIMAL(38, 0))"
    " ELSE CAST((({h}) - ({h}) % b) / b AS DECIMAL(38, 0)) * 1000000000000"
    " + (CAST(({h}) % b AS BIGINT) * 1000000000000 + CAST(a % 1000000000000 AS BIGINT)) div CAST(b AS BIGINT) END"
).format(h="CAST((a - a % 1000000000000) / 1000000000000 AS DECIMAL(38, 0))")


@dataclass(frozen=True, slots=True)
class Spark(Dialect):
    """Spark, in a session of ours: ANSI rules, names in double quotes, UTC.

    Wide integers are decimals of 38 digits, which hold all below 2^126. Functions that Spark gives as short integers
    are cast to long ones, for which ranges are proven.
    """

    name: str = "spark"
    packs: bool = False
    shares_digests: bool = True

    def quote(self, identifier: str) -> str:
        """Write a name in backticks, where nothing is an escape; between double quotes a backslash begins one."""
        return "`" + identifier.replace("`", "``") + "`"

    def literal(self, value: bool | int | str | None) -> str:
        """Write a value; a backslash begins an escape in Spark's texts."""
        if isinstance(value, str):
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return Dialect.literal(self, value)

    def cast(self, sql: str, kind: str) -> str:
        """Convert where that cannot fail."""
        return f"CAST({sql} AS {_TYPES.get(kind, kind)})"

    def try_cast(self, sql: str, kind: str) -> str:
        """Convert; what cannot be converted becomes null."""
        return f"try_cast({sql} AS {_TYPES.get(kind, kind)})"

    def bytes_of(self, text: str) -> str:
        """Count the bytes of a text in UTF-8, which Spark stores beside them."""
        return f"octet_length({text})"

    def total(self, sql: str, least: int, most: int) -> str:
        """Add up numbers; where a sum could leave long integers, in limbs: decimals are several times as slow."""
        largest = max(abs(least), abs(most))
        if largest >= NARROW:
            return f"sum({self.cast(sql, self.wide)})"
        narrow = self.cast(sql, self.narrow)
        if largest * MOST_ROWS < NARROW:
            return f"sum({narrow})"
        parts, rest, shift = [], narrow, 0
        while largest >> shift >= NARROW // MOST_ROWS:
            parts.append((shift, self.low_bits(rest, _LIMB)))
            shift += _LIMB
            rest = self.high_bits(narrow, shift)
        sums = (f"{self.cast(f'sum({part})', self.wide)} * {1 << at}" for at, part in (*parts, (shift, rest)))
        return f"({' + '.join(sums)})"

    def floor_div(self, above: str, below: str, *, wide: bool = False) -> str:
        """Divide integers; wide ones in a function of two names, so each operand is written once."""
        if not wide:
            return f"({above} div {below})"
        if below.isdecimal() and int(below) >= _DECIMALS:
            return f"({above} * 0)"  # no decimal reaches so far
        return f"aggregate(array({self.cast(below, self.wide)}), {self.cast(above, self.wide)}, (a, b) -> {_DIVISION})"

    def floor(self, sql: str) -> str:
        """Round a float down; Spark's own floor is a long integer, which large floats would overflow."""
        return f"(CASE WHEN abs({sql}) < {_WHOLE} THEN {self.cast(f'floor({sql})', self.double)} ELSE {sql} END)"

    def whole_of_double(self, sql: str, kind: str) -> str:
        """Convert a whole float exactly; Spark makes decimals of floats from their shortest digits."""
        if kind != self.wide:
            return self.try_cast(sql, kind)
        high = self.cast(f"{sql} * {self.float_literal(1 / _CUT)}", self.narrow)
        low = f"{sql} - {self.cast(high, self.double)} * {self.float_literal(float(_CUT))}"
        return f"({self.cast(high, self.wide)} * {_CUT} + {self.cast(low, self.narrow)})"

    def length(self, sql: str) -> str:
        """Count the Unicode code points of a text."""
        return self.cast(f"length({sql})", self.narrow)

    def starts_with(self, sql: str, prefix: str) -> str:
        """Say whether a text begins with these code points."""
        return f"startswith({sql}, {prefix})"

    def like(self, sql: str, pieces: Sequence[str]) -> str:
        """Look for one piece behind the other: a pattern would be a regular expression, which may take very long."""
        first, *others = pieces
        middle, last = others[:-1], others[-1] if others else ""
        found = [self.starts_with(sql, self.literal(first))]
        at = str(len(first) + 1)
        for each in filter(None, middle):
            place = f"locate({self.literal(each)}, {sql}, {at})"
            found.append(f"{place} > 0")
            at = f"({place} + {len(each)})"
        found += [f"endswith({sql}, {self.literal(last)})", f"length({sql}) >= {at} + {len(last) - 1}"]
        return f"({' AND '.join(found)})"

    def matches(self, sql: str, pattern: str) -> str:
        r"""Say whether the whole text matches; Java's $ would let a last line break pass, \z does not."""
        whole = self.literal(rf"\A(?:{pattern})\z")
        return f"regexp_like({sql}, {whole})"

    def among(self, sql: str, keys: Iterable[str]) -> str:
        """Return the text if it is one of the keys, else null."""
        known = list(keys)
        short = self.short(sql, longest(known))
        return f"(CASE WHEN {short} IN ({', '.join(map(self.literal, known))}) THEN {short} END)"

    def code(self, sql: str, keys: Iterable[str]) -> str:
        """Return the text itself: Spark groups by short texts as fast as by numbers."""
        return self.short(sql, longest(keys))

    def code_place(self, code: str, keys: Iterable[str]) -> str:
        """Return the place among the keys, from 0; null where it has none."""
        return f"(NULLIF({self.position(code, keys)}, 0) - 1)"

    def code_text(self, code: str, keys: Iterable[str]) -> str:
        """Return the key that a code stands for; null where it stands for none."""
        return self.among(code, keys)

    def position(self, sql: str, values: Iterable[bool | int | str | None]) -> str:
        """Return the place of a value in a list, from 1; a long one is halved by its order until it is short."""
        places = {value: place for place, value in enumerate(values, 1)}
        if len(places) <= _SLICE or len(sql) > _NAME:
            return self._listed(sql, places)
        # Texts are compared by the bytes of UTF-8 here, and by code points in Python, which is the same order.
        return self._halved(sql, sorted(places), places)  # type: ignore[type-var]

    def _halved(
        self, sql: str, rising: Sequence[bool | int | str | None], places: Mapping[bool | int | str | None, int]
    ) -> str:
        if len(rising) <= _SLICE:
            found = ", ".join(str(places[value]) for value in rising)
            return f"get(array(0, {found}), CAST({self._listed(sql, rising)} AS INT))"
        middle = len(rising) // 2
        low, high = (self._halved(sql, half, places) for half in (rising[:middle], rising[middle:]))
        return f"(CASE WHEN {sql} < {self.literal(rising[middle])} THEN {low} ELSE {high} END)"

    def _listed(self, sql: str, values: Iterable[bool | int | str | None]) -> str:
        return f"array_position(array({', '.join(map(self.literal, values))}), {sql})"

    def text_number(self, sql: str) -> str:
        """Return 64 bits of the MD5 of a text; as a long integer, so the highest bit is a sign.

        They are the last eight bytes, the lowest first, and so the last sixteen digits read backwards; which leaves
        the two digits of each byte to be exchanged.
        """
        found = self.cast(f"conv(reverse(substr(md5({sql}), 17)), 16, -10)", self.narrow)
        return f"(shiftleft({found} & {_DIGITS}, 4) | (shiftright({found}, 4) & {_DIGITS}))"

    def high_bits(self, sql: str, bits: int) -> str:
        """Drop the lowest bits of a long integer; Spark's parser takes some >> for the end of a type."""
        return f"shiftright({sql}, {bits})"

    def days_of_date(self, sql: str) -> str:
        """Return a date as days since 1970-01-01."""
        return self.cast(f"unix_date({sql})", self.narrow)

    def date_of_instant(self, sql: str) -> str:
        """Return the day, in UTC, which the session is in."""
        return self.try_cast(sql, "DATE")

    def date_part(self, part: str, days: str) -> str:
        """Return the year, month or day of the month of days since 1970-01-01."""
        return self.cast(f"{part}(date_from_unix_date({self.cast(days, 'INTEGER')}))", self.narrow)


DIALECT = Spark()
