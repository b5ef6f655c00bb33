"""Digits: how many of them an interval justifies, and how cells are written with no more."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.answers.column import Cell

NOTHING = "n/a"
UNKNOWN = "?"  # a value of which the interval alone is known
_MOST_PLACES = 15  # floats hold no more
_ROWS = ("count", "histogram")  # kinds of columns that count rows, of which a weight may leave a part


@dataclass(frozen=True, slots=True)
class DecimalPlaces:
    """The last decimal place that a column of cells shows: 10 ** -places."""

    places: int
    whole: bool = False

    @classmethod
    def of(cls, cells: Iterable[Cell], kind: str = "") -> DecimalPlaces:
        """Return the place of the second digit of the narrowest interval: more would be noise; rows are shown whole."""
        cells = list(cells)
        halves = [half for cell in cells if (half := half_width(cell)) is not None and 0 < half < math.inf]
        values = [value for cell in cells for value in (cell.value, cell.low, cell.high) if value is not None]
        whole = kind in _ROWS or all(isinstance(value, int) for value in values)
        if not halves:
            return cls(0 if whole else 6, whole)
        places = min(1 - math.floor(math.log10(min(halves))), _MOST_PLACES)
        return cls(min(places, 0) if whole else places, whole)

    def cell(self, cell: Cell) -> str:
        """Write a cell: a value and how far it may be off, or the ends where they are not alike."""
        value = self.value(cell)
        if cell.value is None and half_width(cell) is not None:
            return f"{value} {self.error(cell)}"
        if _is_number(cell.value) and cell.low is None and cell.high is None:
            return f"{value} [{UNKNOWN}]"
        if not _is_number(cell.value) or cell.low is None or cell.high is None:
            return _certainty(cell, value)
        if cell.low == cell.high == cell.value:
            return value
        return f"{value} {self.error(cell)}"

    def value(self, cell: Cell) -> str:
        """Write the value alone; a question mark where there is an interval and no value."""
        missing = cell.value is None and (cell.low is not None or cell.high is not None)
        return UNKNOWN if missing else self.number(cell.value)

    def error(self, cell: Cell) -> str:
        """Write the interval alone; the ends are rounded outwards, so it still covers."""
        half = half_width(cell)
        if cell.value is not None and half is not None and math.isfinite(half) and _symmetric(cell, half, self.places):
            return f"± {self.number(half, math.ceil)}"
        return f"[{self.number(cell.low, math.floor)}, {self.number(cell.high, math.ceil)}]"

    def number(self, value: object, direction: object = None) -> str:
        """Write a number with thousands separated, rounded to the nearest or in one direction."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return NOTHING
        if not isinstance(value, int | float):
            return str(value)
        if isinstance(value, float) and math.isinf(value):
            return "∞" if value > 0 else "-∞"
        return self._written(value, direction)

    def _written(self, value: float, direction: object) -> str:
        unit = Fraction(10) ** -self.places
        steps = Fraction(value) / unit
        if direction in (math.floor, math.ceil):
            # What floats lose must not cost a digit: 2.0000000000000004 is 2.
            near = round(steps)
            exact = near if abs(steps - near) < Fraction(1, 10**6) else None
            count = exact if exact is not None else (math.floor(steps) if direction is math.floor else math.ceil(steps))
        else:
            count = round(steps)
        places = max(self.places, 0)
        digits = f"{abs(count) * unit.numerator // unit.denominator:,}"
        if places:
            whole, rest = divmod(abs(count), 10**places)
            digits = f"{whole:,}.{rest:0{places}d}"
        return ("-" if count < 0 else "") + digits


def half_width(cell: Cell) -> float | None:
    """Return half of the interval's width; None where it has no numbers."""
    ends = cell.low, cell.high
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        return None
    low, high = ends
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    if isinstance(low, int) and isinstance(high, int) and (high - low) % 2 == 0:
        return (high - low) // 2
    return (high - low) / 2


def _symmetric(cell: Cell, half: float, places: int) -> bool:
    assert isinstance(cell.low, int | float)
    assert isinstance(cell.value, int | float)
    return abs(Fraction(cell.value) - Fraction(cell.low) - Fraction(half)) * 2 <= Fraction(10) ** -places / 10


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _certainty(cell: Cell, value: str) -> str:
    """Write a boolean: bare where it is certain, with a question mark where the noise leaves it open."""
    undecided = isinstance(cell.value, bool) and cell.low != cell.high
    return f"{value}?" if undecided else value
