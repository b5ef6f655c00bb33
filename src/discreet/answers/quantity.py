"""Quantities: what a cell of an answer is computed from, so its error bar can follow it through arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from discreet.core.errors import BadParameter
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
        if self.scale <= 0:
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
        object.__setattr__(self, "constant", Fraction(self.constant))

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
