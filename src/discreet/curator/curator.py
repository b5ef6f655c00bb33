"""Curator: the custodian's hands on a vault: tables, grants and budgets. Anyone who can read the whole vault is one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from discreet.account.budgets.budget import Budget
from discreet.ask.registered import Registered as Registered
from discreet.ask.registered import budget_record
from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import Number
from discreet.core.schema import Table
from discreet.core.unit import Unit
from discreet.curator.accounts import budget_of_filter, budgets_of
from discreet.curator.budgets import holds, visible
from discreet.curator.declare import expiry_of
from discreet.curator.schemas.verbs import SchemaVerbs, path_of, settled
from discreet.curator.tables import Tables
from discreet.engines.duckdb.frame_copy import is_memory
from discreet.engines.source import Source, locate
from discreet.ledger.ledger import Ledger
from discreet.ledger.place import is_url, place_of
from discreet.ledger.refusals import Conflict, NotAVault, Unavailable

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.ask.watches.pmw import Weighed
    from discreet.ask.work_limits import WorkLimits
    from discreet.curator.erasure import Erased
    from discreet.curator.lint import Remark
    from discreet.curator.overlap import People
    from discreet.curator.session import Session
    from discreet.ledger.cap import Existing
    from discreet.ledger.charge import Receipt
    from discreet.ledger.grant import Grant, Role
    from discreet.ledger.integrity.verify import Verified
    from discreet.ledger.standing import Standing

Columns = Mapping[str, Column] | Iterable[Column]


class Curator(SchemaVerbs):
    """A vault, by a path or a URL, opened by its custodian; created where there is none, unless `create=False`.

    `postgresql://user@host/database?schema=name` keeps it in PostgreSQL; `anchor` is where this machine then keeps the
    signed head, if not in the usual place. Opening checks the last entries and every limit, document and grant;
    `verify_when_due` also verifies the whole vault if that was last done more than a day, or 10,000 entries, ago, and
    settles as failed what was paid for and will not be asked for again.

    Guarantee: a budget is set once, when its first table is registered, and is never raised; tables that share a file,
    and those put into one group, share it. What the chain says of a table was declared, never learned from a record.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool = True,
        anchor: str | Path | None = None,
        verify_when_due: bool = True,
    ) -> None:
        # Of a URL only what may be shown; a path as it was given.
        self.path: Path | str = str(place_of(path)) if is_url(path) else Path(path)
        there = Ledger.exists(path)
        if not there and not create:
            fix = f"run discreet init {self.path}, or give the path of a vault"
            raise NotAVault(f"vault {self.path}", why="there is none", fix=fix, value=str(self.path))
        self.ledger = Ledger.open(path, anchor=anchor) if there else Ledger.create(path, anchor=anchor)
        try:
            if verify_when_due:
                self.ledger.verify_if_due()
                with suppress(Unavailable):  # one that cannot be written is read all the same
                    self.ledger.settle_abandoned()
        except BaseException:
            self.ledger.close()
            raise
        self._tables = Tables(self.ledger)

    def register(
        self,
        name: str,
        source: object,
        *,
        unit: Unit,
        columns: Columns,
        budget: Budget | None = None,
        rows: int | None = None,
        group: str | None = None,
        people: People | None = None,
        auto_rows: Number | None = None,
    ) -> Registered:
        """Put a table behind the vault: a path, a `Source`, a data frame or a dict of lists; again changes nothing.

        `group` names the account that pays, shared by all tables of the same people; by default the table has one of
        its own. A source registered before joins the account it has. The `notes` of what is returned name tables of
        other accounts whose people have the same identifier. `auto_rows` is an epsilon of the budget that buys a good
        number of rows a person, from 1 to `max_rows`. All tables of an account protect the same unit. `people="same"`
        says that the identifier, under another column name, tells the people of the group apart. A table whose people
        are mostly those of another account is refused; `people="distinct"` says that they are others, on record.
        """
        table = Table(name, unit, columns, rows)
        if auto_rows is None:
            return self._put(table, source, budget, group, people).among(self._tables.all())
        from discreet.curator.row_bound import RowBound

        bound = RowBound.of(table, auto_rows)
        self._put(bound.settled(self._tables), source, budget, group, people)
        return bound.choose(self, self._tables).among(self._tables.all())

    def declare(
        self,
        name: str,
        *,
        unit: Unit,
        columns: Columns,
        rows: int | None = None,
        source: Source | str | Path | None = None,
        budget: Budget | None = None,
        group: str | None = None,
        expected: int | None = None,
    ) -> bool:
        """Change what is declared of a table, and return whether anything changed; a change is a new version.

        Bounds, keys, limits of rows and the declared size may change. Whom the table protects, and how much it may
        lose, may not: what was answered so far was counted under that promise.
        """
        before, table = self.table(name), Table(name, unit, columns, rows)
        same = self._tables.same(before, table, budget, group)
        if source is not None and locate(source).resolved() != before.source.unsettled:
            why, fix = "its rows were registered from elsewhere", f"run discreet refresh {name} with the new source"
            raise Conflict(f"the source of {name!r}", why=why, fix=fix, value=str(source))
        if not same:
            self._tables.declare(before, table, expected)
        return not same

    def refresh(
        self, name: str, source: object = None, *, expected: int | None = None, people: People | None = None
    ) -> Registered:
        """Take a changed source, or a new one, as the next version of a table: same budget, nothing refunded.

        `expected` is the revision you looked at; if another custodian changed the table since, this is refused.
        `people="distinct"` says that its people are others than those of all other accounts.
        """
        if name in self.public_tables():
            why, fix = "it is a public table", f"use refresh_public({name!r}, source)"
            raise BadParameter("name", name, why=why, fix=fix)
        before = self.table(name)
        if source is not None and is_memory(source):
            with self._tables.copied(source, name) as copied:
                return self._tables.refresh(before, copied, expected, people)
        # A header is read again, since a changed file may have its columns in another order.
        located = before.source.unsettled if source is None else locate(path_of(source))
        return self._tables.refresh(before, settled(located), expected, people)

    def grant(
        self,
        analyst: str,
        tables: str | Iterable[str] = (),
        *,
        budget: Budget | None = None,
        monthly: Budget | None = None,
        expires: dt.datetime | dt.timedelta | str | None = None,
        role: Role = "analyst",
        existing: Existing | None = None,
    ) -> str:
        """Let an analyst ask about tables, and return the token that proves it; it is shown this once.

        `budget` caps what the analyst may spend of each account permanently, `monthly` in a month; both only restrict.
        An analyst has one cap on an account, over all grants, also when they have ended. A second amount is refused
        unless `existing` says what it means: "replace" puts it in the place of the first, "add" tops it up; an amount
        that is left out changes nothing. "end" ends the caps that get no new amount. What the analyst has spent before
        counts. Older tokens stay valid, under the same cap.
        """
        names = (tables,) if isinstance(tables, str) else tuple(tables)
        accounts = {self.table(name).account for name in names}
        if not names and role != "custodian":
            raise BadParameter("tables", names, why="an analyst asks about tables", fix="name at least one table")
        caps, windows = (dict.fromkeys(sorted(accounts), each) for each in (budget, monthly))
        return self.ledger.grant(
            analyst, names, caps, monthly=windows, expires=_moment(expires), role=role, existing=existing
        )

    def granted(
        self, analyst: str, tables: Iterable[str], *, budget: Budget | None = None, monthly: Budget | None = None
    ) -> bool:
        """Whether the analyst holds just this grant; one that differs is refused, since tokens are not changed."""
        names = tuple(tables)
        accounts = {self.table(name).account for name in names}
        return holds(self.ledger, analyst, names, accounts, budget, monthly)

    def revoke(self, who: str) -> tuple[str, ...]:
        """End a grant, by its identifier, or all of an analyst's; return which ended. What was spent stays spent."""
        return self.ledger.revoke(who)

    def window(self, account: str, budget: Budget) -> bool:
        """Cap what an account may spend in a month, and return whether that is new; the lifetime budget still holds.

        A new amount starts the month again.
        """
        self.budget(account)  # refuses an unknown account
        windows = [
            budget_record(budget_of_filter(each.filter))
            for each in self.ledger.standing()
            if (each.scope, each.account, each.analyst) == ("window", account, None)
        ]
        if budget_record(budget) in windows:
            return False
        self.ledger.window(account, budget)
        return True

    def work(
        self,
        *,
        least_price: Number | None = None,
        partners: int | None = None,
        deadline: Number | None = None,
        pace: Number | None = None,
    ) -> WorkLimits:
        """Set limits on the work and the time of every question, leaving those that are not named; return all of them.

        See `discreet.ask.work_limits` for what they are, and docs/time.md for what they promise.
        """
        from discreet.ask.work_limits import KIND, NAME, WorkLimits

        before = WorkLimits.of(self.ledger)
        given = {"least_price": least_price, "partners": partners, "deadline": deadline, "pace": pace}
        after = before.with_changes(given)
        if after != before:
            self.ledger.put(KIND, NAME, after.record())
        return after

    def bill(self, tables: str | Iterable[str], loss: PrivacyLoss, label: str, *, key: str | None = None) -> Receipt:
        """Charge for work on the people of some tables that is done elsewhere: training on a cluster, a survey.

        `loss` is that of one person, under the relation of their accounts, and `label` says what it was for. Bill
        before the work reads anything. Every call is a bill of its own; `key` names one, such as "training 7", so
        that a retry under it returns the receipt of the first and charges nothing.

        Guarantee: the loss passes every budget and window that a question would pass, and is durable on return.
        """
        from discreet.curator.bill import bill, names_of

        receipt = bill(self.ledger, [self.table(name) for name in names_of(tables)], loss, label, key)
        self.certify(receipt)
        return receipt

    def erase(self, table: str, person: str) -> Erased:
        """Take a person's rows out of all that this vault keeps of the tables that share people with this one.

        Those are the copies of data frames, whose rows become a new version without them, and the caches of kept rows,
        which are made anew when they are needed. Rows in files and databases are yours to delete; then refresh their
        tables. See docs/erasure.md for what stays, and why. The entry that says so names nobody.
        """
        from discreet.curator.erasure import check_person

        account = self.table(table).account
        found = self._tables.erase(account, check_person(person))
        self.ledger.put("erasure", account, {"tables": sorted(found.rows), "version": 1})
        return found

    @overload
    def session(self, token: str, *, pmw: Literal[False] = False) -> Session: ...

    @overload
    def session(self, token: str, *, pmw: Literal[True], **terms: Any) -> Weighed: ...  # noqa: ANN401

    def session(self, token: str, *, pmw: bool = False, **terms: Any) -> Session | Weighed:
        """Open a session for anyone who holds the token.

        `pmw=True` begins one of private multiplicative weights at once, on the terms of `Session.pmw`:
        `curator.session(token, pmw=True, epsilon=1, delta=1e-6, alpha=0.05)`.
        """
        from discreet.core.file import keep_source
        from discreet.curator.local.desk_records import files_of
        from discreet.curator.session import Session
        from discreet.curator.vault_desk import VaultDesk
        from discreet.engines.duckdb.files import reads

        for source in files_of(self):
            keep_source(source, partial(reads, source))
        opened = Session(VaultDesk(self, self.ledger.authenticate(token)))
        if terms and not pmw:
            why = "a plain session has no terms: each question has its own price"
            raise BadParameter("terms", sorted(terms), why=why, fix="add pmw=True, or leave them out")
        return opened.pmw(**terms) if pmw else opened

    def tables(self) -> list[str]:
        """Return the names of all tables."""
        return self._tables.names()

    def table(self, name: str) -> Registered:
        """Return a registered table, or refuse a name that is none with the nearest ones."""
        return self._tables.get(name)

    def check(self, name: str, revision: int | None = None) -> None:
        """Refuse a table whose source is not what was registered; the text says nothing about rows.

        Who knows the newest revision of the table names it: its declaration is then read once.
        """
        self._tables.check(name, revision)

    def is_untouched(self, name: str, revision: int) -> bool:
        """Whether a glance tells that `check` would refuse nothing; it waits for nobody, and reads no file."""
        return self._tables.is_untouched(name, revision)

    def budget(self, account: str) -> Budget:
        """Return the budget of an account."""
        known = budgets_of(self.ledger)
        if account not in known:
            raise UnknownName("account", account, known)
        return known[account]

    def budgets(self, grant: Grant | None = None) -> list[Standing]:
        """Return how all limits stand, or those that concern one grant: its own, and what everyone shares."""
        return visible(self.ledger, grant, self._tables.all())

    def verify(self, head: str | None = None) -> Verified:
        """Check the whole ledger, against the anchor and a head kept elsewhere, or refuse with what is wrong."""
        return self.ledger.verify(head)

    def correct_clock(self) -> tuple[dt.datetime, dt.datetime] | None:
        """Set the vault's time, after a wrong clock ran ahead, back to this machine's; return both, or None if right.

        Set the machine's clock right first. The correction is an entry, and what was spent stays spent.
        """
        return self.ledger.correct_clock()

    def lint(self, name: str | None = None) -> list[Remark]:
        """Compare declarations with exact rows: for the custodian's eyes alone."""
        from discreet.curator.lint import lint

        tables = self._tables.all()
        chosen = tables if name is None else [self.table(name)]
        return [remark for each in chosen for remark in lint(each.among(tables), self.budget(each.account))]

    def close(self) -> None:
        """Close the vault."""
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Curator({str(self.path)!r}, tables={self.tables()!r})"

    def _put(
        self, table: Table, source: object, budget: Budget | None, group: str | None, people: People | None
    ) -> Registered:
        """Store a new table, or return the one of that name if it is all the same."""
        if table.name in self.tables():
            return self._again(table, source, budget, group)
        if not is_memory(source):
            return self._tables.add(table, settled(locate(path_of(source))), budget, group, people)
        self._tables.check_new(table, budget, group)
        with self._tables.copied(source, table.name) as located:
            return self._tables.add(table, located, budget, group, people)

    def _again(self, table: Table, source: object, budget: Budget | None, group: str | None) -> Registered:
        """Return what is registered already, if it is all the same."""
        before = self.table(table.name)
        same_table = self._tables.same(before, table, budget, group)
        same_source = self._is_source(before, source)
        if same_table and same_source:
            return before
        what = "declaration" if same_source else "source"
        fix = f"use refresh({table.name!r}, source) for new rows, declare({table.name!r}, ...) for new bounds"
        raise Conflict(f"table {table.name!r}", why=f"it is registered with another {what}", fix=fix, value=table.name)

    def _is_source(self, before: Registered, source: object) -> bool:
        """Whether a table is registered from this source: the same place, or the same rows where they have none."""
        if is_memory(source):
            return self._tables.holds(before, source)
        return locate(path_of(source)).resolved() == before.source.unsettled


def _moment(expires: dt.datetime | dt.timedelta | str | None) -> dt.datetime | None:
    match expires:
        case dt.timedelta():
            try:
                return dt.datetime.now(dt.UTC) + expires
            except OverflowError:
                why, fix = "the date is too far in the future", "leave it out for a grant that never expires"
                raise BadParameter("expires", expires, why=why, fix=fix) from None
        case str():
            return expiry_of(expires)
    return expires
