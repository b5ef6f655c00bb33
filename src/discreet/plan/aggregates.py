"""Aggregates: what may be asked about the rows of a group, as values; mechanisms answer them elsewhere."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from discreet.core.column import Column, Key, Kind
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import Number, as_written
from discreet.core.value import dataclass, fields
from discreet.plan.expressions import Expression, Name
from discreet.plan.refusals import IllTyped
from discreet.plan.serial import canonical_text, decoded, encoded
from discreet.plan.types import type_of

Cut = Fraction | dt.date

# Every aggregate by its word: whoever declares the class has put it here.
AGGREGATES: dict[str, type[Aggregate]] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate:
    """Something asked about all rows of a group; two are equal when they are written alike.

    Its `word` is the name of its class. `sql` are the functions that mean it in SQL, by the keys of sqlglot or as they
    are written, and take its expressions in order; `alone` says that its answer is a table of its own.
    """

    word: ClassVar[str]
    sql: ClassVar[tuple[str, ...]] = ()
    alone: ClassVar[bool] = False
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number"})
    options: ClassVar[tuple[str, ...]] = ()  # fields that are written only where they are not None

    def __init_subclass__(cls) -> None:
        cls.word = re.sub("(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
        AGGREGATES[cls.word] = cls

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions over rows that it is about."""
        values = [getattr(self, field.name) for field in fields(self)]
        return tuple(value for value in values if isinstance(value, Expression))

    def record(self) -> dict[str, Any]:
        """Return the aggregate as plain JSON values, exact and canonical."""
        own = {field.name: encoded(getattr(self, field.name)) for field in fields(self)}
        return {"aggregate": self.word, **{name: own[name] for name in own if own[name] or name not in self.options}}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Aggregate) and canonical_text(self.record()) == canonical_text(other.record())

    def __hash__(self) -> int:
        return hash(canonical_text(self.record()))


@dataclass(frozen=True, slots=True, eq=False)
class Count(Aggregate):
    """How many rows there are; or in how many of them something is not null."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "category", "text", "date", "flag"})
    of: Expression | None = None


@dataclass(frozen=True, slots=True, eq=False)
class People(Aggregate):
    """How many different people have rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Aggregate):
    """The sum of the values that are not null; with `per_person`, of people's totals, each clamped to these bounds."""

    sql: ClassVar[tuple[str, ...]] = ("sum",)
    options: ClassVar[tuple[str, ...]] = ("per_person",)
    of: Expression
    per_person: tuple[Fraction, Fraction] | None = None

    def __post_init__(self) -> None:
        match self.per_person:
            case None:
                return
            case Fraction() as low, Fraction() as high if low < high:
                return
        why = "a person's total is clamped to two numbers, the smaller first"
        raise BadParameter("per_person", str(self.per_person), why=why, fix="use per_person=(0, 20_000)")


@dataclass(frozen=True, slots=True, eq=False)
class Mean(Aggregate):
    """The mean of the values that are not null."""

    sql: ClassVar[tuple[str, ...]] = ("avg",)
    of: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Variance(Aggregate):
    """The variance of the values that are not null."""

    sql: ClassVar[tuple[str, ...]] = ("variance", "variancepop")
    of: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Std(Aggregate):
    """The standard deviation of the values that are not null."""

    sql: ClassVar[tuple[str, ...]] = ("stddev", "stddevpop")
    of: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Quantile(Aggregate):
    """Values below which a share q of the others lies, rising; `single` if one was asked for by itself.

    Without an `interval` all of the price buys the values themselves.
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date"})
    of: Expression
    q: tuple[Fraction, ...]
    single: bool = True
    interval: bool = True

    options: ClassVar[tuple[str, ...]] = ("interval",)

    def record(self) -> dict[str, Any]:
        """Return the aggregate as plain JSON values: an interval that is wanted goes without saying."""
        found = {name: value for name, value in Aggregate.record(self).items() if name != "interval"}
        return found if self.interval else {**found, "interval": self.interval}

    def __post_init__(self) -> None:
        inside = all(isinstance(each, Fraction) and 0 < each < 1 for each in self.q)
        if not self.q or not inside or any(one >= two for one, two in pairwise(self.q)):
            why = "quantiles lie between 0 and 1 and are listed once each, rising"
            raise BadParameter("q", [str(each) for each in self.q], why=why, fix="use quantile(x, 0.25, 0.75)")
        if not isinstance(self.single, bool) or (self.single and len(self.q) != 1):
            raise BadParameter("single", self.single, why="several quantiles are not one", fix="use single=False")
        if not isinstance(self.interval, bool):
            why = "it says whether a part of the price buys intervals"
            raise BadParameter("interval", self.interval, why=why, fix="use True or False")


@dataclass(frozen=True, slots=True, eq=False)
class Min(Aggregate):
    """The smallest value that is not null, as near as privacy allows."""

    sql: ClassVar[tuple[str, ...]] = ("min",)
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date"})
    of: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Max(Aggregate):
    """The largest value that is not null, as near as privacy allows."""

    sql: ClassVar[tuple[str, ...]] = ("max",)
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date"})
    of: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Histogram(Aggregate):
    """How many values lie in each bin [edge, next edge), the last one closed; or how often each key occurs."""

    alone: ClassVar[bool] = True
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date", "category", "text", "flag"})
    of: Expression
    edges: tuple[Cut, ...] | None = None
    keys: tuple[Key, ...] | None = None

    def __post_init__(self) -> None:
        if self.edges is not None and self.keys is not None:
            raise BadParameter("keys", self.keys, why="bins have edges or keys, not both", fix="leave one of them out")
        if self.edges is not None:
            _check_rising("edges", self.edges, least=2)
        if self.keys is not None:
            Column(None, "category", keys=self.keys)


@dataclass(frozen=True, slots=True, eq=False)
class Cdf(Aggregate):
    """How many values lie at or below each threshold, and how many there are."""

    alone: ClassVar[bool] = True
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number", "date"})
    of: Expression
    thresholds: tuple[Cut, ...]

    def __post_init__(self) -> None:
        _check_rising("thresholds", self.thresholds, least=1)


@dataclass(frozen=True, slots=True, eq=False)
class Covariance(Aggregate):
    """The covariance over rows in which neither value is null."""

    sql: ClassVar[tuple[str, ...]] = ("covarpop",)
    of: Expression
    other: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Correlation(Aggregate):
    """The correlation over rows in which neither value is null."""

    sql: ClassVar[tuple[str, ...]] = ("corr",)
    of: Expression
    other: Expression


@dataclass(frozen=True, slots=True, eq=False)
class TopK(Aggregate):
    """The k keys that occur most often."""

    alone: ClassVar[bool] = True
    kinds: ClassVar[frozenset[Kind]] = frozenset({"category", "flag"})
    of: Expression
    k: int

    def __post_init__(self) -> None:
        if not isinstance(self.k, int) or isinstance(self.k, bool) or self.k < 1:
            raise BadParameter("k", self.k, why="it says how many keys are wanted", fix="use a positive integer")


def aggregate_from_record(record: object) -> Aggregate:
    """Read what `Aggregate.record` returned, checking it again."""
    word = record.get("aggregate") if isinstance(record, dict) else None
    if not isinstance(record, dict) or not isinstance(word, str):
        raise BadParameter("aggregate", record, why="it must be an object that names an aggregate", fix=_UNCHANGED)
    if word not in AGGREGATES:
        raise UnknownName("aggregate", word, AGGREGATES)
    kind = AGGREGATES[word]
    names = [field.name for field in fields(kind) if field.name not in kind.options or field.name in record]
    what = f"{word} has the fields {', '.join(names)}"
    if set(record) != {"aggregate", *names}:
        raise BadParameter("aggregate", sorted(record), why=what, fix=_UNCHANGED)
    found = {name: decoded(name, record[name]) for name in names}
    for name in {"of", "other"} & set(names):
        if not isinstance(found[name], Expression) and (kind, found[name]) != (Count, None):
            raise BadParameter(name, found[name], why="it is not an expression", fix=_UNCHANGED)
    try:
        return kind(**found)
    except (TypeError, AttributeError):  # one field has another type than it is written with
        raise BadParameter("aggregate", word, why=f"{what}, and one of them is no such thing", fix=_UNCHANGED) from None


def check(aggregate: Aggregate, columns: Mapping[str, Column]) -> tuple[Column, ...]:
    """Return the types of what an aggregate is about, or refuse those for which it means nothing."""
    found = tuple(type_of(expression, columns) for expression in aggregate.expressions)
    for expression, column in zip(aggregate.expressions, found, strict=True):
        if column.kind not in aggregate.kinds:
            word = aggregate.word
            wanted = " or ".join(sorted(aggregate.kinds))
            fix = "convert it with as_number()" if column.kind == "flag" else f"use a {wanted} column"
            raise IllTyped(expression, why=f"it is a {column.kind}, and {word} takes a {wanted}", fix=fix)
    return found


_UNCHANGED = "pass the record that was written, unchanged"


def _check_rising(name: str, cuts: tuple[Cut, ...], least: int) -> None:
    kinds = {type(cut) for cut in cuts}
    alike = len(kinds) == 1 and kinds <= {Fraction, dt.date}
    if len(cuts) < least or not alike or any(one >= two for one, two in pairwise(cuts)):  # type: ignore[operator]
        why = f"there are at least {least} of one kind, each larger than the one before"
        raise BadParameter(name, [str(cut) for cut in cuts], why=why, fix="use (10, 20, 30), for example")


def as_column(value: Expression | str) -> Expression:
    """Return an expression as it is, and a text as the column of that name."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, str):
        return Name(value)
    raise BadParameter("column", value, why="it is neither a name nor an expression", fix="write 'age' or table.age")


def cut(name: str, value: Number | dt.date | str) -> Cut:
    """Return an edge or a threshold: a number exactly as written, or a day."""
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value)
        except ValueError as error:
            raise BadParameter(name, value, why="it is not a day", fix="write '2024-02-29'") from error
    return as_written(name, value)


def count(of: Expression | str | None = None) -> Count:
    """Count rows; given a column, only those in which it is not null."""
    return Count(None if of is None else as_column(of))


def people() -> People:
    """Count different people."""
    return People()


def sum(  # noqa: A001  (the word of the theory, of SQL and of the registry)
    of: Expression | str, *, per_person: tuple[Number, Number] | None = None
) -> Sum:
    """Add the values. `per_person=(0, 20_000)` clamps each person's total in a group instead of bounding their rows."""
    if per_person is None:
        return Sum(as_column(of))
    if not isinstance(per_person, tuple | list) or len(per_person) != 2:
        why, fix = "a person's total is clamped to two numbers", "use per_person=(0, 20_000)"
        raise BadParameter("per_person", per_person, why=why, fix=fix)
    low, high = (as_written("per_person", each) for each in per_person)
    return Sum(as_column(of), (low, high))


def mean(of: Expression | str) -> Mean:
    """Average the values."""
    return Mean(as_column(of))


def variance(of: Expression | str) -> Variance:
    """Return the mean squared distance from the mean."""
    return Variance(as_column(of))


def std(of: Expression | str) -> Std:
    """Return the root of the variance."""
    return Std(as_column(of))


def median(of: Expression | str, *, interval: bool = True) -> Quantile:
    """Return the value in the middle; without an interval all of the price buys the value itself."""
    return Quantile(as_column(of), (Fraction(1, 2),), interval=interval)


def quantile(of: Expression | str, *q: Number, interval: bool = True) -> Quantile:
    """Return the value below which a share q of the values lies; several shares at once are cheaper than apart.

    Without an interval all of the price buys the values themselves.
    """
    return Quantile(as_column(of), tuple(as_written("q", each) for each in q), single=len(q) == 1, interval=interval)


def min(of: Expression | str) -> Min:  # noqa: A001
    """Return the smallest value, as near as privacy allows."""
    return Min(as_column(of))


def max(of: Expression | str) -> Max:  # noqa: A001
    """Return the largest value, as near as privacy allows."""
    return Max(as_column(of))


def histogram(
    of: Expression | str, edges: Iterable[Number | dt.date | str] | None = None, keys: Iterable[Key] | None = None
) -> Histogram:
    """Count the values in bins between edges, or by key; without either, by the declared keys of the column."""
    found = None if edges is None else tuple(cut("edges", each) for each in edges)
    return Histogram(as_column(of), found, None if keys is None else tuple(keys))


def cdf(of: Expression | str, thresholds: Iterable[Number | dt.date | str]) -> Cdf:
    """Count the values at or below each threshold."""
    return Cdf(as_column(of), tuple(cut("thresholds", each) for each in thresholds))


def covariance(of: Expression | str, other: Expression | str) -> Covariance:
    """Return how two columns vary together."""
    return Covariance(as_column(of), as_column(other))


def correlation(of: Expression | str, other: Expression | str) -> Correlation:
    """Return the covariance over both standard deviations."""
    return Correlation(as_column(of), as_column(other))


def top_k(of: Expression | str, k: int) -> TopK:
    """Return the k most frequent keys."""
    return TopK(as_column(of), k)
