"""Verbs of a curator about whole schemas: public tables, and registering many tables in one go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import BadParameter
from discreet.curator.oversight import Oversight
from discreet.curator.schemas.public_tables import PublicTables, reuses_of
from discreet.curator.schemas.whole_schema import Terms, WholeSchema
from discreet.engines.duckdb.frame_copy import is_memory
from discreet.engines.duckdb.frame_values import values_of
from discreet.engines.source import Source, home_of, locate
from discreet.ledger.refusals import Conflict

if TYPE_CHECKING:
    from discreet.account.budgets.budget import Budget
    from discreet.ask.public_table import PublicTable
    from discreet.ask.registered import Registered
    from discreet.curator.schemas.public_tables import Columns, FanOut
    from discreet.curator.tables import Tables
    from discreet.plan.dimension import Reuse


class SchemaVerbs(Oversight):
    """What a custodian does with the public tables of a vault; nothing of it is paid from a budget."""

    _tables: Tables
    register: Callable[..., Registered]

    def register_public(
        self,
        name: str,
        source: object,
        *,
        key: str | Iterable[str] | None = None,
        fan_out: FanOut = None,
        columns: Columns = None,
    ) -> PublicTable:
        """Let analysts join a public table of any size: a path, a `Source`, a data frame or a dict of lists.

        `key` is a column, or several, of which no two rows have the same values; `fan_out` says of other columns how
        many rows may, as in {"ps_partkey": 4}. One of both is needed: it bounds how many partners a row finds. Columns
        that are not declared are read off the rows, which are public. To register the same again changes nothing.

        Guarantee: keys are counted exactly here, and rows whose values are in more rows than declared are joined with
        nothing, ever; rows that a private table has are refused.
        """
        source, reuses = _columns_of(source), reuses_of(key, fan_out)
        if name in self.public_tables():
            return self._public_again(name, source, reuses, columns)
        if is_memory(source):
            with self._tables.copied(source, name) as copied:
                return self._publics.add(name, copied, reuses, columns)
        return self._publics.add(name, settled(locate(path_of(source))), reuses, columns)

    def schema(
        self,
        tables: Terms,
        *,
        public: Terms | None = None,
        person: str | None = None,
        budget: Budget | None = None,
    ) -> dict[str, Registered | PublicTable]:
        """Register a whole schema: the tables of people in the order of their links, then the public ones.

        Of each table the terms of `register`, or of `register_public`, are given by their names. In place of a `unit`
        there may be its limits, `max_rows` and others: `person`, "customer.c_custkey", is then the table of people and
        their identifier, and the others are linked as `via` says, or as the one foreign key of their database does
        that leads there. Bounds are never taken from a catalogue. To register the same again changes nothing.

        Guarantee: all tables are paid from one account, whose budget this is. A chain of links that leads nowhere is
        refused before anything is registered.
        """
        whole = WholeSchema.of(tables, public or {}, person)
        found: dict[str, Registered | PublicTable] = {}
        for name, unit, terms in whole.private:
            account = {"budget": budget, "group": whole.account} if unit.via is None else {}
            given = {word: terms[word] for word in ("columns", "rows") if word in terms}
            found[name] = self.register(name, terms["source"], unit=unit, **given, **account)
        for name, terms in whole.public:
            found[name] = self.register_public(name, **terms)
        return found

    def refresh_public(self, name: str, source: object = None, *, expected: int | None = None) -> PublicTable:
        """Take a changed source, or a new one, as the next version of a public table."""
        before, source = self.public_table(name), _columns_of(source)
        if source is not None and is_memory(source):
            with self._tables.copied(source, name) as copied:
                return self._publics.refresh(before, copied, expected)
        located = before.source.unsettled if source is None else locate(path_of(source))
        return self._publics.refresh(before, settled(located), expected)

    def public_tables(self) -> list[str]:
        """Return the names of all public tables."""
        return self._publics.names()

    def public_table(self, name: str) -> PublicTable:
        """Return a public table, or refuse a name that is none with the nearest ones."""
        return self._publics.get(name)

    @property
    def _publics(self) -> PublicTables:
        return PublicTables(self.ledger, self._tables)

    def _public_again(self, name: str, source: object, reuses: tuple[Reuse, ...], columns: Columns) -> PublicTable:
        """Return what is registered already, if it is all the same."""
        before = self.public_table(name)
        same = self._publics.same(before, reuses, columns)
        if same and (self._publics.holds(before, source) if is_memory(source) else _is_source(before, source)):
            return before
        what = "source" if same else "declaration"
        fix = f"use refresh_public({name!r}, source) for new rows, or another name for another declaration"
        raise Conflict(f"public table {name!r}", why=f"it is registered with another {what}", fix=fix, value=name)


def settled(source: Source) -> Source:
    """Return a source as it is stored, checked to be there."""
    return home_of(source).settle(source)


def path_of(source: object) -> str | Path | Source:
    """Return where rows lie, refusing what says nothing of it."""
    if isinstance(source, str | Path) or (isinstance(source, Source) and source.kind != "memory-copy"):
        return source
    why, fix = "rows come from a file or a data frame", "use a path, pandas, Polars, Arrow, or a dict of lists"
    raise BadParameter("source", type(source).__name__, why=why, fix=fix)


def _columns_of(source: object) -> object:
    """Return a list of rows as columns; every other source as it is."""
    return values_of(source, sys.maxsize) if isinstance(source, list | tuple) else source


def _is_source(before: PublicTable, source: object) -> bool:
    return locate(path_of(source)).resolved() == before.source.unsettled
