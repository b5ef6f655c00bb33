"""Generalized values: ranges, sets, prefixes and stars, as they stand in tables that were made k-anonymous."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_RANGE = re.compile(rf"^[\[(]?\s*({_NUMBER})\s*(?:-|\.\.|to|,|:)\s*({_NUMBER})\s*([\])]?)$")
_BOUND = re.compile(rf"^(<=|>=|<|>)\s*({_NUMBER})$")
_OPEN = re.compile(rf"^({_NUMBER})\s*\+$")
_STARS = {"", "*", "any", "none", "nan", "null"}


@dataclass(frozen=True, slots=True)
class Generalized:
    """What one cell leaves possible: numbers from `low` to `high`, texts among `values`, or texts with a prefix.

    A cell with neither bounds nor texts leaves everything possible.
    """

    low: float = -math.inf
    high: float = math.inf
    values: frozenset[str] | None = None
    prefix: str | None = None

    def covers(self, value: object) -> bool:
        """Whether an exact value may stand behind the cell; a missing one may stand anywhere."""
        if value is None:
            return True
        text = text_of(value)
        if self.values is not None:
            return text in self.values
        if self.prefix is not None:
            return text.startswith(self.prefix)
        number = _number(text)
        return number is not None and self.low <= number <= self.high if self.bounded else True

    def meets(self, other: Generalized) -> bool:
        """Whether some value may stand behind both cells."""
        if self.values is not None:
            return any(other.covers(value) for value in self.values)
        if other.values is not None:
            return other.meets(self)
        if self.prefix is not None and other.prefix is not None:
            return self.prefix.startswith(other.prefix) or other.prefix.startswith(self.prefix)
        if self.bounded and other.bounded:
            return self.low <= other.high and other.low <= self.high
        return True  # one leaves everything possible, or they speak of different kinds: nothing is ruled out

    @property
    def bounded(self) -> bool:
        """Whether it speaks of numbers."""
        return math.isfinite(self.low) or math.isfinite(self.high)


def generalized(cell: object) -> Generalized:
    """Read a cell: "30-39", "[30, 40)", "<18", "65+", "4790*", "{a, b}" or "a|b", "*", or a plain value."""
    if cell is None:
        return Generalized()
    text = text_of(cell).strip()
    if text.lower() in _STARS:
        return Generalized()
    if found := _RANGE.match(text):
        low, high = float(found[1]), float(found[2])
        return Generalized(low, math.nextafter(high, -math.inf) if found[3] == ")" and high > low else high)
    if found := _BOUND.match(text):
        edge = float(found[2])
        strict = math.nextafter(edge, -math.inf if found[1] == "<" else math.inf) if len(found[1]) == 1 else edge
        return Generalized(high=strict) if found[1][0] == "<" else Generalized(low=strict)
    if found := _OPEN.match(text):
        return Generalized(low=float(found[1]))
    if text.endswith("*"):
        return Generalized(prefix=text.rstrip("*"))
    if text.startswith("{") and text.endswith("}"):
        return Generalized(values=frozenset(part.strip() for part in text[1:-1].split(",")))
    if "|" in text:
        return Generalized(values=frozenset(part.strip() for part in text.split("|")))
    number = _number(text)
    return Generalized(values=frozenset({text})) if number is None else Generalized(number, number)


def text_of(value: object) -> str:
    """Write a value as a person would: an integer without its .0, and any other in full."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
