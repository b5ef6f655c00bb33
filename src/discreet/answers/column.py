"""Columns of an answer: what was asked, how it was answered, and one quantity for every row."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

from discreet.answers import record as _record
from discreet.answers.interval import LEVEL, interval
from discreet.answers.point import point_of
from discreet.answers.quantity import Plain, Quantity, is_whole
from discreet.answers.sampled_rows import SampledRows
from discreet.core.record import fields
from discreet.core.value import dataclass, replace


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
            "quantities": [_record.write(quantity) for quantity in self.quantities],
            "sampled": None if self.sampled is None else self.sampled.record(),
        }

    @classmethod
    def from_record(cls, record: object, known: dict[str, Any]) -> AnswerColumn:
        """Read what `record` returned, given the noisy integers by name."""
        if isinstance(record, dict) and "sampled" not in record:  # as it was before intervals of sampling
            record = {**record, "sampled": None}
        given = fields("column", record, (*_TEXTS, "quantities", "sampled"))
        rows = given.pop("sampled")
        quantities = tuple(_record.read(each, known) for each in given.pop("quantities"))
        return cls(quantities=quantities, sampled=None if rows is None else SampledRows.from_record(rows), **given)


_TEXTS = ("name", "kind", "words", "mechanism", "noise", "price", "unit")


def _cell(quantity: Quantity) -> Cell:
    low, high = interval(quantity, LEVEL)
    value = point_of(quantity, (low, high))
    return Cell(value, *(None if isinstance(each, float) and math.isnan(each) else each for each in (low, high)))
