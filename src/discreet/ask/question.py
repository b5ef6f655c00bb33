"""Asking: a question without its price: what it is about, its aggregates, and how they share."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import field
from fractions import Fraction
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self

from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import Number, as_written
from discreet.core.value import dataclass, replace
from discreet.measures.reach import clamped_words, word_of
from discreet.plan.aggregates import Aggregate
from discreet.plan.dimension import dimensions_of
from discreet.plan.expressions import Name
from discreet.plan.keys import Keys
from discreet.plan.match import Comparison
from discreet.plan.nodes import Derive, MarkJoin, PersonJoin, Plan, Project, Scan, columns_of, tables_of
from discreet.plan.referents import Origin, identifying, most_partners, origin, referent
from discreet.plan.stability import unit_of

if TYPE_CHECKING:
    from discreet.ask.desk import Desk
    from discreet.ask.public_table import PublicTable
    from discreet.ask.registered import Registered
    from discreet.core.schema import Table
    from discreet.plan.dimension import Dimension


@dataclass(frozen=True, slots=True)
class QueryBase:
    """A plan, and the keys of its groups (None: it is one group), at somebody's desk."""

    desk: Desk = field(repr=False)
    plan: Plan
    keys: Keys | None = None
    snapshot: Mapping[str, Registered] | None = field(default=None, repr=False, compare=False)

    def frozen(self) -> Self:
        """Return the same with its tables as they are declared now: noise and clamping are for the same bounds."""
        return self if self.snapshot is not None else replace(self, snapshot=self.registered)

    @property
    def whole(self) -> bool:
        """Whether these are all rows of one table, so that its declared size is theirs."""
        plan = self.plan
        while isinstance(plan, Derive | Project):
            plan = plan.source
        return isinstance(plan, Scan)

    @property
    def columns(self) -> Mapping[str, Column]:
        """The columns that may be spoken of here, with their declared or derived bounds."""
        return columns_of(self.plan, self.tables)

    @property
    def tables(self) -> dict[str, Table]:
        """The schemas of the private tables underneath."""
        return {name: found.table for name, found in self.registered.items()}

    @property
    def registered(self) -> dict[str, Registered]:
        """The private tables underneath, as the vault knows them: now, or when they were frozen."""
        if self.snapshot is None:
            found = {name: self.desk.registered(name) for name in tables_of(self.plan)}
        else:
            found = dict(self.snapshot)
        wanted = dimensions_of(self.plan)
        if not wanted or all({each.name: each.dimension for each in one.beside} == wanted for one in found.values()):
            return found
        beside = self._beside(wanted)
        return {name: replace(each, beside=beside) for name, each in found.items()}

    def _beside(self, wanted: Mapping[str, Dimension]) -> tuple[PublicTable, ...]:
        """Return the public tables that are joined; one that is not what the question says it is, is refused.

        Guarantee: what a question says of a public table, and its noise is for, is what the vault says of it.
        """
        found = tuple(self.desk.public_table(name) for name in wanted)
        for each in found:
            if each.dimension != wanted[each.name]:
                why = "it was registered or refreshed anew since the question was written"
                fix = "ask again, about the table as it is now"
                raise BadParameter("join", each.name, why=why, fix=fix)
        return found

    @property
    def accounts(self) -> list[str]:
        """The accounts that pay for a question about this."""
        return sorted({found.account for found in self.registered.values()})


def _clamped(aggregate: Aggregate) -> str:
    """Write the bounds of a person's total behind what is added up, where there are some."""
    within = getattr(aggregate, "per_person", None)
    return "" if within is None else f", {clamped_words(within)} a person"


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """Aggregates of a subject, each a column of the answer, and the weights by which they share a price."""

    query: QueryBase
    aggregates: tuple[tuple[str, Aggregate], ...]
    weights: tuple[tuple[str, Fraction], ...] = ()

    def __repr__(self) -> str:
        asked = (
            f"{name} = {word_of(each)}({', '.join(map(repr, each.expressions))}{_clamped(each)})"
            for name, each in self.aggregates
        )
        return f"{self.query!r}\n\nask for {', '.join(asked)}"

    @classmethod
    def of(cls, query: QueryBase, aggregates: Mapping[str, Any]) -> Self:
        """Check the aggregates of a question and put them behind it."""
        if not aggregates:
            fix = "write agg(n=dp.count(), cost=dp.mean('cost'))"
            raise BadParameter("aggregates", {}, why="nothing is asked", fix=fix)
        taken = query.keys.names if query.keys is not None else ()
        if "keys" in aggregates and query.keys is not None and query.keys.selected:
            why = "keys are selected here, and weighted(keys=) is their share of the price"
            raise BadParameter("aggregates", "keys", why=why, fix="give the column another name")
        for name, aggregate in aggregates.items():
            if isinstance(aggregate, FunctionType):
                why, word = "it is the function that makes an aggregate", aggregate.__name__
                raise BadParameter(name, word, why=why, fix=f"call it: {word}(), or {word}('cost')")
            if not isinstance(aggregate, Aggregate):
                why, fix = "it is not an aggregate", "use one, such as dp.count() or dp.mean('cost')"
                raise BadParameter(name, aggregate, why=why, fix=fix)
            if name in taken:
                why = "it is the name of a key"
                raise BadParameter("aggregates", name, why=why, fix="give the column another name")
            if aggregate.alone and len(aggregates) > 1:
                why = f"a {word_of(aggregate)} has its own rows, unlike other aggregates"
                raise BadParameter(name, word_of(aggregate), why=why, fix="ask for it in a separate question")
        return cls(query, tuple(aggregates.items()))

    def weighted(self, **weights: Number) -> Self:
        """Split the price in these proportions, as in `weighted(n=1, cost=3)`; what is not named weighs 1.

        `keys` is the weight of selecting keys that were not declared.
        """
        known = {*dict(self.aggregates), "keys"}
        found = {}
        for name, weight in weights.items():
            if name not in known:
                raise UnknownName("aggregate", name, known)
            found[name] = as_written(name, weight)
            if found[name] <= 0:
                why = "an aggregate without a share cannot be answered"
                raise BadParameter(name, weight, why=why, fix="use a positive weight, or leave the aggregate out")
        return replace(self, weights=tuple(found.items()))


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
    return plan if most is not None else replace(plan, most=most_partners(other.plan, matched, tables))


def marking(one: QueryBase, other: QueryBase, on: On, compare: Comparison | None) -> MarkJoin:
    """Return the plan that says of each row whether its person has a matching one, checked like `meeting`."""
    check_other(one, other, "semi_join")
    tables = {**one.tables, **other.tables}
    unit_of(PersonJoin(one.plan, other.plan), tables)
    _check_accounts(one, other)
    name = unused("exists", {each.lower() for each in one.columns})
    plan = MarkJoin(one.plan, other.plan, _without_people(one, other, pairs(on)), compare, name)
    columns_of(plan, tables)
    return plan


def unused(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken, with a number behind it where it must be."""
    number, found = 1, name
    while found.lower() in taken:
        number += 1
        found = f"{name}_{number}"
    return found


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


def no_person(other: object) -> BadParameter:
    """Return the refusal of what has no people to be looked up."""
    why = "it is no table of this session, so it has no people"
    return BadParameter("other", type(other).__name__, why=why, fix="pass session.table('visits'), or call join")


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
    """Leave out pairs that name the person on both sides: people are matched whether they are named or not."""
    ours, theirs = unit_of(one.plan, one.tables).identifier, unit_of(other.plan, other.tables).identifier
    tables = {**one.tables, **other.tables}

    def is_person(pair: tuple[str, str]) -> bool:
        named = [name not in side.columns for side, name in zip((one, other), pair, strict=True)]
        first, second = (_person(side, name, tables) for side, name in zip((one, other), pair, strict=True))
        return (all(named) and pair == (ours, theirs)) or (any(named) and first is not None and first == second)

    return tuple(pair for pair in on if not is_person(pair))


def _person(query: QueryBase, name: str, tables: Mapping[str, Table]) -> Origin | None:
    """Return the key that a column holds, or that identifies people and is no column."""
    if name in query.columns:
        return referent(origin(query.plan, name), tables)
    found = (identifying(each, name, tables) for each in tables_of(query.plan))
    return next((key for key in found if key is not None), None)


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
