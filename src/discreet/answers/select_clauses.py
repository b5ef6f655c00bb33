"""Arranged: an answer as a SELECT wants it: totals, HAVING, formulas, ORDER BY and LIMIT, done to answers alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

from discreet.answers import algebra
from discreet.answers.answer import Answer, AnswerColumn
from discreet.answers.column import SampledRows, combined, shifted
from discreet.answers.point import point_of
from discreet.answers.quantity import (
    BracketedValue,
    FunctionQuantity,
    LinearQuantity,
    PublicValue,
    Quantity,
    RatioQuantity,
)
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass, replace
from discreet.plan.sql.formula import (
    Clipped,
    Computed,
    Constant,
    Formula,
    KeyOf,
    Measured,
    Ordering,
    RoundedFormula,
    Tested,
)

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
            return PublicValue(None) if point_of(found) == value else found
        case RoundedFormula(of, places):
            return algebra.rounded(made(of), places)
        case Clipped(of, low, high):
            return algebra.clip(made(of), low, high)
        case Tested("<" | "<=" | ">" | ">=" as order, (one, two)):
            return algebra.compare(made(one), order, made(two))
    why = "of an answer only numbers are computed, and compared by <, <=, > and >="
    raise BadParameter("formula", type(formula).__name__, why=why, fix="compute it from the answer")


_MOMENTS = ("covariance", "correlation", "root")


# What a group of too few people says: no value, and no ends of an interval.
_WITHHELD = BracketedValue(None, None, None)


def pooled(quantities: Sequence[Quantity]) -> Quantity:
    """Return what the groups have together; the interval is that of the sum, not the sum of intervals.

    A mean is a quotient of two sums, a variance a function of several: each of them is added up, and the quotient or
    the function is taken of the totals.
    """
    first = quantities[0]
    if len(quantities) == 1:
        return first
    withheld = next((each for each in quantities if each == _WITHHELD), None)
    if withheld is not None:  # a total of which a part is withheld would tell the others' sum as if it were all
        return withheld
    if isinstance(first, LinearQuantity):
        return _total([each for each in quantities if isinstance(each, LinearQuantity)])
    if isinstance(first, RatioQuantity):
        ratios = [each for each in quantities if isinstance(each, RatioQuantity)]
        above, below = _total([each.above for each in ratios]), _total([each.below for each in ratios])
        return RatioQuantity(above, below, first.low, first.high)
    if isinstance(first, FunctionQuantity) and first.name in _MOMENTS:
        parts = zip(*(each.parts for each in quantities if isinstance(each, FunctionQuantity)), strict=True)
        return FunctionQuantity(
            first.name, tuple(pooled(each) for each in parts), first.parameters, first.low, first.high
        )
    why = "the value of all groups does not follow from the values of each"
    raise BadParameter("total", type(first).__name__, why=why, fix="ask without groups")


def _total(sums: Sequence[LinearQuantity]) -> LinearQuantity:
    terms = tuple(term for each in sums for term in each.terms)
    return LinearQuantity(terms, sum((each.constant for each in sums), Fraction(0)))


_TOTALS = "totals are sums over the declared keys: rows whose key is missing are in none of them"

_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda one, two: bool(one == two),
    "!=": lambda one, two: bool(one != two),
    "<": lambda one, two: bool(one < two),
    "<=": lambda one, two: bool(one <= two),
    ">": lambda one, two: bool(one > two),
    ">=": lambda one, two: bool(one >= two),
}


class SelectClauses(Protocol):
    """What a SELECT does to an answer; `sets` are the keys that are kept in each of its grouping sets."""

    @property
    def titles(self) -> tuple[str, ...]:
        """The keys under the names the answer shows."""

    @property
    def columns(self) -> tuple[tuple[str, Formula], ...]:
        """The columns of the answer."""

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """The grouping sets of a ROLLUP or CUBE."""

    @property
    def having(self) -> Formula | None:
        """Which rows are shown."""

    @property
    def order(self) -> tuple[Ordering, ...]:
        """What rows are sorted by."""

    @property
    def limit(self) -> int | None:
        """How many rows are shown."""

    @property
    def offset(self) -> int:
        """How many rows are left out first."""


def arranged(answer: Answer, statement: SelectClauses) -> Answer:
    """Return the answer with its rows and columns as the statement names them; intervals stay what they are."""
    answer = _with_totals(answer, statement.sets) if statement.sets else answer
    table = _Table(answer)
    rows = [at for at in range(len(answer.rows)) if statement.having is None or table.truth(statement.having, at)]
    for item in reversed(statement.order):  # sorting is stable, so the last item is sorted by first
        rows = _sorted(table, rows, item)
    rows = rows[statement.offset :]
    rows = rows if statement.limit is None else rows[: statement.limit]
    columns = tuple(table.column(name, formula, rows) for name, formula in statement.columns)
    keys = statement.titles or answer.keys
    return replace(answer, keys=keys, rows=tuple(answer.rows[at] for at in rows), columns=columns)


def _sorted(table: _Table, rows: list[int], item: Ordering) -> list[int]:
    """Sort rows by one item: those without a value come last, keys that are null as SQL has it."""
    values = {at: table.value(item.by, at) for at in rows}
    known = sorted((at for at in rows if values[at] is not None), key=values.__getitem__, reverse=item.descending)
    nulls = [at for at in rows if values[at] is None]
    return nulls + known if item.nulls_first else known + nulls


@dataclass(frozen=True, slots=True)
class _Table:
    """An answer whose cells are looked up by formula and row."""

    answer: Answer

    def quantity(self, formula: Formula, at: int) -> Quantity:
        """Return what a formula makes of a row, with its interval."""
        return quantity_of(formula, lambda name: self.answer.column(name).quantities[at])

    def value(self, formula: Formula, at: int) -> Any:  # noqa: ANN401  (a key may be text, a number, a day)
        """Return a key, a constant, a boolean or the noisy value of a number; None where there is none."""
        match formula:
            case KeyOf(name):
                return self.answer.rows[at][self.answer.keys.index(name)]
            case Constant(value):
                return value
            case Tested():
                return self.truth(formula, at)
        return point_of(self.quantity(formula, at))

    def truth(self, formula: Formula, at: int) -> bool | None:
        """Return whether a condition holds for the noisy values, with SQL's three booleans."""
        if not isinstance(formula, Tested):
            found = self.value(formula, at)
            return found if isinstance(found, bool) else None
        if formula.test in ("and", "or"):
            truths = [self.truth(part, at) for part in formula.parts]
            decisive = formula.test == "or"
            return decisive if decisive in truths else None if None in truths else not decisive
        if formula.test == "not":
            truth = self.truth(formula.parts[0], at)
            return None if truth is None else not truth
        first, *others = (self.value(part, at) for part in formula.parts)
        if formula.test == "is_null":
            return first is None
        if first is None or None in others:
            return None
        if formula.test == "is_in":
            return first in others
        return _TESTS[formula.test](first, others[0])

    def column(self, name: str, formula: Formula, rows: Sequence[int]) -> AnswerColumn:
        """Return a column under its name; one that was measured keeps its mechanism and its price."""
        if isinstance(formula, Measured):
            found = self.answer.column(formula.name)
            return replace(found, name=name, quantities=tuple(found.quantities[at] for at in rows))
        quantities = tuple(self.quantity(formula, at) for at in rows)
        return AnswerColumn(name, quantities, words=name, sampled=self.sampled(formula))

    def sampled(self, formula: Formula) -> SampledRows | None:
        """Return what a row adds to what a formula computes."""
        match formula:
            case Measured(name):
                return self.answer.column(name).sampled
            case RoundedFormula(of) | Clipped(of) | Computed("absolute" | "root" | "null_if", (of, *_)):
                return self.sampled(of)
            case Computed("negative", (of,)):
                return shifted(self.sampled(of), "*", Fraction(-1), swapped=False)
            case Computed(sign, (one, Constant(Fraction() as number))):
                return shifted(self.sampled(one), sign, number, swapped=False)
            case Computed(sign, (Constant(Fraction() as number), one)):
                return shifted(self.sampled(one), sign, number, swapped=True)
            case Computed(sign, (one, other)):
                return combined(self.sampled(one), sign, self.sampled(other))
        return None


def _with_totals(answer: Answer, sets: tuple[tuple[str, ...], ...]) -> Answer:
    """Return the rows of every grouping set, the finest first; a key that is summed over is null."""
    rows: list[tuple[Any, ...]] = []
    groups: list[list[int]] = []
    for kept in sets:
        found: dict[tuple[Any, ...], list[int]] = {}
        for at, row in enumerate(answer.rows):
            key = tuple(value if name in kept else None for name, value in zip(answer.keys, row, strict=True))
            found.setdefault(key, []).append(at)
        rows += found
        groups += found.values()
    columns = tuple(
        replace(column, quantities=tuple(pooled([column.quantities[at] for at in group]) for group in groups))
        for column in answer.columns
    )
    return replace(answer, rows=tuple(rows), columns=columns, notes=(*answer.notes, _TOTALS))
