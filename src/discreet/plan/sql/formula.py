"""Formulas: what is computed from an answer once it is bought: arithmetic, comparisons, the order of rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.core.column import Column
from discreet.core.value import dataclass
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


FormulaKind = Literal["number", "text", "date", "flag"]
Kinds = Mapping[str, FormulaKind]

_ORDERS = ("<", "<=", ">", ">=")


def kind_of_key(column: Column) -> FormulaKind:
    """Return what the keys of a column are, as they are shown."""
    if column.kind == "category":
        return "text" if isinstance((column.keys or ("",))[0], str) else "number"
    return column.kind


def kind_of(formula: Formula, keys: Kinds) -> FormulaKind | None:
    """Return what a formula gives; None where its parts do not go together."""
    match formula:
        case Measured():
            return "number"
        case KeyOf(name):
            return keys[name]
        case Constant(value):
            return _kind_of_constant(value)
        case Computed(_, parts):
            return "number" if all(_is_computed(part, keys) for part in parts) else None
        case RoundedFormula(of) | Clipped(of):
            return "number" if _is_computed(of, keys) else None
        case Tested(test, parts):
            kinds = {kind_of(part, keys) for part in parts}
            if test in ("and", "or", "not"):
                return "flag" if kinds == {"flag"} else None
            return "flag" if len(kinds) == 1 and None not in kinds else None


def is_shown(formula: Formula, keys: Kinds) -> bool:
    """Say whether a formula can be a column: a number, or a comparison of two that has certain and possible ends."""
    if isinstance(formula, Tested):
        return formula.test in _ORDERS and all(_is_computed(part, keys) for part in formula.parts)
    return _is_computed(formula, keys)


def _is_computed(formula: Formula, keys: Kinds) -> bool:
    return not isinstance(formula, KeyOf) and kind_of(formula, keys) == "number"


def _kind_of_constant(value: object) -> FormulaKind | None:
    match value:
        case bool():
            return "flag"
        case Fraction():
            return "number"
        case str():
            return "text"
        case dt.date():
            return "date"
    return None
