"""Columns of an answer: what was asked, how, one quantity for every row, and what one row adds to them."""

from __future__ import annotations

import math
from dataclasses import field
from fractions import Fraction
from typing import Any

from discreet.answers.interval import LEVEL, interval
from discreet.answers.point import point_of
from discreet.answers.quantity import Plain, Quantity, is_whole, read_quantity, write_quantity
from discreet.core.record import fields
from discreet.core.value import dataclass, replace


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


def figure(value: float) -> str:
    """Write a number in four digits or more, whole ones and large ones without a fraction."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:,.4g}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A value and the interval that holds the exact one with probability at least 95%.

    There is no value where everything in the declared range is possible: the interval is that range.

    Of a comparison `low` says whether it is certain and `high` whether it is possible.
    """

    value: Plain | str | None
    low: Plain | str | None
    high: Plain | str | None


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """One column of an answer.

    `kind` is the aggregate's word (count, sum, mean, quantile, histogram, cdf, ...), or "derived" after arithmetic;
    `words` say what it is ("mean of cost"); `mechanism`, `noise` and `price` say how it was answered and at what price;
    `unit` is what its values are counted in, if that was declared. `sampled` says what a row adds, for intervals of
    sampling.
    """

    name: str
    quantities: tuple[Quantity, ...]
    kind: str = "derived"
    words: str = ""
    mechanism: str = ""
    noise: str = ""
    price: str = ""
    unit: str = ""
    sampled: SampledRows | None = None
    _cells: list[Cell] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantities", tuple(self.quantities))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Value, low and high of every row; computed once, when they are first looked at."""
        if len(self._cells) != len(self.quantities):
            self._cells[:] = [_cell(quantity) for quantity in self.quantities]
        return tuple(self._cells)

    @property
    def whole(self) -> bool:
        """Whether all values are integers, by the way they are computed."""
        return all(is_whole(quantity) for quantity in self.quantities)

    def derived(
        self, quantities: tuple[Quantity, ...], name: str, words: str, sampled: SampledRows | None = None
    ) -> AnswerColumn:
        """Return a column computed from this one: free, so it has no mechanism and no price of its own."""
        made = replace(self, name=name, quantities=quantities, kind="derived", words=words, sampled=sampled)
        return replace(made, mechanism="", noise="", price="")

    def record(self) -> dict[str, Any]:
        """Return the column as plain JSON values; its noisy integers are named only."""
        texts = {name: getattr(self, name) for name in _TEXTS}
        return {
            **texts,
            "quantities": [write_quantity(quantity) for quantity in self.quantities],
            "sampled": None if self.sampled is None else self.sampled.record(),
        }

    @classmethod
    def from_record(cls, record: object, known: dict[str, Any]) -> AnswerColumn:
        """Read what `record` returned, given the noisy integers by name."""
        if isinstance(record, dict) and "sampled" not in record:  # as it was before intervals of sampling
            record = {**record, "sampled": None}
        given = fields("column", record, (*_TEXTS, "quantities", "sampled"))
        rows = given.pop("sampled")
        quantities = tuple(read_quantity(each, known) for each in given.pop("quantities"))
        return cls(quantities=quantities, sampled=None if rows is None else SampledRows.from_record(rows), **given)


_TEXTS = ("name", "kind", "words", "mechanism", "noise", "price", "unit")


def _cell(quantity: Quantity) -> Cell:
    low, high = interval(quantity, LEVEL)
    value = point_of(quantity, (low, high))
    return Cell(value, *(None if isinstance(each, float) and math.isnan(each) else each for each in (low, high)))
