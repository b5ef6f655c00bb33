"""Registered tables: a declaration, where its rows lie, its version and the account that pays for it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from discreet.account.budgets.budget import Budget
from discreet.account.budgets.exceeded import rounded_down
from discreet.ask.declaration import column_rows, grid
from discreet.ask.public_table import PublicTable
from discreet.core import record as records
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import as_written
from discreet.core.schema import Table
from discreet.core.unit import Unit
from discreet.core.value import dataclass, replace
from discreet.engines.duckdb.source import left_out
from discreet.engines.physical import MILLISECONDS, Physical
from discreet.engines.source import Source, home_of
from discreet.plan.to_sql.scalar import is_readable

# Verbs of a table in Python, some of them still to come: a column of such a name is asked for as visits["describe"].
TABLE_VERBS = (
    *("where", "derive", "select", "join", "left_join", "semi_join", "anti_join", "union", "group_by", "partition"),
    *("per_person", "agg", "count", "describe", "synthesize", "preview_synthesize"),
)


def table_words(table: Table) -> list[str]:
    """Say of a table its name, its declared size if it has one, and whom it protects."""
    name = table.name if table.rows is None else f"{table.name}, {_many(table.rows, 'row')} declared"
    return [name, f"protects {unit_words(table.unit)}"]


def unit_words(unit: Unit) -> str:
    """Say whom the answer protects: one person (zper), at most 5 rows, added or removed."""
    change = "added or removed" if unit.relation == "add_remove" else "replaced by another"
    if unit.is_row:
        return f"one row, {change}"
    groups = ""
    if unit.max_groups < unit.max_rows:
        groups = " in one group" if unit.max_groups == 1 else f" in at most {unit.max_groups} groups"
    if unit.max_rows_per_group is not None:
        groups = f"{groups}{' and' if groups else ','} {unit.max_rows_per_group} in each group"
    rows = "row" if unit.max_rows == 1 else "rows"
    return f"one person ({unit.whom}), at most {unit.max_rows} {rows}{groups}, {change}"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


_FIELDS = ("table", "source", "version", "account", "same", "distinct")

_WORDS = ("accounts", "columns", "desk", "frozen", "keys", "plan", "registered", "snapshot", "tables", "whole")


@dataclass(frozen=True, slots=True, repr=False)
class Registered:
    """A table in a vault. `version` counts the refreshes; `revision` every edit, so that two custodians notice.

    `physical` has the type of every column as it lies in the source, which no analyst is shown. `alike` are tables
    of other accounts, each with its account, whose people are told apart by a column of the same name; it is not
    stored. `beside` are the public tables that a question joins with it, as they are now. `same` says that its
    identifier, whatever its name, tells the people of its account apart; `distinct` are the accounts whose people
    its custodian declared to be others. `referred` is the table that its link refers to, as it is now; it is not
    stored here. `noted` is what a look at its rows found, just now. `bought` are the terms on which its number of rows
    a person was bought, if it was.
    """

    table: Table
    source: Source
    version: int
    account: str
    physical: Mapping[str, str]
    revision: int = 0
    same: bool = False
    distinct: tuple[str, ...] = ()
    referred: Registered | None = None
    beside: tuple[PublicTable, ...] = ()
    noted: tuple[str, ...] = field(default=(), compare=False)
    alike: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    bought: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        name, protects = table_words(self.table)
        paid = f"version {self.version}, paid by the account {self.account}"
        notes = [f"\nnote: {note}" for note in self.notes]
        return "\n".join([name, protects, *self.bought_words, paid, "", *grid(column_rows(self.table.columns)), *notes])

    @property
    def name(self) -> str:
        """The name it is asked for by."""
        return self.table.name

    @property
    def bought_words(self) -> tuple[str, ...]:
        """Say on which terms its number of rows a person was bought; nothing if it was declared."""
        if self.bought is None:
            return ()
        most, epsilon, entry = (self.bought[name] for name in ("most", "epsilon", "entry"))
        price = f"epsilon {float(Fraction(epsilon)):,.4g}, entry {entry}"
        return (f"max_rows={self.bought['rows']:,} was bought among 1 to {most:,} ({price})",)

    @property
    def identifier(self) -> str | None:
        """The column that tells its people apart; None where single rows are protected."""
        return self.table.unit.identifier

    @property
    def whom(self) -> str | None:
        """What tells its people apart: a column, or a link in words; None where single rows are protected."""
        return self.table.unit.whom

    @property
    def chain(self) -> tuple[Registered, ...]:
        """The table, the one that its link refers to, and so on: all that are read to know whose its rows are."""
        return (self,) if self.referred is None else (self, *self.referred.chain)

    @property
    def read(self) -> tuple[Registered | PublicTable, ...]:
        """All that a question about it reads: its chain, and the public tables beside it."""
        return (*self.chain, *self.beside)

    @property
    def from_sql(self) -> str:
        """What stands after FROM to read its rows."""
        return home_of(self.source).from_sql(self.source)

    @property
    def engine(self) -> str:
        """The name of the engine that computes over its rows."""
        return self.source.engine

    def at(self, source: Source) -> Registered:
        """Return the same table with its rows found there."""
        return replace(self, source=source)

    @property
    def notes(self) -> tuple[str, ...]:
        """What its custodian should know of it, and nobody else: names that are alike, and what its rows showed."""
        alike = (f"{what}: {why}; {fix}" for what, why, fix in map(same_people, self.alike))
        return (*self.noted, *alike, *verb_columns(self.table))

    def among(self, tables: Iterable[Registered]) -> Registered:
        """Return the same table with those of other accounts in `alike` that may be about the same people."""
        ours, found = (self.identifier or "").lower(), dict[str, list[str]]()
        for each in tables:
            if ours and (each.identifier or "").lower() == ours and each.account != self.account:
                found.setdefault(each.account, []).append(each.name)
        # Of a group its namesake is named, or the first.
        named = [(account if account in names else min(names), account) for account, names in sorted(found.items())]
        return replace(self, alike=tuple(named))

    def record(self) -> dict[str, Any]:
        """Return what the ledger chains. Nothing here was learned from a record: types and fingerprints lie apart."""
        return {
            "table": self.table.record(),
            "source": self.source.record(),
            "version": self.version,
            "account": self.account,
            "same": self.same,
            "distinct": list(self.distinct),
            **({"bought": dict(self.bought)} if self.bought is not None else {}),
        }

    @classmethod
    def from_record(cls, record: object, physical: Mapping[str, str], revision: int) -> Registered:
        """Read what `record` returned, checking it anew."""
        more = ("bought",) if isinstance(record, dict) and "bought" in record else ()
        found = records.fields("registered", record, (*_FIELDS, *more))
        table, source = Table.from_record(found["table"]), Source.from_record(found["source"])
        types = MappingProxyType(dict(physical))
        said = found["same"], tuple(found["distinct"])
        bought = MappingProxyType(dict(found["bought"])) if more else None
        return cls(table, source, found["version"], found["account"], types, revision, *said, bought=bought)


def verb_columns(table: Table) -> list[str]:
    """Say of columns that are named like verbs, or like another word of tables, how they are asked for in Python."""
    taken = [name for name in table if name in (*TABLE_VERBS, *_WORDS)]
    return [f'ask for the column {name} as {table.name}["{name}"]: {table.name}.{name} is a verb' for name in taken]


def same_people(alike: tuple[str, str]) -> tuple[str, str, str]:
    """Say what is alike about another table, what follows if its people are the same, and what to do then.

    Two budgets for one person are both lost by that person, and only the custodian knows who is who.
    """
    name, account = alike
    what, why = f"{name} has the same identifier column", "if these are the same people, they may lose both budgets"
    return what, why, f"then use only one of the two tables, or put both into the budget group {account} of a new vault"


def unread_lines(source: Source) -> list[tuple[str, str, str]]:
    """Say how many lines of a CSV file are left out, if any are, why, and what to do; for the custodian alone."""
    lines = left_out(source)
    if not lines:
        return []
    what = f"{lines:,} line{'s are' if lines > 1 else ' is'} left out of every answer"
    why = "a record is one line of UTF-8 whose quotes pair, so a stray quote cannot swallow other records"
    return [(what, why, "correct these lines; if fields go on in the next line, register Parquet or a data frame")]


def check_columns(table: Table, physical: Mapping[str, str]) -> None:
    """Refuse a declaration that names a column the source does not have."""
    for name in table:
        if name not in physical:
            raise UnknownName("column of the source", name, physical)
        if physical[name] == MILLISECONDS:
            why = "the engine converts milliseconds, and one value too far from 1970 would make every question fail"
            fix = "write the column in microseconds (timestamp[us]), or register it as a data frame"
            raise BadParameter("columns", name, why=why, fix=fix)
        if not is_readable(table[name], physical[name]):
            why = f"a {table[name].kind} cannot be read from values of the type {physical[name]}, so all would be null"
            raise BadParameter("columns", name, why=why, fix="declare what it contains, or convert the source")
    identifier, via = table.unit.identifier, table.unit.via
    for name in (*table, *([identifier] if identifier else []), *([via.column] if via else [])):
        alike = [other for other in physical if other.lower() == name.lower() and other != name]
        if alike:
            why = f"the source has a column {alike[0]!r} too, and engines do not tell names apart by case alone"
            raise BadParameter("columns", name, why=why, fix="rename one of the two in the source")
    if identifier is not None and identifier not in physical:
        raise UnknownName("identifier column of the source", identifier, physical)
    if identifier is not None:
        check_comparable("identifier", identifier, physical[identifier])
    if via is not None:
        if via.column not in physical:
            raise UnknownName("link column of the source", via.column, physical)
        check_comparable("via", via.column, physical[via.column])


def check_comparable(parameter: str, name: str, physical: str) -> None:
    """Refuse an identifier, a reference or a key of moments: engines write them by their own clock, or fail on them."""
    if _is_moment(physical):
        why = f"people cannot be identified safely by timestamps, of the type {physical}"
        raise BadParameter(parameter, name, why=why, fix="use a text or integer column")


def _is_moment(physical: str) -> bool:
    """Whether values are moments, times of day or durations, or may have some inside."""
    nested = physical.endswith("]") or physical.startswith(("STRUCT(", "MAP(", "UNION("))
    family = Physical.parse(physical).family
    return (
        family in ("timestamp", "instant")
        or nested
        or (family == "other" and physical.startswith(("TIME", "INTERVAL")))
    )


def budget_record(budget: Budget) -> dict[str, str | None]:
    """Return the exact amounts of a budget as text, so that equal budgets have equal records."""
    amounts = {"epsilon": budget.epsilon, "delta": budget.delta, "rho": budget.rho}
    return {name: None if amount is None else str(as_written(name, amount)) for name, amount in amounts.items()}


def budget_text(record: Mapping[str, str | None]) -> str:
    """Write a budget for a refusal, from its record."""
    return ", ".join(f"{name}={_short(Fraction(amount))}" for name, amount in record.items() if amount is not None)


def _short(amount: Fraction) -> str:
    try:
        return f"{float(amount):g}"
    except OverflowError:  # more than any float, and still a budget
        return rounded_down(amount)


def read_by(registered: Iterable[Registered]) -> dict[str, Registered | PublicTable]:
    """Return all tables that a question about some reads: those that tell whose their rows are, and public ones too."""
    return {each.name: each for found in registered for each in found.read}


def versions_of(registered: Iterable[Registered]) -> dict[str, int]:
    """Return the version of every table that is read: a change of one that others refer to is a change of theirs."""
    return {name: found.version for name, found in read_by(registered).items()}


def with_referred(question: str, registered: Mapping[str, Registered]) -> str:
    """Return the text of a question with the versions of public tables, and of those that only say whose rows are.

    They are no tables of the question: who asks it needs no access to them.

    Guarantee: an answer, and the draws of a debit, belong to the versions of all tables that are read for them.
    """
    versions = {name: at for name, at in versions_of(registered.values()).items() if name not in registered}
    if not versions:
        return question
    found = {**json.loads(question), "referred": versions}
    return json.dumps(found, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def engine_of(registered: Mapping[str, Registered]) -> str:
    """Return the one engine that holds all tables of a question; rows are not carried from one to another."""
    engines = {name: found.engine for name, found in sorted(read_by(registered.values()).items())}
    if len({*engines.values()}) > 1:
        listed = ", ".join(f"{name} in {engine}" for name, engine in engines.items())
        why = f"its tables are in different engines ({listed}), and no row is copied from one engine to another"
        raise BadParameter("tables", sorted(engines), why=why, fix="register them all in one engine")
    found = [each.source for each in read_by(registered.values()).values()]
    home_of(found[0]).opened(found, b"")  # one server, if it is a database: nothing is opened here
    return next(iter(engines.values()))
