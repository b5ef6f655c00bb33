"""How answers are written: noisy integers once, quantities that refer to them by name, every number exact."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from discreet.answers.quantity import (
    BracketedValue,
    FunctionQuantity,
    Law,
    LinearQuantity,
    NoisyInteger,
    PublicValue,
    Quantity,
    RatioQuantity,
    leaves,
)
from discreet.core.errors import BadParameter
from discreet.core.record import fields

Record = dict[str, Any]


def noises(quantities: Sequence[Quantity]) -> list[list[Any]]:
    """Write every noisy integer that the quantities use, once."""
    found = dict.fromkeys(leaf for each in quantities for leaf in leaves(each) if isinstance(leaf, NoisyInteger))
    return [[noisy.id, str(noisy.value), noisy.law, str(noisy.scale)] for noisy in found]


def read_noises(record: object) -> dict[str, NoisyInteger]:
    """Read what `noises` wrote, by name."""
    found = {}
    for each in _list(record):
        name, value, law, scale = _list(each, 4)
        found[str(name)] = NoisyInteger(str(name), int(value), cast(Law, law), _fraction(scale))
    return found


def write(quantity: Quantity) -> Record:
    """Write a quantity as plain JSON values."""
    match quantity:
        case PublicValue(value):
            return {"exact": _plain(value)}
        case LinearQuantity(terms, constant):
            return {"sum": [[str(weight), noisy.id] for weight, noisy in terms], "constant": str(constant)}
        case RatioQuantity(above, below, low, high):
            return {"above": write(above), "below": write(below), "low": _text(low), "high": _text(high)}
        case BracketedValue(value, low, high, level):
            return {"value": _plain(value), "from": _plain(low), "to": _plain(high), "level": level}
        case FunctionQuantity(name, parts, parameters, low, high):
            return {
                "function": name,
                "of": [write(part) for part in parts],
                "with": [str(each) for each in parameters],
                "low": _text(low),
                "high": _text(high),
            }


def read(record: object, known: Mapping[str, NoisyInteger]) -> Quantity:
    """Read what `write` wrote, given the noisy integers by name."""
    match record:
        case {"exact": value}:
            return PublicValue(_read(value))
        case {"sum": _}:
            return _linear(record, known)
        case {"above": above, "below": below, "low": low, "high": high}:
            return RatioQuantity(_linear(above, known), _linear(below, known), _bound(low), _bound(high))
        case {"value": value, "from": low, "to": high, "level": level}:
            return BracketedValue(_read(value), _read(low), _read(high), float(level))
        case {"function": str(name), "of": parts, "with": given, "low": low, "high": high}:
            inner = tuple(read(part, known) for part in _list(parts))
            return FunctionQuantity(
                name, inner, tuple(_fraction(each) for each in _list(given)), _bound(low), _bound(high)
            )
    raise _refused(record)


def write_key(value: object) -> object:
    """Write one value of a key; days are marked, so they come back as days."""
    return {"date": value.isoformat()} if isinstance(value, dt.date) else value


def read_key(value: object) -> Any:  # noqa: ANN401  (a key is text, a number, a boolean, a day or nothing)
    """Read what `write_key` wrote."""
    match value:
        case {"date": str(text)}:
            return dt.date.fromisoformat(text)
        case None | bool() | int() | float() | str():
            return value
    raise _refused(value)


def _linear(record: object, known: Mapping[str, NoisyInteger]) -> LinearQuantity:
    given = fields("quantity", record, ("sum", "constant"))
    terms = []
    for each in _list(given["sum"]):
        weight, name = _list(each, 2)
        if name not in known:
            raise _refused(name)
        terms.append((_fraction(weight), known[name]))
    return LinearQuantity(tuple(terms), _fraction(given["constant"]))


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return {"infinite": 1 if value > 0 else -1}
    if isinstance(value, int) and not isinstance(value, bool):
        return {"integer": str(value)}  # readers of JSON elsewhere round large ones
    return value


def _read(value: object) -> Any:  # noqa: ANN401  (what was written decides)
    match value:
        case {"fraction": str(text)}:
            return _fraction(text)
        case {"infinite": int(sign)}:
            return sign * float("inf")
        case {"integer": str(text)}:
            return int(text)
        case None | bool() | float() | str():
            return value
    raise _refused(value)


def _text(bound: Fraction | None) -> str | None:
    return None if bound is None else str(bound)


def _bound(text: object) -> Fraction | None:
    return None if text is None else _fraction(text)


def _fraction(text: object) -> Fraction:
    try:
        return Fraction(cast(str, text))
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise _refused(text) from error


def _list(value: object, size: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (size is not None and len(value) != size):
        raise _refused(value)
    return value


def _refused(value: object) -> BadParameter:
    return BadParameter(
        "json", value, why="it is not part of an answer", fix="pass the text that to_json returned, unchanged"
    )
