"""Records: how values become versioned JSON, in which every number is exact, and how they come back, checked.

Whole numbers are JSON integers, fractions are texts such as "1/3", floats are JSON numbers in the shortest form that
reads back as the same float, infinity is "inf". The meaning of a record never changes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from discreet.core.errors import BadParameter

VERSION = 1


def write(kind: str, record: Mapping[str, Any]) -> str:
    """Write a record as one line of JSON that says its kind and the version of its format."""
    return json.dumps({"discreet": VERSION, kind: record}, ensure_ascii=False, allow_nan=False)


def read(kind: str, text: str) -> object:
    """Return the record of that kind which `write` wrote, refusing any other text."""
    try:
        envelope = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        why, fix = "it is not JSON", "pass the text that to_json returned, unchanged"
        raise BadParameter("json", text, why=why, fix=fix) from error
    envelope = fields("json", envelope, ("discreet", kind))
    version = envelope["discreet"]
    if type(version) is not int or version != VERSION:
        why, fix = f"this release reads format {VERSION}", "read it with the release that wrote it"
        raise BadParameter("discreet", version, why=why, fix=fix)
    return envelope[kind]


def fields(kind: str, record: object, names: Iterable[str]) -> dict[str, Any]:
    """Return the record if it has exactly the named fields; a field too few or too many is refused."""
    expected = set(names)
    if not isinstance(record, dict) or set(record) != expected:
        found = sorted(map(str, record)) if isinstance(record, dict) else type(record).__name__
        why = f"it must be an object with exactly the fields {', '.join(sorted(expected))}"
        raise BadParameter(kind, found, why=why, fix="pass the text that to_json returned, unchanged")
    return record


def encode(value: object, record: Callable[[Any], object]) -> object:
    """Return a field as a JSON value; values with fields of their own are written by `record`."""
    match value:
        case float() if math.isinf(value):
            return "inf"
        case None | bool() | int() | float() | str():
            return value
        case Fraction():
            return f"{value.numerator}/{value.denominator}"
        case tuple():
            return [encode(each, record) for each in value]
        case _:
            return record(value)


def decode(value: object, loss: Callable[[dict[str, Any]], object]) -> object:
    """Return what `encode` was given; records inside it are read by `loss`."""
    match value:
        case "inf":
            return math.inf
        case str():
            return _fraction(value)
        case list():
            return tuple(decode(each, loss) for each in value)
        case dict():
            return loss(value)
        case _:
            return value


def _fraction(text: str) -> Fraction:
    found = re.fullmatch(r"(-?\d{1,4000})/(\d{1,4000})", text)  # Python reads no whole number of many more digits
    if found is None or int(found[2]) == 0:
        raise BadParameter(
            "number", text, why="it is not a fraction", fix="pass the text that to_json returned, unchanged"
        )
    return Fraction(int(found[1]), int(found[2]))
