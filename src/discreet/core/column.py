"""Columns: what one column may contain, declared in advance so that nothing need be learned from the data."""

from __future__ import annotations

import datetime as dt
import re
from contextlib import suppress
from fractions import Fraction
from typing import Any, Literal, get_args

from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.value import dataclass, fields, replace

Kind = Literal["number", "category", "text", "date", "flag"]
Key = str | int
Bounds = tuple[Fraction, Fraction] | tuple[dt.date, dt.date]

_EPOCH = dt.date(1970, 1, 1)
_RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")
_UNCHANGED = "pass the text that to_json returned, unchanged"


@dataclass(frozen=True, slots=True)
class Column:
    """One column's declaration: its kind, the bounds and step of numbers, the keys of categories, nullability.

    Write it with `between`, `one_of`, `text`, `date` or `flag`. Bounds are multiples of the step. Nulls may occur
    unless the custodian says otherwise, as in SQL: `nullable=False` is a promise about the data.
    """

    name: str | None
    kind: Kind
    bounds: Bounds | None = None
    step: Fraction | None = None
    keys: tuple[Key, ...] | None = None
    nullable: bool = True

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise UnknownName("kind of column", str(self.kind), get_args(Kind))
        if self.name is not None:
            check_name("name", self.name)
        if not isinstance(self.nullable, bool):
            raise BadParameter("nullable", self.nullable, why="it is either True or False", fix="use True or False")
        _check_parts(self)
        match self.kind:
            case "number":
                _check_number(self.bounds, self.step)
            case "date":
                _check_dates(self.bounds)
            case "category":
                _check_keys(self.keys)

    @property
    def steps(self) -> tuple[int, int]:
        """The bounds counted in steps: multiples of `step`, days since 1970-01-01, or 0 and 1 for a flag."""
        if self.kind == "flag":
            return 0, 1
        match self.bounds:
            case (dt.date() as first, dt.date() as last):
                return (first - _EPOCH).days, (last - _EPOCH).days
            case (Fraction() as low, Fraction() as high):
                assert self.step is not None
                return _times(low, self.step), _times(high, self.step)
        raise Refusal(
            f"steps of the {self.kind} column {self.name or ''}".rstrip(),
            why="only numbers, dates and flags have bounds",
            fix="declare the column with between, date or flag",
            value=self.name,
        )

    def named(self, name: str) -> Column:
        """Return the same declaration under a name."""
        return replace(self, name=name)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values; numbers are text such as "1/10", so they stay exact."""
        return {
            "name": self.name,
            "kind": self.kind,
            "bounds": None if self.bounds is None else [str(bound) for bound in self.bounds],
            "step": None if self.step is None else str(self.step),
            "keys": None if self.keys is None else list(self.keys),
            "nullable": self.nullable,
        }

    @classmethod
    def from_record(cls, record: object) -> Column:
        """Read what `record` returned, checking it again."""
        found = dict(records.fields("column", record, (field.name for field in fields(cls))))
        parse = _parse_date if found["kind"] == "date" else _parse_number
        if found["bounds"] is not None:
            found["bounds"] = tuple(parse("bounds", bound) for bound in _items("bounds", found["bounds"]))
        if found["step"] is not None:
            found["step"] = _parse_number("step", found["step"])
        if found["keys"] is not None:
            found["keys"] = tuple(_items("keys", found["keys"]))
        return cls(**found)

    def to_json(self) -> str:
        """Write the column as versioned JSON."""
        return records.write("column", self.record())

    @classmethod
    def from_json(cls, text: str) -> Column:
        """Read what `to_json` wrote."""
        return cls.from_record(records.read("column", text))


def check_name(parameter: str, name: object) -> None:
    """Refuse a name that no engine could store or no reader could see."""
    if not isinstance(name, str) or not name.strip() or not _storable(name):
        why = "a name is printable text"
        raise BadParameter(parameter, name, why=why, fix="use a short word such as 'age'")


# Which parts each kind of column is made of; everything else must be left out.
_PARTS: dict[Kind, frozenset[str]] = {
    "number": frozenset({"bounds", "step"}),
    "category": frozenset({"keys"}),
    "text": frozenset(),
    "date": frozenset({"bounds"}),
    "flag": frozenset(),
}
_MAKERS: dict[Kind, str] = {
    "number": "between(low, high, step=)",
    "category": "one_of(*keys)",
    "text": "text()",
    "date": "date(first, last)",
    "flag": "flag()",
}


def _check_parts(column: Column) -> None:
    for part in ("bounds", "step", "keys"):
        value, wanted = getattr(column, part), part in _PARTS[column.kind]
        if (value is None) == wanted:
            why = f"a {column.kind} column {'needs' if wanted else 'has no'} {part}"
            raise BadParameter(part, value, why=why, fix=f"write {_MAKERS[column.kind]}")


def _times(bound: Fraction, step: Fraction) -> int:
    """Return how many steps a bound is, which is a whole number; without a fraction, which takes ten times as long."""
    return bound.numerator * step.denominator // (bound.denominator * step.numerator)


def _check_number(bounds: object, step: object) -> None:
    if not isinstance(step, Fraction) or step <= 0:
        raise BadParameter("step", step, why="a step is a positive Fraction", fix="write between(low, high, step=)")
    match bounds:
        case (Fraction() as low, Fraction() as high) if low <= high:
            for bound in (low, high):
                if (bound / step).denominator != 1:
                    why, fix = (
                        f"it is not a multiple of the step {step}",
                        "write between(low, high, step=), which rounds inwards",
                    )
                    raise BadParameter("bounds", bound, why=why, fix=fix)
        case _:
            why, fix = "the bounds of a number are two Fractions, the lower first", "write between(low, high, step=)"
            raise BadParameter("bounds", bounds, why=why, fix=fix)


def _check_dates(bounds: object) -> None:
    match bounds:
        case (dt.date() as first, dt.date() as last) if (
            not isinstance(first, dt.datetime) and not isinstance(last, dt.datetime) and first <= last
        ):
            return
    why, fix = "the bounds of a date are two days, the earlier first", "write date(first, last)"
    raise BadParameter("bounds", bounds, why=why, fix=fix)


def _check_keys(keys: object) -> None:
    if not isinstance(keys, tuple) or not keys:
        why, fix = "a category needs at least one key", "list the keys that may appear: one_of('A', 'B')"
        raise BadParameter("keys", keys, why=why, fix=fix)
    for key in keys:
        if isinstance(key, bool) or not isinstance(key, str | int):
            fix = "use flag() for booleans, between() for numbers, one_of(*keys) to unpack a list"
            raise BadParameter("keys", key, why="a key is text or an integer", fix=fix)
        if isinstance(key, str) and not _storable(key):
            why, fix = "engines cannot store NUL or lone surrogates", "remove the characters from the key"
            raise BadParameter("keys", key, why=why, fix=fix)
        if type(key) is not type(keys[0]):
            why, fix = f"its type differs from that of {keys[0]!r}", "make all keys text, or all integers"
            raise BadParameter("keys", key, why=why, fix=fix)
    seen: set[str | int] = set()
    for key in keys:
        if key in seen:
            raise BadParameter("keys", key, why="it is listed twice", fix="list each key once")
        seen.add(key)


def _storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _items(name: str, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise BadParameter(name, value, why="it must be a list", fix=_UNCHANGED)
    return value


def _parse_number(name: str, text: object) -> Fraction:
    # Stricter than Fraction(text), which would spell out "1e999999999" digit by digit.
    if isinstance(text, str) and _RATIONAL.fullmatch(text):
        with suppress(ValueError, ZeroDivisionError):
            return Fraction(text)
    raise BadParameter(name, text, why="an exact number is text such as '3' or '1/10'", fix=_UNCHANGED)


def _parse_date(name: str, text: object) -> dt.date:
    try:
        return dt.date.fromisoformat(text)  # type: ignore[arg-type]  # what is not text lands in the refusal
    except (TypeError, ValueError) as error:
        raise BadParameter(name, text, why="a day is text such as '2024-02-29'", fix=_UNCHANGED) from error
