"""Formulas: what is computed from an answer once it is bought: arithmetic, comparisons, the order of rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.plan.constants import Value

# Signs and functions of numbers, and of booleans.
Sign = Literal["+", "-", "*", "/", "negative", "absolute", "root", "null_if"]
Test = Literal["==", "!=", "<", "<=", ">", ">=", "and", "or", "not", "is_null", "is_in"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A column of the answer, by the name it is measured under."""

    name: str


@dataclass(frozen=True, slots=True)
class KeyOf:
    """The key of a group, by the name of its column."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a text, a day or a boolean; None is null."""

    value: Value | None


@dataclass(frozen=True, slots=True)
class Computed:
    """A number computed from others."""

    sign: Sign
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class RoundedFormula:
    """A number rounded to so many decimal places, halves upwards."""

    of: Formula
    places: int


@dataclass(frozen=True, slots=True)
class Clipped:
    """A number cut to public bounds."""

    of: Formula
    low: Fraction | None
    high: Fraction | None


@dataclass(frozen=True, slots=True)
class Tested:
    """A boolean: a comparison of others, or several booleans joined."""

    test: Test
    parts: tuple[Formula, ...]


Formula: TypeAlias = Measured | KeyOf | Constant | Computed | RoundedFormula | Clipped | Tested


@dataclass(frozen=True, slots=True)
class Ordering:
    """One item of ORDER BY."""

    by: Formula
    descending: bool
    nulls_first: bool
