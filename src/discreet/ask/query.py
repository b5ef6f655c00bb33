"""Query: a question in the making: a table, what it is narrowed to, and what it is grouped by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.ask.question import (
    On,
    QueryBase,
    check_on,
    check_other,
    check_public,
    marking,
    meeting,
    name_of,
    no_person,
    no_table,
)
from discreet.ask.registered import TABLE_VERBS
from discreet.core.column import Column
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.value import dataclass, replace
from discreet.plan.expressions import Expression, Name, lift
from discreet.plan.keys import KeyedRows, declared, keys_of, shown
from discreet.plan.nodes import Derive, Filter, Join, MarkJoin, Plan, Project, Public, Union, columns_of, tables_of
from discreet.plan.types import type_of

if TYPE_CHECKING:
    from discreet.ask.partition import Partition
    from discreet.ask.report import Report
    from discreet.ask.request import Fresh
    from discreet.ask.synthesize import SynthesisPreview
    from discreet.core.rational import Number
    from discreet.publish.stages import Stage
    from discreet.publish.synthetic_data import SyntheticData


def part_keys(name: str, columns: Mapping[str, Column]) -> list[Any]:
    """Return the keys of a partition, as people write them; keys that were not declared are refused."""
    values = declared(columns[name])
    if values is None:
        why = "its keys were not declared, and which there are may depend on one row"
        raise BadParameter("partition", name, why=why, fix="partition by a column made with one_of")
    return [shown(columns[name], value) for value in values]


class UnknownColumn(UnknownName, AttributeError):
    """A column that a table does not have, asked for as an attribute or by its name."""


class NothingAsked(Refusal, AttributeError):
    """A question that is to be previewed or released, and asks for nothing yet."""

    def __init__(self, verb: str) -> None:
        why, fix = "nothing is asked yet", f"ask for aggregates first: .agg(n=dp.count()).{verb}(...)"
        super().__init__(f"{verb} of a table", why=why, fix=fix, value=verb)


def _kept(columns: Iterable[str]) -> Iterable[str]:
    """Return names that can be gone through again; a text stays one, to be refused as such."""
    return columns if isinstance(columns, str) else [*columns]


class VerbNotColumn(Refusal, AttributeError):
    """A column that is named like a verb, asked for as an attribute, which is the verb's."""

    def __init__(self, name: str) -> None:
        why, fix = "verbs win over columns of their names", f'write table["{name}"] for the column'
        super().__init__(f"table.{name}", why=why, fix=fix, value=name)


_OF_REPORTS = frozenset({"release", "preview", "for_error"})


@dataclass(frozen=True, slots=True)
class Query(QueryBase):
    """A table as an analyst sees it: columns to speak of, and verbs that return another such table.

    `visits.age` and `visits["age"]` are the column; `where`, `derive`, `select`, `join`, `union` and `group_by` narrow,
    widen and divide; `agg` asks. A column that is named like a verb is `visits["describe"]`. Nothing is computed, and
    nothing is paid, before `release`.
    """

    def __getattr__(self, name: str) -> Name:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _OF_REPORTS and name not in self.columns:
            raise NothingAsked(name)
        if name in TABLE_VERBS and name in self.columns:
            raise VerbNotColumn(name)
        return self[name]

    def __getitem__(self, name: str) -> Name:
        if name not in self.columns:
            raise UnknownColumn("column", str(name), self.columns)
        return Name(name)

    def __dir__(self) -> list[str]:
        """List the columns that are attributes, then the verbs; what a question is made of inside is left out."""
        columns = [name for name in self._ipython_key_completions_() if name.isidentifier()]
        return [
            *(name for name in columns if not hasattr(type(self), name)),
            "columns",
            *(verb for verb in TABLE_VERBS if hasattr(type(self), verb)),
        ]

    def _ipython_key_completions_(self) -> list[str]:
        try:
            return [*self.columns]
        except Refusal:  # the session is closed, or the grant has ended
            return []

    def __repr__(self) -> str:
        from discreet.ask.description import text

        try:
            return text(self)
        except Refusal as refusal:
            return f"{' and '.join(tables_of(self.plan))}: {refusal.why}"

    def _repr_html_(self) -> str | None:
        from discreet.ask.description import html

        try:
            return html(self)
        except Refusal:  # then the text says why
            return None

    def where(self, *conditions: Expression) -> Query:
        """Keep the rows for which every condition is true; a row for which one is null is left out."""
        if not conditions:
            fix = "write where(visits.age >= 18)"
            raise BadParameter("conditions", (), why="there is no condition", fix=fix)
        plan = self.plan
        for condition in conditions:
            found = type_of(lift(condition), self.columns)
            if found.kind != "flag":
                why = f"a condition is true or false, and this is a {found.kind}"
                raise BadParameter("condition", condition, why=why, fix="compare it with something: visits.age >= 18")
            plan = Filter(plan, lift(condition))
        return self._now(plan)

    def derive(self, **columns: Expression | str | float) -> Query:
        """Add columns computed from others of the same row, as in `derive(days=visits.last - visits.first)`."""
        found = self
        for name, expression in columns.items():
            value = found[expression] if isinstance(expression, str) and expression in found.columns else expression
            type_of(lift(value), found.columns)
            found = found._now(Derive(found.plan, name, lift(value)))
        return found

    def select(self, *columns: str | Name, **renamed: str | Name) -> Query:
        """Keep these columns alone, in this order, some of them under new names, as in `select("ward", price="cost")`.

        Rows that differ in nothing that is kept count as often as before, but are no longer told apart.
        """
        named = [(name_of(column), name_of(column)) for column in columns]
        plan = Project(self.plan, (*named, *((new, name_of(old)) for new, old in renamed.items())))
        columns_of(plan, self.tables)
        return self._now(plan)

    def join(
        self,
        other: Public | Query,
        on: str | Iterable[str] | Mapping[str, str] | None = None,
        *,
        most: int | None = None,
        columns: Iterable[str] | Mapping[str, str] | None = None,
    ) -> Query:
        """Put together rows of two tables; rows without a partner are left out.

        A public table adds its columns to the rows whose key it has; with `most`, at most so many of its rows for each
        key, the first ones, so that no row becomes very many. Of another table of the session, rows of the same person
        meet, always, so that a join needs no `on` but where more is to be equal, such as a visit's number: the
        column both have, several, or a mapping of ours to theirs, {"ward": "code"}. Of each row's partners at most
        `most` are kept, and never more than the other table's max_rows. `columns` are theirs to take over, {"new":
        "theirs"}; otherwise all are, but those matched by.
        """
        if isinstance(other, Public):
            check_public(columns)
            matched = check_on(on)
            plan: Plan = Join(self.plan, other, matched)
            columns_of(plan, self.tables)
            if most is not None:
                plan = Join(self.plan, other.capped((theirs for _, theirs in matched), most), matched)
            return self._now(plan)
        if not isinstance(other, Query):
            raise no_table(other)
        return self._now(meeting(self, other, on, most, columns))

    def left_join(
        self,
        other: Query,
        on: str | Iterable[str] | Mapping[str, str] | None = None,
        *,
        most: int | None = None,
        columns: Iterable[str] | Mapping[str, str] | None = None,
    ) -> Query:
        """Put together rows of the same person as `join` does, and keep rows without a partner, once, with nulls."""
        if not isinstance(other, Query):
            raise no_person(other)
        return self._now(replace(meeting(self, other, on, most, columns), outer=True))

    def semi_join(
        self,
        other: Query,
        on: str | Iterable[str] | Mapping[str, str] | None = None,
        *,
        compare: tuple[str, str, str] | None = None,
    ) -> Query:
        """Keep the rows whose person has a row of another table with equal values of `on`, as EXISTS does in SQL.

        `compare` is a column of this table, one of <, <=, >, >= and !=, and a column of the other, as in
        `compare=("supplier", "!=", "supplier")`. No row is repeated, however many of the other match.
        """
        marked = self._marked(other, on, compare)
        return self._now(Filter(marked, Name(marked.name)))

    def anti_join(
        self,
        other: Query,
        on: str | Iterable[str] | Mapping[str, str] | None = None,
        *,
        compare: tuple[str, str, str] | None = None,
    ) -> Query:
        """Keep the rows whose person has no such row of another table, as NOT EXISTS does in SQL."""
        marked = self._marked(other, on, compare)
        return self._now(Filter(marked, ~Name(marked.name)))

    def _marked(self, other: Query, on: On, compare: tuple[str, str, str] | None) -> MarkJoin:
        if not isinstance(other, Query):
            raise no_person(other)
        return marking(self, other, on, compare)

    def union(self, other: Query) -> Query:
        """Add the rows of another question; both have the same columns. A row that is in both counts twice."""
        check_other(self, other, "union")
        plan = Union(self.plan, other.plan)
        columns_of(plan, {**self.tables, **other.tables})
        return self._now(plan)

    def group_by(
        self, *columns: str | Name, keys: Mapping[str, Any] | Public | None = None, **derived: Expression
    ) -> Query:
        """Divide into groups, one for each key; keys that were declared appear even where a group is empty.

        Columns are named, or derived on the spot: group_by("ward", year=visits.day.year()). `keys` declares the keys of
        a column that has none ({"city": ["Bern", "Basel"]}, or a public table of keys). Text columns without declared
        keys get theirs by private selection, which needs a delta.
        """
        if self.keys is not None:
            why = "it is grouped already"
            raise BadParameter("columns", columns, why=why, fix="name all columns in one group_by")
        wide = self.derive(**derived)
        names = [name_of(column) for column in columns] + [*derived]
        if not names:
            raise BadParameter("columns", (), why="there is nothing to group by", fix="write group_by('ward')")
        for name in names:
            _ = wide[name]
        return replace(wide, keys=keys_of(tuple(names), wide.columns, keys, KeyedRows(wide.plan, wide.tables)))

    def per_person(self, **aggregates: Any) -> Query:  # noqa: ANN401  (what is no aggregate is refused by name)
        """Make one row for each person, as in `per_person(total=dp.sum("cost"), n=dp.count())`: a table like others.

        All rows of a person count, so far; sums and counts are clamped to what `max_rows` rows could add up to, or
        `dp.sum("cost", per_person=(0, 20_000))` to that. Rows without an identifier belong to nobody.
        """
        from discreet.plan.person_plans import people_plan

        return self._now(people_plan(self.plan, aggregates.items(), self.tables))

    def partition(self, column: str | Name) -> Partition:
        """Divide into parts that are asked different things; see `discreet.ask.partition`."""
        from discreet.ask.partition import Partition

        name = self[column.name if isinstance(column, Name) else column]
        parts = {key: self.where(name == key) for key in part_keys(name.name, self.columns)}
        return Partition(self, name.name, parts)

    def agg(self, **aggregates: Any) -> Report:  # noqa: ANN401  (what is no aggregate is refused by name)
        """Ask for aggregates, each a column of the answer, as in `agg(n=dp.count(), cost=dp.mean("cost"))`."""
        from discreet.ask.report import Report

        return Report.of(self, aggregates)

    def synthesize(
        self,
        method: str = "auto",
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        *,
        workload: int | Sequence[Sequence[str]] | None = None,
        bins: int = 32,
        columns: Iterable[str] | None = None,
        zeros: Iterable[Mapping[str, object]] = (),
        progress: Callable[[Stage], None] | None = None,
        fresh: Fresh = False,
    ) -> SyntheticData:
        """Pay for synthetic data of these rows: a model that can be sampled and queried without further cost.

        `columns` are those it has: all but free text, unless named. Numbers and dates are put into at most `bins` bins
        of equally many steps. `workload` says what it is to get right: all marginals of 3 columns, or a list of them.
        `zeros` are combinations that no row can have, [{"age": range(0, 12), "married": True}]. The same question is
        replayed for free; `fresh=True` pays again, for new synthetic data.

        Guarantee: the price is in the ledger, on disk, before the data are read; nothing but noisy marginals and
        private choices among them leaves the engine's side.
        """
        from discreet.account.budgets.price import Price
        from discreet.ask.request import DeskRequest, SynthesisTerms

        terms = SynthesisTerms(method, workload, bins, None if columns is None else _kept(columns), [*zeros])
        request = DeskRequest("synthesize", self, terms, Price.of(epsilon, delta, rho))
        found: SyntheticData = self.desk.run(request, fresh=fresh, progress=progress).answer
        return found

    def preview_synthesize(
        self,
        method: str = "auto",
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        *,
        workload: int | Sequence[Sequence[str]] | None = None,
        bins: int = 32,
        columns: Iterable[str] | None = None,
        zeros: Iterable[Mapping[str, object]] = (),
    ) -> SynthesisPreview:
        """Show the cost and expected error of synthetic data; free, and computed without any data."""
        from discreet.account.budgets.price import Price
        from discreet.ask.request import DeskRequest, SynthesisTerms

        terms = SynthesisTerms(method, workload, bins, None if columns is None else _kept(columns), [*zeros])
        found: SynthesisPreview = self.desk.preview(
            DeskRequest("synthesize", self, terms, Price.of(epsilon, delta, rho))
        )
        return found

    def count(self) -> Report:
        """Ask how many rows there are: short for agg(count=dp.count())."""
        from discreet.plan.aggregates import count

        return self.agg(count=count())

    def _now(self, plan: Plan) -> Query:
        if self.keys is not None:
            why = "the groups would change"
            raise BadParameter("group_by", self.keys.names, why=why, fix="call where, derive and join before group_by")
        return replace(self, plan=plan)
