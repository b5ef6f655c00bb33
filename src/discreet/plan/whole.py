"""Integers in SQL: every operation is written together with the exact range of its result."""

from __future__ import annotations

from discreet.core.value import dataclass, replace
from discreet.engines.dialect import NARROW, WIDE, Dialect


class OutOfRange(Exception):
    """A range beyond the widest integers; anyone who knows the expression turns it into a refusal."""


def is_wide(low: int, high: int) -> bool:
    """Say whether numbers from low to high need the wide type; beyond that too they are out of range."""
    most = max(abs(low), abs(high))
    if most >= WIDE:
        raise OutOfRange
    return most >= NARROW


@dataclass(frozen=True, slots=True)
class Whole:
    """SQL whose value is null or an integer from low to high.

    Ranges follow from those of the operands by interval arithmetic, and an operation whose result or whose operands
    need the wide type is done in it: no sum or product overflows, whatever the row. `fixed` is the value of a constant.

    Guarantee: evaluating the SQL never raises, for any row whose columns are within their bounds.
    """

    sql: str
    low: int
    high: int
    dialect: Dialect
    fixed: int | None = None
    wide: bool = False

    @classmethod
    def of(cls, sql: str, bounds: tuple[int, int], dialect: Dialect) -> Whole:
        """Take SQL that is stored in the type its bounds ask for."""
        return cls(sql, *bounds, dialect, wide=is_wide(*bounds))

    @classmethod
    def constant(cls, value: int, dialect: Dialect) -> Whole:
        """Write a constant."""
        return cls(dialect.literal(value), value, value, dialect, fixed=value, wide=is_wide(value, value))

    @property
    def stored(self) -> str:
        """The SQL, in the narrow type if the range allows it."""
        if self.wide and not is_wide(self.low, self.high):
            return self.dialect.cast(self.sql, self.dialect.narrow)
        return self.sql

    def within(self, low: int, high: int) -> Whole:
        """Return the same number with a narrower range, which the caller has proven."""
        return replace(self, low=max(low, self.low), high=min(high, self.high))

    def plus(self, other: Whole) -> Whole:
        """Add."""
        if other.fixed == 0:
            return self
        if self.fixed == 0:
            return other
        return self._joined("+", other, self.low + other.low, self.high + other.high)

    def minus(self, other: Whole) -> Whole:
        """Subtract."""
        if other.fixed == 0:
            return self
        return self._joined("-", other, self.low - other.high, self.high - other.low)

    def shifted(self, by: int) -> Whole:
        """Add a constant."""
        return self.plus(self.constant(by, self.dialect))

    def times(self, other: Whole) -> Whole:
        """Multiply."""
        if other.fixed == 1:
            return self
        if self.fixed == 1:
            return other
        corners = [one * two for one in (self.low, self.high) for two in (other.low, other.high)]
        return self._joined("*", other, min(corners), max(corners))

    def scaled(self, by: int) -> Whole:
        """Multiply by a constant."""
        return self.times(self.constant(by, self.dialect))

    def over(self, divisor: Whole, least: int, most: int) -> Whole:
        """Return floor(self / divisor), which the caller has proven to be from least to most, for a divisor >= 0.

        Null where the divisor is zero. Engines truncate, or round down, or neither: all agree when nothing is negative,
        so the dividend is first raised by a multiple of the divisor.
        """
        lift = max(0, -least)
        raised = self.plus(divisor.scaled(lift)) if lift else self
        wide = raised.wide or divisor.wide
        above = raised.sql
        below = divisor.sql if divisor.fixed else f"NULLIF({divisor.sql}, 0)"
        sql = self.dialect.floor_div(above, below, wide=wide)
        quotient = Whole(sql, least + lift, most + lift, self.dialect, wide=wide)
        return quotient.shifted(-lift)

    def rounded(self, above: int, below: int) -> Whole:
        """Return floor(self * above / below + 1/2), for positive constants in lowest terms."""
        scaled = self.scaled(above)
        if below == 1:
            return scaled
        low, high = (_nearest(bound, below) for bound in (scaled.low, scaled.high))
        # Halves exist only below even divisors; otherwise floor(x / b + 1/2) is floor((x + b // 2) / b).
        return scaled.shifted(below // 2).over(self.constant(below, self.dialect), low, high)

    def clamped(self, low: int, high: int) -> Whole:
        """Replace what is below low by low, and what is above high by high; null stays null."""
        if low <= self.low and self.high <= high:
            return self
        least, most = (min(max(bound, low), high) for bound in (self.low, self.high))
        wide = self.wide or is_wide(least, most)
        first, last = (self._literal(bound, wide) for bound in (low, high))
        below = None if self.low >= low else (first, first)
        above = None if self.high <= high else (last, last)
        return Whole(clamp_sql(self.sql, below, above, self.sql), least, most, self.dialect, wide=wide)

    def magnitude(self) -> Whole:
        """Drop the sign."""
        if self.low >= 0:
            return self
        if self.high <= 0:
            return self.scaled(-1)
        most = max(-self.low, self.high)
        return Whole(f"abs({self.sql})", 0, most, self.dialect, wide=self.wide)

    def _joined(self, sign: str, other: Whole, low: int, high: int) -> Whole:
        # The range is looked at first: it may be beyond the wide type too, which the operands do not tell.
        wide = is_wide(low, high) or self.wide or other.wide
        if self.fixed is not None and other.fixed is not None:
            return self.constant(low, self.dialect)
        left, right = self.written(wide=wide), other.written(wide=wide)
        return Whole(f"({left} {sign} {right})", low, high, self.dialect, wide=wide)

    def written(self, *, wide: bool) -> str:
        """Return the SQL in the wide type, if that is asked for."""
        if self.fixed is not None:
            return self._literal(self.fixed, wide)
        return self.dialect.cast(self.sql, self.dialect.wide) if wide and not self.wide else self.sql

    def _literal(self, value: int, wide: bool) -> str:
        return self.dialect.cast(str(value), self.dialect.wide if wide else self.dialect.narrow)


def clamp_sql(sql: str, below: tuple[str, str] | None, above: tuple[str, str] | None, inside: str) -> str:
    """Write what there is instead of numbers below and above two ends, and of those within; of null, `inside`.

    `below` and `above` are an end and what there is beyond it. Of what has to be computed, rows within the ends and
    nulls, which are nearly all, take one branch together. Of a column no condition has another one inside: DuckDB plans
    many columns of nested ones in a time that grows with the square of their number.
    """
    if below and above and "(" in sql:
        other = f"CASE WHEN {sql} < {below[0]} THEN {below[1]} ELSE {above[1]} END"
        return f"(CASE WHEN NOT ({sql} BETWEEN {below[0]} AND {above[0]}) THEN {other} ELSE {inside} END)"
    ends = [f"WHEN {sql} {order} {end[0]} THEN {end[1]}" for order, end in (("<", below), (">", above)) if end]
    return f"(CASE {' '.join(ends)} ELSE {inside} END)"


def _nearest(value: int, below: int) -> int:
    return (2 * value + below) // (2 * below)
