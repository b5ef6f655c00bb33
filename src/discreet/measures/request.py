"""Requests: what a question asks of an engine, as values, and the kernels that cut what is found to shape.

One list of requests is run, written down or audited. Kernels take exact values in, and give exact values out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from discreet.core.doors import kernel
from discreet.core.exact import Exact
from discreet.core.unit import Unit
from discreet.core.value import dataclass
from discreet.plan.expressions import Expression
from discreet.plan.keys import Keys, TallyQuery
from discreet.plan.nodes import Datum, Plan
from discreet.plan.to_sql.cells import CellQuery, Counts

Integers = Any  # the exact integers of one group, as a statistic wants them


@kernel
def picked(rows: Sequence[Sequence[int]], places: Sequence[int]) -> list[tuple[int, ...]]:
    """Return some columns of a table of tallies, in this order."""
    return [tuple(row[place] for place in places) for row in rows]


@kernel
def from_tallies(rows: Sequence[Sequence[int]], exact: Callable[[Sequence[int]], Integers]) -> list[Integers]:
    """Return what a statistic takes, group by group."""
    return [exact(row) for row in rows]


@kernel
def by_group(rows: Sequence[Sequence[int]], groups: int, wanted: Sequence[int]) -> list[list[int]]:
    """Return the counts of the bins at some places, group by group, from one column that has all bins of all groups."""
    width = len(rows) // groups if groups else 0
    return [[rows[group * width + place][0] for place in wanted] for group in range(groups)]


@kernel
def end_to_end(groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the counts of all groups, one after the other."""
    return [count for counts in groups for count in counts]


@kernel
def of_group(groups: Sequence[Sequence[int]], place: int) -> Sequence[int]:
    """Return the counts of one group."""
    return groups[place]


@kernel
def in_cells(answers: Sequence[Mapping[int, int]], cuts: Sequence[Sequence[int]], single: bool) -> list[list[int]]:
    """Return how many values lie in the cells of all groups, one after the other, as those of one group.

    The last points of the cells of each group are `cuts`, from the lowest value on. Where points were counted one by
    one, there is an answer for each group; otherwise one for each cell.
    """
    if not single:
        return [[sum(each.values()) for each in answers]]
    found = []
    for answer, own in zip(answers, cuts, strict=True):
        counts = [0] * len(own)
        for point, many in answer.items():
            counts[bisect_left(own, point)] += many
        found += counts
    return [found]


Found = Any  # an exact value, or a function that counts, as the request knows


@dataclass(frozen=True, slots=True)
class MeasureScope:
    """Whose rows a measure is about: those of a plan, in the groups of its keys, bounded for a unit."""

    plan: Plan
    keys: Keys
    unit: Unit

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return self.keys.size


class ExactSource(Protocol):
    """An engine over the rows of a question: what a request is put to when it is run."""

    def in_order(self, question: TallyQuery, unit: Unit) -> Exact[list[tuple[int, ...]]]:
        """Return the tallies of every listed group, in the order of the keys."""

    def people_by_key(self, question: TallyQuery, unit: Unit) -> Exact[dict[tuple[Datum, ...], int]]:
        """Return how many people have each key that is not empty."""

    def rows_by_person(self, plan: Plan, most: int) -> Exact[dict[int, int]]:
        """Return how many people have each number of rows."""

    def counts(self, plan: Plan, keys: Keys, of: Expression, unit: Unit) -> AbstractContextManager[Counts]:
        """Give a function that counts an expression's values in cells, pass by pass."""


class StatementWriter(Protocol):
    """What a request is put to when it is only shown: the SQL of an engine, without any rows."""

    def tallies(self, title: str, question: TallyQuery, unit: Unit) -> list[str]:
        """Write the tallies of a question."""

    def rows_by_person(self, title: str, plan: Plan, most: int, unit: Unit) -> list[str]:
        """Write how many people have each number of rows."""

    def counts(self, name: str, scope: MeasureScope, of: Expression, first: Sequence[CellQuery]) -> list[str]:
        """Write the values of an expression, and the first look at them."""


class Request(ABC):
    """One thing that is asked of the engine."""

    __slots__ = ()

    @abstractmethod
    def found(self, engine: ExactSource) -> AbstractContextManager[Found]:
        """Give what the engine finds, as long as the block lasts."""

    @abstractmethod
    def written(self, writer: StatementWriter) -> list[str]:
        """Return the statements that would be run."""


@dataclass(frozen=True, slots=True)
class TallyRequest(Request):
    """Asks for the tallies of every listed group, from one scan."""

    title: str
    query: TallyQuery
    unit: Unit

    def found(self, engine: ExactSource) -> AbstractContextManager[Found]:
        """Give a row of tallies for every group, empty ones too, in the order of the keys."""
        return nullcontext(engine.in_order(self.query, self.unit))

    def written(self, writer: StatementWriter) -> list[str]:
        """Return one statement."""
        return writer.tallies(self.title, self.query, self.unit)


@dataclass(frozen=True, slots=True)
class KeyRequest(TallyRequest):
    """Asks how many people have each key, where keys are selected."""

    def found(self, engine: ExactSource) -> AbstractContextManager[Found]:
        """Give the number of people of every key that somebody has."""
        return nullcontext(engine.people_by_key(self.query, self.unit))


@dataclass(frozen=True, slots=True)
class RowsRequest(Request):
    """Asks how many people have each number of rows, numbers above `most` counting as `most`."""

    title: str
    plan: Plan
    most: int
    unit: Unit

    def found(self, engine: ExactSource) -> AbstractContextManager[Found]:
        """Give the number of people of every number of rows."""
        return nullcontext(engine.rows_by_person(self.plan, self.most))

    def written(self, writer: StatementWriter) -> list[str]:
        """Return one statement."""
        return writer.rows_by_person(self.title, self.plan, self.most, self.unit)


@dataclass(frozen=True, slots=True)
class CountsRequest(Request):
    """Asks for counts of an expression's values in cells, coarse ones first; `first` says which, for so many groups."""

    name: str
    scope: MeasureScope
    of: Expression
    first: Callable[[int], Sequence[CellQuery]]

    def found(self, engine: ExactSource) -> AbstractContextManager[Found]:
        """Give a function that answers requests for cells, each list of them in one pass."""
        return engine.counts(self.scope.plan, self.scope.keys, self.of, self.scope.unit)

    def written(self, writer: StatementWriter) -> list[str]:
        """Return two statements: the values that count, and the first pass over them."""
        return writer.counts(self.name, self.scope, self.of, self.first(self.scope.groups))
