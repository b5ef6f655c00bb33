"""Keys of groups, and what is tallied for each of them."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any, Literal, get_args

from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.schema import Table
from discreet.core.value import dataclass, replace
from discreet.engines.dialect import WIDE
from discreet.plan.expressions import Expression
from discreet.plan.key_range import passing, possible
from discreet.plan.nodes import Datum, Plan, Public, stored
from discreet.plan.types import type_of


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """The rows that are grouped: their plan and the declarations of its tables.

    Comparisons with `unsaid` numbers narrow no keys: which there are is not to depend on a noisy number.
    """

    plan: Plan
    tables: Mapping[str, Table]
    unsaid: frozenset[Fraction] = frozenset()


# More groups than this are no table that anyone reads; noise would drown them too.
MOST_KEYS = 1_000_000
# So many selected keys have to fit at least: twelve columns whose keys nobody declared.
LEAST_ROOM = 1000

_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Key:
    """One column of the keys: which column of the plan it is, and the values it takes (None: to be selected).

    With `edges`, rising, the value is the number of the bin instead: how many edges are at most the column's value.
    """

    name: str
    of: Column
    values: tuple[Datum, ...] | None
    edges: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.edges is not None and list(self.edges) != sorted(set(self.edges)):
            raise BadParameter("edges", self.edges, why="bins need rising edges", fix="sort them, each once")
        if self.values is not None and (not self.values or len(set(self.values)) < len(self.values)):
            raise BadParameter(self.name, self.values, why="keys are distinct, at least one", fix="list each key once")
        if self.values is not None and None in self.values:
            raise BadParameter(self.name, None, why="null is not a key", fix="use fill_null to give it a name")

    def shown(self, value: Datum) -> object:
        """Return a key as a person would write it: a number, a date, a text, a boolean."""
        if self.edges is not None:
            return value
        return shown(self.of, value)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        values = None if self.values is None else list(self.values)
        edges = None if self.edges is None else list(self.edges)
        return {"name": self.name, "of": self.of.name, "values": values, "edges": edges}


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a question: the product of its columns' values, or a part of it that is listed in `only`.

    Rows whose key is null or not listed are in no group. Without columns there is one group, of all rows.
    """

    columns: tuple[Key, ...] = ()
    only: tuple[tuple[Datum, ...], ...] | None = None

    def __post_init__(self) -> None:
        twice = [name for number, name in enumerate(self.names) if name in self.names[:number]]
        if twice:
            raise BadParameter("keys", twice[0], why="it is named twice", fix="name each column once")
        if self.selected and self.room < LEAST_ROOM:
            why = "put together, the values of its columns may make more keys than 126 bits can encode"
            raise BadParameter("keys", self.names, why=why, fix="group by fewer columns, or declare the keys of some")
        if not self.selected and self.size > MOST_KEYS:
            why = f"there are {self.size:,} keys, and at most {MOST_KEYS:,} fit an answer"
            raise BadParameter("keys", self.names, why=why, fix="group by fewer columns, or list the keys that matter")
        if self.only is not None and prod(len(key.values or ()) for key in self.columns) >= WIDE:
            why = "put together, the values of its columns make more keys than 126 bits can encode"
            raise BadParameter("keys", self.names, why=why, fix="group by fewer columns, or list fewer keys")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the key columns, in order."""
        return tuple(key.name for key in self.columns)

    @property
    def selected(self) -> bool:
        """Whether some keys were not declared, so they have to be selected privately."""
        return self.only is None and any(key.values is None for key in self.columns)

    @property
    def size(self) -> int:
        """How many groups there are."""
        return prod(len(key.values or ()) for key in self.columns) if self.only is None else len(self.only)

    @property
    def room(self) -> int:
        """How many selected keys fit an answer, whatever they are: 126 bits tell their combinations apart."""
        known = prod(len(key.values) for key in self.columns if key.values is not None)
        free = sum(key.values is None for key in self.columns)
        low, high = 0, MOST_KEYS
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if known * middle**free < WIDE else (low, middle - 1)
        return low

    def listed(self) -> tuple[tuple[Datum, ...], ...]:
        """Return the keys in the order of the answer; a group is known by its place here."""
        if self.only is not None:
            return self.only
        if self.selected:
            names = ", ".join(key.name for key in self.columns if key.values is None)
            why = f"the keys of {names} were not declared"
            raise BadParameter("keys", self.names, why=why, fix="select them privately first, or declare them")
        return tuple(itertools.product(*(key.values or () for key in self.columns)))

    def chosen(self, rows: Iterable[tuple[Datum, ...]]) -> Keys:
        """Return the same columns with these keys alone, as when they were selected."""
        listed = tuple(rows)
        columns = tuple(
            replace(key, values=tuple(dict.fromkeys(row[place] for row in listed)) or key.values)
            for place, key in enumerate(self.columns)
        )
        return Keys(columns, listed)

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        only = None if self.only is None else [list(row) for row in self.only]
        return {"columns": [key.record() for key in self.columns], "only": only}


NO_KEYS = Keys()


def keys_of(
    names: Sequence[str],
    columns: Mapping[str, Column],
    keys: Mapping[str, Sequence[object]] | Public | None = None,
    rows: KeyedRows | None = None,
) -> Keys:
    """Return the keys of these columns: those given, else those declared; text without any is left to selection.

    Of declared keys those are left that the conditions of the plan of `rows` let through. Texts that a condition lists
    are keys too.

    Guarantee: a key that is left out is that of no row, by reasoning on the plan and the declarations alone.
    """
    for name in names:
        if name not in columns:
            raise UnknownName("column", name, columns)
    if isinstance(keys, Public):
        return _of_public(names, columns, keys)
    given = dict(keys or {})
    for name in given:
        if name not in names:
            raise UnknownName("key column", name, names)
    made = []
    for name in names:
        column = columns[name]
        values: tuple[Datum, ...] | None
        if name in given:
            values = tuple(stored(column, value) for value in _listed(name, given[name]))
        else:
            values = declared(column) if rows is None else _narrowed(name, column, rows)
        made.append(Key(name, column.named(name), values))
    return Keys(tuple(made))


def _narrowed(name: str, column: Column, rows: KeyedRows) -> tuple[Datum, ...] | None:
    """Return the declared keys of a column that are possible in the rows of a plan."""
    found = possible(rows.plan, name, column, rows.tables, rows.unsaid)
    if column.kind == "text" and isinstance(found, frozenset):
        values: tuple[Datum, ...] | None = tuple(sorted(map(str, found)))
    elif isinstance(found, tuple) and sum(last - first + 1 for first, last in found) <= MOST_KEYS:
        values = tuple(value for first, last in found for value in range(first, last + 1))
    else:
        values = declared(column)
        values = values if values is None else passing(values, found)
    if values == ():
        why = "the conditions let none of its keys through, so that every group would be empty"
        raise BadParameter("keys", name, why=why, fix="change the conditions, or leave the column out")
    return values


def bins(name: str, column: Column, edges: Sequence[int]) -> Key:
    """Return a key that numbers the bins between edges, in steps: 0 below the first, len(edges) from the last on."""
    _ = column.steps
    return Key(name, column, tuple(range(len(edges) + 1)), tuple(edges))


def declared(column: Column) -> tuple[Datum, ...] | None:
    """Return every value a column may take, in order; None for text, whose values nobody declared."""
    match column.kind:
        case "text":
            return None
        case "category":
            return column.keys
        case "flag":
            return (False, True)
    low, high = column.steps
    if high - low >= MOST_KEYS:
        why = f"it may take {high - low + 1:,} values"
        fix = "group by a coarser column, such as round(10) of it, a year or a month, or give keys="
        raise BadParameter("keys", column.name, why=why, fix=fix)
    return tuple(range(low, high + 1))


def shown(column: Column, value: Datum) -> object:
    """Return a value as a person would write it: a number, a date, a text, a boolean."""
    if column.kind == "date" and isinstance(value, int):
        return _EPOCH + dt.timedelta(value)
    if column.kind == "number" and isinstance(value, int):
        if column.step is None or column.step == 1:
            return value
        number = value * column.step
        return number.numerator if number.denominator == 1 else float(number)
    return value


def _of_public(names: Sequence[str], columns: Mapping[str, Column], public: Public) -> Keys:
    """Return the keys that a public table lists, in its order, each once."""
    for name in names:
        if name not in public.names:
            raise UnknownName(f"column of {public.name}", name, public.names)
    public.check_listed()
    places = [public.names.index(name) for name in names]
    plain = {place: [exactly(public.columns[place], row[place]) for row in public.rows] for place in places}
    rows = []
    for number, row in enumerate(public.rows):
        if any(row[place] is None for place in places):
            raise BadParameter("keys", public.name, why="null is not a key", fix="leave rows with nulls out")
        read = [stored(columns[name], plain[place][number]) for name, place in zip(names, places, strict=True)]
        rows.append(tuple(read))
    if not rows:
        raise BadParameter("keys", public.name, why="it has no rows", fix="list at least one key")
    listed = tuple(dict.fromkeys(rows))
    made = [
        Key(name, columns[name].named(name), tuple(dict.fromkeys(row[place] for row in listed)))
        for place, name in enumerate(names)
    ]
    return Keys(tuple(made), listed)


def exactly(column: Column, value: Datum) -> object:
    """Return a value as a person would write it, except for a number that has no end as a decimal."""
    if column.kind != "number" or not isinstance(value, int):
        return shown(column, value)
    number = value * (column.step or Fraction(1))
    return number.numerator if number.denominator == 1 else number


def _listed(name: str, values: object) -> Sequence[object]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise BadParameter(name, values, why="keys are a list", fix="write keys={'city': ['Bern', 'Basel']}")
    return tuple(values)


Kind = Literal["rows", "people", "present", "sum", "product", "total"]

_EXPRESSIONS: dict[str, tuple[int, ...]] = {
    "rows": (0,),
    "people": (0,),
    "present": (1, 2),
    "sum": (1,),
    "product": (2,),
    "total": (1,),
}


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """One sum over the rows of a group, of a value v from 0 to `most`; rows where an expression is null add nothing.

    With u = x - low, in steps, w = high - low and y = 2u - w:

    - rows: v = 1;
    - people: each person counts 1 (each row, where rows are protected);
    - present: v = 1 where no expression is null;
    - sum: v = u;
    - product: v = y1 * y2 + w1 * w2, for two expressions or the same one twice;
    - total: not of rows: each person adds the sum of their x in the group, in steps, clamped to `within`.
    """

    kind: Kind
    of: tuple[Expression, ...] = ()
    within: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise UnknownName("kind of tally", str(self.kind), get_args(Kind))
        if (self.within is not None) != (self.kind == "total"):
            why = "people's totals are clamped, and nothing else is"
            raise BadParameter("within", self.within, why=why, fix="give a total its bounds in steps")
        if len(self.of) not in _EXPRESSIONS[self.kind]:
            why = f"it takes {' or '.join(map(str, _EXPRESSIONS[self.kind]))} expressions"
            raise BadParameter(self.kind, len(self.of), why=why, fix="pass as many")

    @property
    def signature(self) -> tuple[object, ...]:
        """What is equal for two tallies exactly where they are written alike, and can be looked up."""
        return self.kind, self.within, *(each.signature for each in self.of)

    def most(self, columns: Mapping[str, Column]) -> int:
        """Return the most that one row adds; of a total, one person, up or down."""
        if self.within is not None:
            return max(map(abs, self.within))
        widths = [width(each, columns) for each in self.of]
        match self.kind:
            case "sum":
                return widths[0]
            case "product":
                return 2 * widths[0] * widths[1]
        return 1


@dataclass(frozen=True, slots=True, eq=False)
class TallyQuery:
    """Which tallies are wanted for each group of a plan's rows.

    Where people are protected and rows are `weighed`, all tallies but "people" are in units of 2^-20 rows; otherwise
    whole rows are allotted to the groups of a person by the secret order.
    """

    source: Plan
    keys: Keys
    tallies: tuple[Tally, ...]
    weighed: bool = False

    def __post_init__(self) -> None:
        if not self.tallies:
            raise BadParameter("tallies", (), why="nothing is asked", fix="ask at least for Tally('rows')")


def width(expression: Expression, columns: Mapping[str, Column]) -> int:
    """Return how many steps lie between the bounds of an expression; 0 where only its presence can matter."""
    column = type_of(expression, columns)
    if column.kind in ("text", "category"):
        return 0
    low, high = column.steps
    return high - low
