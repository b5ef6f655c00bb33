"""Arithmetic on answers, cell by cell: what every operator and free operation of an answer does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeVar, cast

from discreet.account.losses.loss import PrivacyLoss
from discreet.answers import algebra
from discreet.answers.column import AnswerColumn, SampledRows, combined, shifted
from discreet.answers.quantity import FunctionQuantity, LinearQuantity, PublicValue, Quantity
from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written
from discreet.core.value import replace

Operation = Callable[[Quantity, Quantity], Quantity]
Rows = SampledRows | None
Table = TypeVar("Table", bound="AnswerArithmetic")


class AnswerArithmetic(ABC):
    """A table whose columns can be calculated with: by numbers, and by answers that have the same keys.

    Two answers are matched by key, and column by column where they have the same names; an answer of one column meets
    every column of the other, one without groups every row. Comparisons give booleans: `value` for the noisy
    values, `low` where it is certain, `high` where it is possible.
    """

    __slots__ = ()
    __array_ufunc__: ClassVar[None] = None  # so that a numpy number leaves the operation to the answer

    keys: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    columns: tuple[AnswerColumn, ...]
    loss: PrivacyLoss | None
    notes: tuple[str, ...]
    receipt: Mapping[str, Any] | None

    @abstractmethod
    def value(self, column: str | None = None) -> object:
        """Return the one value of an answer without groups."""

    def __add__(self, other: object) -> Self:
        return self._combined(other, "+", algebra.add)

    def __radd__(self, other: object) -> Self:
        return self._combined(other, "+", algebra.add, swapped=True)

    def __sub__(self, other: object) -> Self:
        return self._combined(other, "-", _subtract)

    def __rsub__(self, other: object) -> Self:
        return self._combined(other, "-", _subtract, swapped=True)

    def __mul__(self, other: object) -> Self:
        return self._combined(other, "*", algebra.multiply)

    def __rmul__(self, other: object) -> Self:
        return self._combined(other, "*", algebra.multiply, swapped=True)

    def __truediv__(self, other: object) -> Self:
        return self._combined(other, "/", algebra.divide)

    def __rtruediv__(self, other: object) -> Self:
        return self._combined(other, "/", algebra.divide, swapped=True)

    def __lt__(self, other: object) -> Self:
        return self._combined(other, "<", lambda a, b: algebra.compare(a, "<", b))

    def __le__(self, other: object) -> Self:
        return self._combined(other, "<=", lambda a, b: algebra.compare(a, "<=", b))

    def __gt__(self, other: object) -> Self:
        return self._combined(other, ">", lambda a, b: algebra.compare(a, ">", b))

    def __ge__(self, other: object) -> Self:
        return self._combined(other, ">=", lambda a, b: algebra.compare(a, ">=", b))

    def __neg__(self) -> Self:
        less = lambda rows: shifted(rows, "*", Fraction(-1), swapped=False)  # noqa: E731
        return self._mapped("-{}", lambda quantity: algebra.scale(quantity, Fraction(-1)), sampled=less)

    def __abs__(self) -> Self:
        return self._mapped("abs({})", algebra.absolute)

    def __round__(self, digits: int = 0) -> Self:
        return self._mapped("{} rounded", lambda quantity: algebra.rounded(quantity, digits), rename=False)

    def clip(self, low: Number | None = None, high: Number | None = None) -> Self:
        """Cut values and intervals to public bounds; a count is never below 0, so nothing true is lost there."""
        ends = [None if end is None else as_written(name, end) for name, end in (("low", low), ("high", high))]
        return self._mapped("{} clipped", lambda quantity: algebra.clip(quantity, ends[0], ends[1]), rename=False)

    def __bool__(self) -> bool:
        value = self.value() if len(self.rows) == 1 and len(self.columns) == 1 else None
        if not isinstance(value, bool):
            raise BadParameter(
                "answer",
                value,
                why="only a single comparison is true or false",
                fix="compare first, or use value(), cell(key) or len(answer)",
            )
        return value

    def total(self) -> Self:
        """Return the sum over all rows, without groups; the interval is that of the sum, not the sum of intervals."""
        columns = tuple(
            column.derived(
                (_total(column.quantities),),
                column.name,
                f"total of {column.words or column.name}",
                column.sampled,
            )
            for column in self.columns
        )
        return replace(self, keys=(), rows=((),), columns=columns)  # type: ignore[type-var]

    def named(self, name: str) -> Self:
        """Return an answer of one column under another name."""
        if len(self.columns) != 1:
            raise BadParameter(
                "name", name, why="there are several columns", fix="choose one first: answer['n'].named(...)"
            )
        return replace(self, columns=(replace(self.columns[0], name=name),))  # type: ignore[type-var]

    def join(self, other: Self) -> Self:
        """Return the columns of both answers side by side, matched by key."""
        order = self._matched(other)
        columns = tuple(
            replace(column, quantities=tuple(column.quantities[at] for at in order)) for column in other.columns
        )
        return _made(self, other, self.columns + columns)

    def _mapped(
        self,
        words: str,
        operation: Callable[[Quantity], Quantity],
        *,
        rename: bool = True,
        sampled: Callable[[Rows], Rows] = lambda rows: rows,
    ) -> Self:
        columns = []
        for column in self.columns:
            name = words.format(column.name) if rename and len(self.columns) == 1 else column.name
            quantities = tuple(map(operation, column.quantities))
            said = words.format(column.words or column.name)
            columns.append(column.derived(quantities, name, said, sampled(column.sampled)))
        return replace(self, columns=tuple(columns))  # type: ignore[type-var]

    def _combined(self, other: object, sign: str, operation: Operation, *, swapped: bool = False) -> Self:
        if not isinstance(other, AnswerArithmetic):
            number = _number(other)
            if number is None:
                return cast(Self, NotImplemented)
            constant = PublicValue(number)
            words = f"{other} {sign} {{}}" if swapped else f"{{}} {sign} {other}"
            rows = lambda each: shifted(each, sign, number, swapped=swapped)  # noqa: E731
            if swapped:
                return self._mapped(words, lambda quantity: operation(constant, quantity), sampled=rows)
            return self._mapped(words, lambda quantity: operation(quantity, constant), sampled=rows)
        columns = self._met(other, sign, operation)
        if not self.keys and other.keys:  # one row meets all of the other's
            return cast(Self, _made(other, self, columns))
        return _made(self, other, columns)

    def _met(self, other: AnswerArithmetic, sign: str, operation: Operation) -> tuple[AnswerColumn, ...]:
        places = self._places(other)
        return tuple(_met(one, two, places, sign, operation) for one, two in self._pairs(other))

    def _places(self, other: AnswerArithmetic) -> list[tuple[int, int]]:
        """Return which rows meet; an answer without groups meets every row of one that has them."""
        if not other.keys and len(other.rows) == 1:
            return [(at, 0) for at in range(len(self.rows))]
        if not self.keys and len(self.rows) == 1:
            return [(0, at) for at in range(len(other.rows))]
        return list(enumerate(self._matched(other)))

    def _matched(self, other: AnswerArithmetic) -> list[int]:
        """Return where each row of this answer is in the other one."""
        places = {row: at for at, row in enumerate(other.rows)}
        if self.keys != other.keys or set(self.rows) != set(places):
            raise BadParameter(
                "keys",
                other.keys,
                why=f"the answers have other keys or rows; this one has {', '.join(self.keys) or 'none'}",
                fix="group both in the same way, or take total() first",
            )
        return [places[row] for row in self.rows]

    def _pairs(self, other: AnswerArithmetic) -> list[tuple[AnswerColumn, AnswerColumn]]:
        ours, theirs = [column.name for column in self.columns], [column.name for column in other.columns]
        if len(theirs) == 1:
            return [(column, other.columns[0]) for column in self.columns]
        if len(ours) == 1:
            return [(self.columns[0], column) for column in other.columns]
        if ours != theirs:
            raise BadParameter(
                "columns", theirs, why=f"the columns here are {', '.join(ours)}", fix="choose one column of each"
            )
        return list(zip(self.columns, other.columns, strict=True))


def _made(table: Table, other: AnswerArithmetic, columns: tuple[AnswerColumn, ...]) -> Table:
    """Return a new table with the first one's rows; what two answers cost is not the price of what was made of them."""
    changes: dict[str, Any] = {"columns": columns, "notes": tuple(dict.fromkeys(table.notes + other.notes))}
    if table.receipt != other.receipt or table.loss != other.loss:
        changes |= {"loss": None, "asked": {}, "receipt": None, "remaining": ""}
    return replace(table, **changes)  # type: ignore[type-var]


def _met(
    one: AnswerColumn, two: AnswerColumn, places: list[tuple[int, int]], sign: str, operation: Operation
) -> AnswerColumn:
    quantities = tuple(operation(one.quantities[here], two.quantities[there]) for here, there in places)
    name = one.name if one.name == two.name else f"{one.name} {sign} {two.name}"
    rows = combined(one.sampled, sign, two.sampled)
    return one.derived(quantities, name, f"{one.words or one.name} {sign} {two.words or two.name}", rows)


def _total(quantities: tuple[Quantity, ...]) -> Quantity:
    parts = [algebra.as_linear(quantity) for quantity in quantities]
    known = [part for part in parts if part is not None]
    if len(known) == len(parts):  # at once: one by one, each sum would copy all terms before it
        terms = tuple(term for part in known for term in part.terms)
        return LinearQuantity(terms, sum((part.constant for part in known), Fraction(0)))
    # One sum of all: a sum of sums of sums is as deep as there are groups, and Python goes down a thousand calls.
    ones = (Fraction(1),) * len(quantities)
    return FunctionQuantity("sum", quantities, (*ones, Fraction(0))) if len(quantities) > 1 else quantities[0]


def _subtract(one: Quantity, other: Quantity) -> Quantity:
    return algebra.add(one, algebra.scale(other, Fraction(-1)))


def _number(value: object) -> Fraction | None:
    """Return a number as it is written; None for what is no number, so Python refuses the operation."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, Number):
        return None
    return as_written("number", value)
