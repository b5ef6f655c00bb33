"""Nodes: the relations a question is made of, as a frozen tree: scans, filters, columns, joins, unions."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TypeAlias

from discreet.core.column import Column, check_name
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import as_written
from discreet.core.schema import Table, between, date, flag, one_of
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import MOST_ROWS, WIDE
from discreet.plan.constants import settled
from discreet.plan.expressions import Expression
from discreet.plan.match import (
    Comparison,
    check_comparison,
    check_match,
    check_most,
    chosen_columns,
    distinct,
    united,
)
from discreet.plan.per_person import OwnValue, own_columns
from discreet.plan.types import check_predicate, type_of

# What a value is once it was read: steps of a number, days of a date, a key, a text, a boolean, or null.
Datum = int | str | bool | None

_EPOCH = dt.date(1970, 1, 1)
# A public table travels inside the question, so it has to stay small.
MOST_PUBLIC_ROWS = 100_000
# Far more tables than a question has, and few enough for an engine to plan.
MOST_SCANS = 64


@dataclass(frozen=True, slots=True)
class Public:
    """A small public table that is part of the question; its values are kept as read: in steps, days, keys."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Datum, ...], ...]

    def __post_init__(self) -> None:
        check_name("name", self.name)
        if len(self.rows) > MOST_PUBLIC_ROWS:
            why = f"a public table inside a question has at most {MOST_PUBLIC_ROWS:,} rows"
            raise BadParameter("rows", len(self.rows), why=why, fix="join only the rows and columns that are needed")
        if not self.columns or any(len(row) != len(self.columns) for row in self.rows):
            why = "every row has one value for each column, of which there is at least one"
            raise BadParameter("rows", self.name, why=why, fix="give all columns the same number of values")
        for column, values in zip(self.columns, zip(*self.rows, strict=True), strict=bool(self.rows)):
            _check_held(column, values)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name or "" for column in self.columns)

    def fan_out(self, on: Iterable[str]) -> int:
        """Return the most rows that share their values of these columns: how many partners one row can find."""
        places = [self.names.index(name) for name in on]
        keys = (tuple(row[place] for place in places) for row in self.rows)
        return max(Counter(key for key in keys if None not in key).values(), default=0)

    def capped(self, on: Iterable[str], most: int) -> Public:
        """Return the same table with at most so many rows of each key: the first ones, as they were given."""
        check_most(most)
        places = [self.names.index(name) for name in on]
        seen: Counter[tuple[Datum, ...]] = Counter()
        kept = []
        for row in self.rows:
            key = tuple(row[place] for place in places)
            seen[key] += 1
            if seen[key] <= most:
                kept.append(row)
        return replace(self, rows=tuple(kept))

    def check_matched(self, on: Iterable[str]) -> None:
        """Refuse columns that it cannot be matched by; one inside the question can be by any."""

    def check_listed(self) -> None:
        """Refuse one whose rows are not here to be listed."""


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """All rows of a private table."""

    table: str


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """The rows for which a predicate is true."""

    source: Plan
    predicate: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Derive:
    """The same rows with one more column, computed from the others."""

    source: Plan
    name: str
    expression: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """The same rows with these columns alone, each a pair of its new name and the one it had."""

    source: Plan
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """Every row with each of its partners in a public table; `on` pairs our columns with the public ones."""

    source: Plan
    public: Public
    on: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """The rows of both, one after the other."""

    one: Plan
    other: Plan

    def __post_init__(self) -> None:
        _check_scans(self)


@dataclass(frozen=True, slots=True, eq=False)
class PersonJoin:
    """Every row of one with each row of the other that belongs to the same person, and has equal values of `on`.

    `on` pairs columns of one with columns of the other. `columns` are those taken over from the other, each a pair of
    its new name and the one it has there. Of a row's partners at most `most` are kept, by the secret order; where it is
    None, as many as the other's unit bounds a person to. People called null meet nobody. `outer` keeps rows of one
    without a partner, once, with nulls in the place of the other's columns.

    Guarantee: whatever a person's joined rows are made of is that person's own, on both sides.
    """

    one: Plan
    other: Plan
    on: tuple[tuple[str, str], ...] = ()
    most: int | None = None
    columns: tuple[tuple[str, str], ...] = ()
    outer: bool = False

    def __post_init__(self) -> None:
        _check_scans(self)


@dataclass(frozen=True, slots=True, eq=False)
class MarkJoin:
    """The same rows with a flag more: whether a row of the other belongs to the same person and matches, as in EXISTS.

    It matches where values of `on` are equal, pairs of columns of one and of the other, and where `compare` holds, if
    there is one: a column of one, <, <=, >, >= or !=, and a column of the other. People called null match nobody.

    Guarantee: a row's flag is made of that person's own rows. Proof: let D' be D without the rows of person p. Of any
    other person the rows of both sides are the same in D and D', and so are their flags; and no row is repeated, for
    its flag is one value. So D and D' differ by p's own rows of `one` alone, as many as without the flag.
    """

    one: Plan
    other: Plan
    on: tuple[tuple[str, str], ...]
    compare: Comparison | None
    name: str

    def __post_init__(self) -> None:
        _check_scans(self)


@dataclass(frozen=True, slots=True, eq=False)
class PerPerson:
    """One row for each person who has rows: aggregates over all of their rows.

    `rows` is how many rows a person is supposed to have at most: counts, and sums without bounds of their own, are
    clamped to what so many rows could add up to.

    Guarantee: a person has one row here, which no one else's rows change; rows without an identifier make none.
    """

    source: Plan
    values: tuple[OwnValue, ...]
    rows: int

    def __post_init__(self) -> None:
        if not self.values:
            fix = "write per_person(total=dp.sum('cost'), n=dp.count())"
            raise BadParameter("per_person", (), why="nothing is asked about each person", fix=fix)
        if type(self.rows) is not int or not 1 <= self.rows < MOST_ROWS:
            why = "a person's rows are bounded by a positive integer"
            raise BadParameter("rows", self.rows, why=why, fix="use the number that the table was registered with")


Plan: TypeAlias = Scan | Filter | Derive | Project | Join | Union | PersonJoin | MarkJoin | PerPerson


def public(name: str, data: Mapping[str, Sequence[object]]) -> Public:
    """Make a public table from columns of Python values; what they may be is read off them, for they are public."""
    if not data:
        raise BadParameter("data", data, why="there is no column", fix="write public('wards', {'ward': ['A', 'B']})")
    columns = tuple(_declared(title, values).named(title) for title, values in data.items())
    # The keys of a category are its values, of which there may be many.
    read = [
        [value if column.kind == "category" else stored(column, value) for value in data[column.name or ""]]
        for column in columns
    ]
    if len({len(values) for values in read}) > 1:
        sizes = {title: len(values) for title, values in data.items()}
        raise BadParameter("data", sizes, why="its columns differ in length", fix="give each row all of its values")
    return Public(name, columns, tuple(zip(*read, strict=True)))


def stored(column: Column, value: object) -> Datum:
    """Return a public Python value as the column keeps it, refusing one that the column cannot hold exactly."""
    match column.kind, value:
        case _, None:
            return None
        case "flag", bool():
            return value
        case "date", dt.date() if not isinstance(value, dt.datetime):
            return (value - _EPOCH).days
        case "date", str():
            with suppress(ValueError):
                return (dt.date.fromisoformat(value) - _EPOCH).days
        case "text", str():
            settled(value)
            return value
        case "category", str() | int() if value in (column.keys or ()) and not isinstance(value, bool):
            return value
        case "number", _:
            steps = as_written("value", value) / (column.step or 1)
            # An engine would fail on a larger one, and only where there is a row to compare it with.
            if steps.denominator == 1 and abs(steps) < WIDE:
                return int(steps)
    why = f"a {column.kind} column cannot hold it"
    raise BadParameter(column.name or "value", value, why=why, fix="use a value on the column's grid, or of its keys")


def _check_held(column: Column, values: Iterable[Datum]) -> None:
    """Refuse values that a column was not declared to hold: noise is measured by what was declared."""
    low, high = column.steps if column.kind in ("number", "date") else (0, 0)
    keys = frozenset(column.keys or ())
    for value in values:
        match column.kind:
            case "number" | "date":
                right = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
            case "category":
                right = value in keys and not isinstance(value, bool)
            case "flag":
                right = isinstance(value, bool)
            case "text":
                right = isinstance(value, str) and settled(value) == value
        if value is not None and not right:
            why = f"it is not among the values that the {column.kind} column was declared to hold"
            raise BadParameter(
                column.name or "value", value, why=why, fix="write public(name, data), which declares it"
            )


def columns_of(plan: Plan, tables: Mapping[str, Table]) -> dict[str, Column]:
    """Return the columns a plan has, with bounds derived from the declarations; refuse a plan that makes no sense."""
    match plan:
        case Scan(table):
            if table not in tables:
                raise UnknownName("table", table, tables)
            return distinct([(column.name or "", column) for column in tables[table].columns])
        case Filter(source, predicate):
            columns = columns_of(source, tables)
            check_predicate(predicate, columns)
            return columns
        case Derive(source, name, expression):
            columns = columns_of(source, tables)
            check_name("name", name)
            return distinct([*columns.items(), (name, type_of(expression, columns).named(name))])
        case Project(source, chosen):
            return distinct(chosen_columns(chosen, columns_of(source, tables)))
        case Join(source, joined, on):
            columns = columns_of(source, tables)
            check_join(columns, joined, on)
            return distinct([*columns.items(), *((column.name or "", column) for column in added(joined, on))])
        case PerPerson(source):
            return distinct(own_columns(plan.values, plan.rows, columns_of(source, tables)))
        case Union(one, other):
            return united(columns_of(one, tables), columns_of(other, tables))
        case PersonJoin(one, other, on, most, chosen, outer):
            columns, theirs = columns_of(one, tables), columns_of(other, tables)
            check_match(columns, theirs, "the other table", on)
            check_most(most)
            taken = chosen_columns(chosen, theirs) if chosen else []
            nullable = [(name, replace(column, nullable=True) if outer else column) for name, column in taken]
            return distinct([*columns.items(), *nullable])
        case MarkJoin(one, other, on, compare, name):
            columns, theirs = columns_of(one, tables), columns_of(other, tables)
            check_name("name", name)
            check_match(columns, theirs, "the other table", on)
            if compare is not None:
                check_comparison(columns, theirs, compare)
            return distinct([*columns.items(), (name, flag(nullable=False).named(name))])


def tables_of(plan: Plan) -> tuple[str, ...]:
    """Return the names of the private tables under a plan, each once, in alphabetical order."""
    match plan:
        case Scan(table):
            return (table,)
        case Union(one, other) | PersonJoin(one, other) | MarkJoin(one, other):
            return tuple(sorted({*tables_of(one), *tables_of(other)}))
        case Filter(source) | Derive(source) | Project(source) | Join(source) | PerPerson(source):
            return tables_of(source)


def scans(plan: Plan) -> int:
    """Return how many times a plan reads a table."""
    match plan:
        case Scan():
            return 1
        case Union(one, other) | PersonJoin(one, other) | MarkJoin(one, other):
            return scans(one) + scans(other)
        case Filter(source) | Derive(source) | Project(source) | Join(source) | PerPerson(source):
            return scans(source)


def _check_scans(plan: Plan) -> None:
    """Refuse a plan that reads more tables than make sense: doubled a few dozen times, it would fill any machine."""
    if (read := scans(plan)) > MOST_SCANS:
        why = f"a question reads at most {MOST_SCANS} tables, counting one that is read twice as two"
        raise BadParameter("tables", read, why=why, fix="ask in several questions")


def added(joined: Public, on: tuple[tuple[str, str], ...]) -> tuple[Column, ...]:
    """Return the columns a join adds: the public ones that it does not match by."""
    matched = {theirs for _, theirs in on}
    return tuple(column for column in joined.columns if column.name not in matched)


def check_join(columns: Mapping[str, Column], joined: Public, on: tuple[tuple[str, str], ...]) -> None:
    """Refuse a join by columns that are not there or can never be equal."""
    if not on:
        raise BadParameter("on", on, why="rows are joined by equal values", fix="name a column that both have")
    twice = [name for name, many in Counter(theirs for _, theirs in on).items() if many > 1]
    if twice:
        why = "a column of a public table is matched by one of ours"
        raise BadParameter("on", twice[0], why=why, fix="compare our columns with each other in a condition")
    check_match(columns, {column.name or "": column for column in joined.columns}, joined.name, on)
    joined.check_matched(theirs for _, theirs in on)


def _declared(name: str, values: Sequence[object]) -> Column:
    """Return the narrowest column that holds public values."""
    found = [value for value in values if value is not None]
    if not found:
        raise BadParameter(name, list(values), why="it has no value", fix="leave the column out")
    if all(isinstance(value, bool) for value in found):
        return flag()
    if all(isinstance(value, str) for value in found):
        return one_of(*dict.fromkeys(str(value) for value in found))
    if all(isinstance(value, dt.date) and not isinstance(value, dt.datetime) for value in found):
        days = [value for value in found if isinstance(value, dt.date)]
        return date(min(days), max(days))
    numbers = [as_written(name, value) for value in found]
    below = math.lcm(*(number.denominator for number in numbers))
    above = math.gcd(*(int(number * below) for number in numbers)) or 1
    return between(min(numbers), max(numbers), step=Fraction(above, below))
