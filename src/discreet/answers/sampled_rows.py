"""Sampled rows: what one row adds to the sums of a column, and how many rows come together with one sampled unit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.core.record import fields
from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True)
class SampledRows:
    """What is public of how rows add up to a number: between `low` and `high` each, where that is known.

    A unit is sampled with all of its rows, at most `most_rows`. `all_rows` says that every row of a group counts, so
    that the rows of any other sum of the same group are among these. `below` is the same of a quotient's divisor.
    """

    most_rows: int = 1
    low: Fraction | None = None
    high: Fraction | None = None
    all_rows: bool = False
    below: SampledRows | None = None

    @property
    def largest(self) -> Fraction | None:
        """The largest size of what one row adds, where all rows add to the same side of zero."""
        if self.low is None or self.high is None or self.low < 0 < self.high:
            return None
        return max(abs(self.low), abs(self.high))

    @property
    def is_count(self) -> bool:
        """Whether rows are counted."""
        return self.low == 0 and self.high == 1

    def times(self, factor: Fraction) -> SampledRows:
        """Return the same for so many times the sums."""
        ends = None if self.low is None or self.high is None else sorted((factor * self.low, factor * self.high))
        low, high = ends if ends is not None else (None, None)
        return SampledRows(self.most_rows, low, high, below=self.below)

    def unbounded(self) -> SampledRows:
        """Return what is left where the sums were calculated with otherwise."""
        return SampledRows(self.most_rows)

    def record(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "most_rows": self.most_rows,
            "low": None if self.low is None else str(self.low),
            "high": None if self.high is None else str(self.high),
            "all_rows": self.all_rows,
            "below": None if self.below is None else self.below.record(),
        }

    @classmethod
    def from_record(cls, record: object) -> SampledRows:
        """Read what `record` returned."""
        given = fields("sampled", record, ("most_rows", "low", "high", "all_rows", "below"))
        low, high = (None if given[end] is None else Fraction(given[end]) for end in ("low", "high"))
        below = None if given["below"] is None else cls.from_record(given["below"])
        return cls(int(given["most_rows"]), low, high, bool(given["all_rows"]), below)


def combined(one: SampledRows | None, sign: str, other: SampledRows | None) -> SampledRows | None:
    """Return the same for a sum, a difference, a product or a quotient of two columns."""
    if one is None or other is None:
        return None
    most = max(one.most_rows, other.most_rows)
    if sign == "/":
        return SampledRows(most, one.low, one.high, one.all_rows, other)
    return SampledRows(most)


def shifted(one: SampledRows | None, sign: str, number: Fraction, *, swapped: bool) -> SampledRows | None:
    """Return the same for a column and a number; a number that is added changes nothing that rows add."""
    if one is None:
        return None
    if sign == "+" or (sign == "-" and not swapped):
        return one
    if sign == "-":
        return one.times(Fraction(-1))
    if sign == "*":
        return one.times(number)
    return one.times(1 / number) if sign == "/" and number and not swapped else one.unbounded()
