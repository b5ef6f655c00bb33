"""Constants: the numbers, texts, days and booleans that stand in a question."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written

Value = bool | Fraction | str | dt.date
Parameter = Value | None


def settled(value: object) -> Value:
    """Return a constant as it is kept: numbers exactly as written, text that engines can store, days."""
    match value:
        case bool() | Fraction():
            return value
        case str():
            if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
                why = "engines cannot store NUL or lone surrogates"
                raise BadParameter("text", value, why=why, fix="remove the characters")
            return value
        case dt.datetime():
            raise BadParameter("value", value, why="columns have days, not moments", fix="write moment.date()")
        case dt.date():
            return value
        case None:
            raise BadParameter("value", value, why="null equals nothing", fix="use is_null(), or leave otherwise() out")
    return as_written("value", value)


def bound_of(name: str, value: Number | dt.date | str | None) -> Parameter:
    """Return a bound, or None for no bound."""
    if value is None:
        return None
    if isinstance(value, bool):
        raise BadParameter(name, value, why="a boolean is not a bound", fix="use a number or a day")
    return settled(value)


def positive_step(value: Number) -> Fraction:
    """Return a step, which is a positive number, exactly as written."""
    found = as_written("step", value)
    if found <= 0:
        raise BadParameter("step", value, why="results are multiples of it", fix="use a positive number such as 0.01")
    return found
