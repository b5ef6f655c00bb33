"""Per person: the relation that has one row for each person, made of aggregates over their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Literal, get_args

from discreet.core.column import Column, check_name
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.schema import between
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import MOST_ROWS, WIDE
from discreet.plan.expressions import Expression
from discreet.plan.refusals import IllTyped, too_wide
from discreet.plan.types import type_of

OwnWord = Literal["count", "sum", "mean", "min", "max"]

# The mean of a few rows lies between the steps of their values: it is rounded to this part of a step.
PART = 100


@dataclass(frozen=True, slots=True, eq=False)
class OwnValue:
    """One column of such a relation: an aggregate over the rows of a person, clamped to `within` where that is given.

    A count of nothing in particular counts rows.
    """

    name: str
    word: OwnWord
    of: Expression | None = None
    within: tuple[Fraction, Fraction] | None = None

    def __post_init__(self) -> None:
        check_name("name", self.name)
        if self.word not in get_args(OwnWord):
            raise UnknownName("aggregate within a person", str(self.word), get_args(OwnWord))
        if self.of is None and self.word != "count":
            raise BadParameter(self.word, None, why="it is about the values of a column", fix="name the column")
        match self.within:
            case None:
                return
            case Fraction() as low, Fraction() as high if low < high and self.word == "sum":
                return
        why, fix = "a person's sum is clamped to two numbers, the smaller first", "use per_person=(0, 20_000)"
        raise BadParameter("per_person", str(self.within), why=why, fix=fix)


def own_columns(values: Iterable[OwnValue], rows: int, columns: Mapping[str, Column]) -> list[tuple[str, Column]]:
    """Return the columns of a relation of people, with the bounds that follow, given those of the rows underneath.

    Guarantee: whatever a person's rows hold, each value lies within its column's bounds, or is null.
    """
    return [(value.name, own_column(value, columns, rows).named(value.name)) for value in values]


def own_column(value: OwnValue, columns: Mapping[str, Column], rows: int) -> Column:
    """Return what one value of a person may be, or refuse it."""
    if value.of is None:
        return between(0, rows, nullable=False)
    column = type_of(value.of, columns)
    if value.word == "count":
        return between(0, rows, nullable=False)
    if column.kind != "number" and (column.kind != "date" or value.word not in ("min", "max")):
        fix = "convert it with as_number()" if column.kind == "flag" else "count it, or derive a number from it"
        raise IllTyped(value.of, why=f"it is a {column.kind}, and {value.word} takes a number", fix=fix)
    low, high = column.steps
    if value.word in ("sum", "mean") and max(abs(low), abs(high), 1) * 4 * PART * MOST_ROWS >= WIDE:
        raise too_wide(value.of)
    match value.word:
        case "sum":
            least, most = _sum_bounds(value, column, rows)
            return replace(column, bounds=(least, most), nullable=True)
        case "mean":
            assert column.step is not None
            return replace(column, step=column.step / PART, nullable=True)
    return replace(column, nullable=True)


def _sum_bounds(value: OwnValue, column: Column, rows: int) -> tuple[Fraction, Fraction]:
    """Return what a sum is clamped to: what was given, in steps, or what so many rows could add up to."""
    step = column.step or Fraction(1)
    if value.within is not None:
        bounds = between(*value.within, step=step).bounds
        assert bounds is not None
        return Fraction(bounds[0]), Fraction(bounds[1])  # type: ignore[arg-type]
    low, high = column.steps
    # At least one value is there, so that a sum of positive ones is no less than the least of them.
    return step * (low if low > 0 else low * rows), step * (high if high < 0 else high * rows)


def own_words(value: OwnValue) -> str:
    """Write a value of a person for people to read: sum(cost) from 0 to 20,000."""
    called = f"{value.word}({'' if value.of is None else repr(value.of)})"
    if value.within is None:
        return called
    low, high = (f"{float(each):,.10g}" for each in value.within)
    return f"{called} from {low} to {high}"
