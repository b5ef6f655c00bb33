"""Quantities: what a cell of an answer is computed from, so its error bar can follow it; and how they are written."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, cast

from discreet.core.errors import BadParameter
from discreet.core.record import fields
from discreet.core.value import dataclass

Law = Literal["laplace", "gaussian"]
Plain = bool | int | float


@dataclass(frozen=True, slots=True)
class NoisyInteger:
    """One noisy integer: an exact one, which stays secret, plus noise of a public law and scale.

    `id` names the draw and has to be unique among all answers that may ever meet in one calculation (a text from the
    receipt and a counter, for example): quantities that share an id share the noise, so `a - a` is exactly 0.
    """

    id: str
    value: int
    law: Law
    scale: Fraction

    def __hash__(self) -> int:
        return hash(self.id)  # far faster than with the scale, and as good

    def __post_init__(self) -> None:
        if self.law not in ("laplace", "gaussian"):
            raise BadParameter(
                "law", self.law, why="integer noise follows one of two laws", fix="use 'laplace' or 'gaussian'"
            )
        if self.scale.numerator <= 0:  # integers are compared faster than fractions, and an answer may have many
            raise BadParameter(
                "scale", self.scale, why="noise needs a positive scale", fix="use the scale that was drawn"
            )


@dataclass(frozen=True, slots=True)
class PublicValue:
    """A public value, without any noise: a key, a declared size, an empty cell (None)."""

    value: Plain | Fraction | str | None


@dataclass(frozen=True, slots=True)
class LinearQuantity:
    """A weighted sum of noisy integers and a constant; terms of one draw are added up, those of weight 0 dropped."""

    terms: tuple[tuple[Fraction, NoisyInteger], ...]
    constant: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        merged: dict[NoisyInteger, Fraction] = {}
        for coefficient, noisy in self.terms:
            merged[noisy] = merged[noisy] + coefficient if noisy in merged else coefficient
        object.__setattr__(self, "terms", tuple((weight, noisy) for noisy, weight in merged.items() if weight))
        if type(self.constant) is not Fraction:
            object.__setattr__(self, "constant", Fraction(self.constant))

    @classmethod
    def _merged(cls, terms: tuple[tuple[Fraction, NoisyInteger], ...], constant: Fraction) -> LinearQuantity:
        """Return a sum whose terms are of different draws and have weights, without looking at them again."""
        made = object.__new__(cls)
        object.__setattr__(made, "terms", terms)
        object.__setattr__(made, "constant", constant)
        return made

    def redrawn(self, draws: Mapping[str, NoisyInteger]) -> LinearQuantity:
        """Return the same sum of other noisy integers, by the names of these."""
        return self._merged(tuple((weight, draws[noisy.id]) for weight, noisy in self.terms), self.constant)

    @property
    def estimate(self) -> Fraction:
        """The sum at the noisy integers: exact, and unbiased."""
        sums: dict[int, int] = {}  # by denominator: integers are added much faster than fractions
        for weight, noisy in self.terms:
            sums[weight.denominator] = sums.get(weight.denominator, 0) + weight.numerator * noisy.value
        return self.constant + sum((Fraction(above, below) for below, above in sums.items()), Fraction(0))

    def plus(self, other: LinearQuantity) -> LinearQuantity:
        """Return the sum of both, in which what they share is counted once."""
        return LinearQuantity(self.terms + other.terms, self.constant + other.constant)

    def times(self, factor: Fraction | int) -> LinearQuantity:
        """Return so many times the sum."""
        return LinearQuantity(tuple((factor * weight, noisy) for weight, noisy in self.terms), factor * self.constant)


@dataclass(frozen=True, slots=True)
class RatioQuantity:
    """A quotient of two weighted sums, within declared bounds where there are any (as those of a mean).

    With both bounds declared `below` is a size: where the noise hides that anyone is there, any value is possible.
    """

    above: LinearQuantity
    below: LinearQuantity
    low: Fraction | None = None
    high: Fraction | None = None


@dataclass(frozen=True, slots=True)
class BracketedValue:
    """A value between two that were bought or derived with it: a quantile, a comparison; it has no noise law.

    `level` is the least probability with which the truth lies between `low` and `high`. There is no value where
    everything between declared bounds is possible, and there are no ends where none can be told.
    """

    value: Plain | None
    low: Plain | None
    high: Plain | None
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class FunctionQuantity:
    """A function of other quantities, by its name in `discreet.answers.functions`, within bounds if there are any."""

    name: str
    parts: tuple[Quantity, ...]
    parameters: tuple[Fraction, ...] = ()
    low: Fraction | None = None
    high: Fraction | None = None


Quantity = PublicValue | LinearQuantity | RatioQuantity | BracketedValue | FunctionQuantity


def linear(noisy: NoisyInteger, unit: Fraction | int = 1, constant: Fraction | int = 0) -> LinearQuantity:
    """Return one noisy integer, counted in steps of `unit`, from `constant` on."""
    return LinearQuantity(((Fraction(unit), noisy),), Fraction(constant))


def redrawn(quantity: Quantity, draws: Mapping[str, NoisyInteger]) -> Quantity:
    """Return the same function of other noisy integers, one for each of its own, by the names of its own."""
    match quantity:
        case LinearQuantity():
            return quantity.redrawn(draws)
        case RatioQuantity(above, below, low, high):
            return RatioQuantity(above.redrawn(draws), below.redrawn(draws), low, high)
        case FunctionQuantity(name, parts, parameters, low, high):
            return FunctionQuantity(name, tuple(redrawn(part, draws) for part in parts), parameters, low, high)
    return quantity


def is_whole(quantity: Quantity) -> bool:
    """Return whether a quantity is an integer by the way it is computed, whatever its value."""
    match quantity:
        case PublicValue(value):
            return isinstance(value, int) and not isinstance(value, bool)
        case BracketedValue(value, low, high):
            known = [each for each in (value, low, high) if each is not None]
            return bool(known) and all(isinstance(each, int) and not isinstance(each, bool) for each in known)
        case LinearQuantity(terms, constant):
            return constant.denominator == 1 and all(weight.denominator == 1 for weight, _ in terms)
        case FunctionQuantity(name, parts, parameters):
            if name == "round":
                return parameters[0] <= 0
            return (
                name in ("absolute", "clip", "product") and all(is_whole(part) for part in parts) and _whole(parameters)
            )
        case RatioQuantity():
            return False


def leaves(quantity: Quantity) -> Iterable[NoisyInteger | BracketedValue]:
    """Yield every noisy integer and every bracket that a quantity depends on, with repetitions."""
    match quantity:
        case LinearQuantity(terms):
            yield from (noisy for _, noisy in terms)
        case RatioQuantity(above, below):
            yield from leaves(above)
            yield from leaves(below)
        case BracketedValue():
            yield quantity
        case FunctionQuantity(_, parts):
            for part in parts:
                yield from leaves(part)


def within(value: float, low: Fraction | None, high: Fraction | None) -> float:
    """Return the nearest value within the bounds there are."""
    if low is not None:
        value = max(value, to_float(low))
    return value if high is None else min(value, to_float(high))


def to_float(value: Fraction | float) -> float:
    """Return the nearest float; what no float can hold becomes an infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _whole(parameters: tuple[Fraction, ...]) -> bool:
    return all(each.denominator == 1 for each in parameters)


Record = dict[str, Any]


def noises(quantities: Sequence[Quantity]) -> list[list[Any]]:
    """Write every noisy integer that the quantities use, once."""
    found = {leaf.id: leaf for each in quantities for leaf in leaves(each) if isinstance(leaf, NoisyInteger)}
    return [[name, str(noisy.value), noisy.law, str(noisy.scale)] for name, noisy in found.items()]


def read_noises(record: object) -> dict[str, NoisyInteger]:
    """Read what `noises` wrote, by name."""
    found = {}
    for each in _list(record):
        name, value, law, scale = _list(each, 4)
        found[str(name)] = NoisyInteger(str(name), int(value), cast(Law, law), _fraction(scale))
    return found


def write_quantity(quantity: Quantity) -> Record:
    """Write a quantity as plain JSON values."""
    match quantity:
        case PublicValue(value):
            return {"exact": _plain(value)}
        case LinearQuantity(terms, constant):
            return {"sum": [[str(weight), noisy.id] for weight, noisy in terms], "constant": str(constant)}
        case RatioQuantity(above, below, low, high):
            return {
                "above": write_quantity(above),
                "below": write_quantity(below),
                "low": _text(low),
                "high": _text(high),
            }
        case BracketedValue(value, low, high, level):
            return {"value": _plain(value), "from": _plain(low), "to": _plain(high), "level": level}
        case FunctionQuantity(name, parts, parameters, low, high):
            return {
                "function": name,
                "of": [write_quantity(part) for part in parts],
                "with": [str(each) for each in parameters],
                "low": _text(low),
                "high": _text(high),
            }


def read_quantity(record: object, known: Mapping[str, NoisyInteger]) -> Quantity:
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
            inner = tuple(read_quantity(part, known) for part in _list(parts))
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
