"""Query: a question in the making: a table, what it is narrowed to, and what it is grouped by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.ask.question import QueryBase
from discreet.core.column import Column
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.value import dataclass, replace
from discreet.plan.expressions import Expression, Name, lift
from discreet.plan.keys import declared, keys_of, shown
from discreet.plan.nodes import Derive, Filter, Join, PersonJoin, Plan, Project, Public, Union, columns_of, tables_of
from discreet.plan.stability import unit_of
from discreet.plan.types import type_of

if TYPE_CHECKING:
    from discreet.ask.partition import Partition
    from discreet.ask.report import Report
    from discreet.ask.synthesize import SynthesisPreview
    from discreet.core.rational import Number
    from discreet.publish.stages import Stage
    from discreet.publish.synthetic_data import SyntheticData

On = str | Name | Iterable[str | Name] | Mapping[str, str] | None


def name_of(column: object) -> str:
    """Return the name of a column, given by its name or as the column itself."""
    return column.name if isinstance(column, Name) else str(column)


def pairs(on: On) -> tuple[tuple[str, str], ...]:
    """Return our columns and theirs that are to be equal: one name, several, or a mapping of ours to theirs."""
    if on is None:
        return ()
    if isinstance(on, Mapping):
        return tuple((name_of(ours), name_of(theirs)) for ours, theirs in on.items())
    names = [name_of(each) for each in ([on] if isinstance(on, str | Name) else on)]
    return tuple(zip(names, names, strict=True))


def meeting(one: QueryBase, other: QueryBase, on: On, most: int | None, columns: On) -> PersonJoin:
    """Return the plan of rows that belong to the same person, checked as far as it can be before a question is asked.

    Guarantee: both sides belong to one account, whose people come and go in all of its tables at once.
    """
    check_other(one, other, "join")
    tables = {**one.tables, **other.tables}
    unit_of(PersonJoin(one.plan, other.plan), tables)
    _check_accounts(one, other)
    matched = _without_people(one, other, pairs(on))
    plan = PersonJoin(one.plan, other.plan, matched, most, _taken(one, other, matched, columns))
    columns_of(plan, tables)
    return plan


def check_other(one: QueryBase, other: object, verb: str) -> None:
    """Refuse what is no ungrouped table of the same session."""
    if not isinstance(other, QueryBase) or other.desk is not one.desk:
        why = "it is not a table of this session"
        raise BadParameter("other", type(other).__name__, why=why, fix="pass session.table('visits'), for example")
    if other.keys is not None:
        why = "it is grouped already"
        raise BadParameter("other", other.keys.names, why=why, fix=f"call {verb} first, and then group_by")


def check_public(columns: object) -> None:
    """Refuse what only the join of a private table can be told."""
    if columns is not None:
        why = "the columns of a public table are known, and all of them are taken"
        fix = "leave it out, and make the public table with the columns that you want"
        raise BadParameter("columns", columns, why=why, fix=fix)


def no_table(other: object) -> BadParameter:
    """Return the refusal of what is neither a public nor a private table."""
    why = "it is neither a table of this session nor a public table"
    fix = "pass session.table('visits'), or session.public('wards', {'ward': ['A', 'B'], 'floor': [1, 2]})"
    return BadParameter("other", type(other).__name__, why=why, fix=fix)


def check_on(on: On) -> tuple[tuple[str, str], ...]:
    """Return what a public table is matched by, which has to be said: it has no people."""
    if on is None:
        why = "a public table has no people, so its rows are matched by the values of a column"
        raise BadParameter("on", None, why=why, fix="name a column that both have: on='ward'")
    return pairs(on)


def _check_accounts(one: QueryBase, other: QueryBase) -> None:
    accounts = sorted({*one.accounts, *other.accounts})
    if len(accounts) > 1:
        why = "its tables belong to different accounts, which protect a person separately"
        raise BadParameter(
            "join", accounts, why=why, fix="register tables about the same people in one budget group, with group="
        )


def _without_people(one: QueryBase, other: QueryBase, on: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Leave out the pair of identifiers: people are matched whether they are named or not."""
    ours, theirs = unit_of(one.plan, one.tables).identifier, unit_of(other.plan, other.tables).identifier
    named = ours not in one.columns and theirs not in other.columns
    return tuple(pair for pair in on if not named or pair != (ours, theirs))


def _taken(
    one: QueryBase, other: QueryBase, on: tuple[tuple[str, str], ...], columns: On
) -> tuple[tuple[str, str], ...]:
    """Return the columns that are taken over, under their new names: those named, or all that are not matched by."""
    if columns is not None:
        return pairs(columns)
    matched = {theirs for _, theirs in on}
    found = tuple((name, name) for name in other.columns if name not in matched)
    known = {name.lower() for name in one.columns}
    clash = [name for name, _ in found if name.lower() in known]
    if clash:
        fix = f'name those to take over, by new names: columns={{"their_{clash[0]}": "{clash[0]}"}}'
        raise BadParameter("columns", clash, why="both tables have columns of these names", fix=fix)
    return found


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


_VERBS = (
    *("where", "derive", "select", "join", "union", "group_by", "partition"),
    *("agg", "count", "synthesize", "preview_synthesize"),
)
_OF_REPORTS = frozenset({"release", "preview", "for_error"})


@dataclass(frozen=True, slots=True)
class Query(QueryBase):
    """A table as an analyst sees it: columns to speak of, and verbs that return another such table.

    `visits.age` and `visits["age"]` are the column; `where`, `derive`, `select`, `join`, `union` and `group_by` narrow,
    widen and divide; `agg` asks. Nothing is computed, and nothing is paid, before `release`.
    """

    def __getattr__(self, name: str) -> Name:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _OF_REPORTS and name not in self.columns:
            raise NothingAsked(name)
        return self[name]

    def __getitem__(self, name: str) -> Name:
        if name not in self.columns:
            raise UnknownColumn("column", str(name), self.columns)
        return Name(name)

    def __dir__(self) -> list[str]:
        """List the columns that are attributes, then the verbs; what a question is made of inside is left out."""
        columns = [name for name in self._ipython_key_completions_() if name.isidentifier()]
        return [*(name for name in columns if not hasattr(type(self), name)), "columns", *_VERBS]

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
        return replace(wide, keys=keys_of(tuple(names), wide.columns, keys))

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
        fresh: bool = False,
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
        from discreet.ask.synthesize import synthesis

        price = Price.of(epsilon, delta, rho)
        asked = synthesis(self, method, price, workload=workload, bins=bins, columns=columns, zeros=zeros)
        return asked.release(progress, fresh=fresh)[0]

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
        from discreet.ask.synthesize import preview, synthesis

        price = Price.of(epsilon, delta, rho)
        return preview(synthesis(self, method, price, workload=workload, bins=bins, columns=columns, zeros=zeros))

    def count(self) -> Report:
        """Ask how many rows there are: short for agg(count=dp.count())."""
        from discreet.plan.aggregates import count

        return self.agg(count=count())

    def _now(self, plan: Plan) -> Query:
        if self.keys is not None:
            why = "the groups would change"
            raise BadParameter("group_by", self.keys.names, why=why, fix="call where, derive and join before group_by")
        return replace(self, plan=plan)
