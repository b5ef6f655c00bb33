"""Typed expressions: what an expression's values may be, and the SQL that computes them, derived together."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fractions import Fraction

from discreet.core.column import Bounds, Column, Kind
from discreet.core.errors import show
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import Dialect
from discreet.plan.constants import Value
from discreet.plan.expressions import Expression
from discreet.plan.refusals import IllTyped
from discreet.plan.whole import Whole

EPOCH = dt.date(1970, 1, 1)

# A type and the SQL of its values: what every rule returns.
Made = tuple[Column, str]


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression with its type and its SQL; `literal` is the value of a constant."""

    expression: Expression
    column: Column
    sql: str
    dialect: Dialect
    literal: Value | None = None

    @property
    def kind(self) -> Kind:
        """Whether the values are numbers, days, booleans, keys or text."""
        return self.column.kind

    @property
    def nullable(self) -> bool:
        """Whether the type admits nulls. Rules derive it, and no SQL relies on it: it may rest on a promise."""
        return self.column.nullable

    @property
    def step(self) -> Fraction:
        """The step of a number; 0 for the constant 0, which lies on every grid."""
        assert self.column.step is not None
        return Fraction(0) if self.literal == 0 else self.column.step

    @property
    def whole(self) -> Whole:
        """A number in steps, or a date in days."""
        if self.literal is not None:
            return Whole.constant(self.column.steps[0], self.dialect)
        return Whole.of(self.sql, self.column.steps, self.dialect)

    @property
    def has_text(self) -> bool:
        """Whether the values are text, declared or free."""
        return self.kind == "text" or (self.column.keys is not None and isinstance(self.column.keys[0], str))


def constant(expression: Expression, value: Value, dialect: Dialect) -> Typed:
    """Type a constant: a number on a grid of its own magnitude, a text as a category of one key."""
    match value:
        case bool():
            column, sql = Column(None, "flag", nullable=False), dialect.literal(value)
        case Fraction():
            column = Column(None, "number", bounds=(value, value), step=abs(value) or Fraction(1), nullable=False)
            sql = dialect.literal(column.steps[0])
        case str():
            column, sql = Column(None, "category", keys=(value,), nullable=False), dialect.literal(value)
        case dt.date():
            column = Column(None, "date", bounds=(value, value), nullable=False)
            sql = dialect.literal(column.steps[0])
    return Typed(expression, column, sql, dialect, value)


def number(whole: Whole, step: Fraction, *, nullable: bool) -> Made:
    """Return a number that is so many steps."""
    bounds: Bounds = (whole.low * step, whole.high * step)
    return Column(None, "number", bounds=bounds, step=step, nullable=nullable), whole.stored


def days(whole: Whole, *, nullable: bool) -> Made:
    """Return a date that is so many days after 1970-01-01."""
    bounds: Bounds = (EPOCH + dt.timedelta(whole.low), EPOCH + dt.timedelta(whole.high))
    return Column(None, "date", bounds=bounds, nullable=nullable), whole.stored


def flag(sql: str, *, nullable: bool) -> Made:
    """Return a boolean."""
    return Column(None, "flag", nullable=nullable), sql


def common_step(values: Iterable[Typed]) -> Fraction:
    """Return the largest step of which all steps are multiples."""
    found = Fraction(0)
    for value in values:
        step = value.step
        above = math.gcd(found.numerator * step.denominator, step.numerator * found.denominator)
        found = Fraction(above, found.denominator * step.denominator)
    return found or Fraction(1)


def aligned(values: Sequence[Typed]) -> tuple[Fraction, list[Whole]]:
    """Count numbers in steps that they have in common."""
    step = common_step(values)
    return step, [value.whole.scaled(int(value.step / step)) if value.step else value.whole for value in values]


def require(value: Typed, kinds: Iterable[Kind], where: Expression, verb: str) -> None:
    """Refuse a value that is of none of these kinds."""
    wanted = tuple(kinds)
    if value.kind not in wanted:
        names = {"number": "numbers", "date": "dates", "flag": "flags", "category": "categories", "text": "text"}
        only = " and ".join(names[kind] for kind in wanted)
        why = f"{show(value.expression)} is a {value.kind}, and only {only} {verb}"
        raise IllTyped(where, why=why, fix=_conversion(value, wanted))


def in_common(values: Sequence[Typed]) -> list[Typed]:
    """Read constants as what stands beside them: text as a day beside dates, an integer as a key beside keys."""
    others = [value for value in values if value.literal is None]
    if any(value.kind == "date" for value in others):
        return [_as_date(value) for value in values]
    if any(value.kind == "category" and not value.has_text for value in others):
        return [_as_key(value) for value in values]
    return list(values)


def as_day(value: str, where: Expression) -> dt.date:
    """Read a text that stands for a day."""
    with suppress(ValueError):
        if len(value) == 10:
            return dt.date.fromisoformat(value)
    raise IllTyped(where, why=f"{value!r} is not a day", fix="write days as '2024-02-29' or as datetime.date")


def _as_date(value: Typed) -> Typed:
    if isinstance(value.literal, str):
        return constant(value.expression, as_day(value.literal, value.expression), value.dialect)
    return value


def _as_key(value: Typed) -> Typed:
    found = value.literal
    if isinstance(found, Fraction) and found.denominator == 1:
        column = Column(None, "category", keys=(int(found),), nullable=False)
        return replace(value, column=column, sql=value.dialect.literal(int(found)))
    return value


def _conversion(value: Typed, wanted: tuple[Kind, ...]) -> str:
    if "number" in wanted and (value.kind == "flag" or (value.kind == "category" and not value.has_text)):
        return "convert it with as_number()"
    if "number" in wanted and value.kind == "date":
        return "take year(), month(), day() or weekday(), or subtract another date"
    if wanted == ("flag",):
        return "compare it with something, for example == or >="
    return "use a column of the right kind, or when() to make one"
