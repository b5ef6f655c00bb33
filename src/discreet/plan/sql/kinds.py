"""Kinds of formulas: what one over an answer gives, so what makes no sense is refused before it is paid."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from discreet.core.column import Column
from discreet.plan.sql.formula import Clipped, Computed, Constant, Formula, KeyOf, Measured, RoundedFormula, Tested

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
