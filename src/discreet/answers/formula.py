"""Computed: a formula over the columns of an answer, as a quantity with the interval that follows."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.answers import algebra
from discreet.answers.functions import value_of
from discreet.answers.quantity import FunctionQuantity, Plain, PublicValue, Quantity
from discreet.core.errors import BadParameter
from discreet.plan.sql.formula import Clipped, Computed, Constant, Formula, Measured, RoundedFormula, Tested

_BINARY: dict[str, Callable[[Quantity, Quantity], Quantity]] = {
    "+": algebra.add,
    "-": lambda one, two: algebra.add(one, algebra.scale(two, Fraction(-1))),
    "*": algebra.multiply,
    "/": algebra.divide,
}


def quantity_of(formula: Formula, column: Callable[[str], Quantity]) -> Quantity:
    """Return the quantity that a formula makes of the columns of a row."""

    def made(part: Formula) -> Quantity:
        return quantity_of(part, column)

    match formula:
        case Measured(name):
            return column(name)
        case Constant(value) if isinstance(value, Fraction):
            return PublicValue(value)
        case Computed(sign, (one, two)) if sign in _BINARY:
            return _BINARY[sign](made(one), made(two))
        case Computed("negative", (one,)):
            return algebra.scale(made(one), Fraction(-1))
        case Computed("absolute", (one,)):
            return algebra.absolute(made(one))
        case Computed("root", (one,)):
            return FunctionQuantity("root", (made(one),))
        case Computed("null_if", (one, Constant(value))):
            found = made(one)
            return PublicValue(None) if known_value(found) == value else found
        case RoundedFormula(of, places):
            return algebra.rounded(made(of), places)
        case Clipped(of, low, high):
            return algebra.clip(made(of), low, high)
        case Tested("<" | "<=" | ">" | ">=" as order, (one, two)):
            return algebra.compare(made(one), order, made(two))
    why = "of an answer only numbers are computed, and compared by <, <=, > and >="
    raise BadParameter("formula", type(formula).__name__, why=why, fix="compute it from the answer")


def known_value(quantity: Quantity) -> Plain | str | None:
    """Return the value of a quantity; None where nothing is defined."""
    value = value_of(quantity)
    return None if isinstance(value, float) and math.isnan(value) else value
