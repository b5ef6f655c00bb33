"""Tables as the vault keeps them: their documents, their fingerprints, and the copies of rows from memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.account.budgets.budget import Budget
from discreet.ask.registered import Registered, check_columns, unread_lines
from discreet.core.schema import Table
from discreet.core.value import replace
from discreet.curator.accounts import (
    PUBLIC,
    account_of,
    budgets_of,
    check_account,
    check_budget,
    check_copy,
    check_not_public,
    check_people,
    check_shared,
    check_source,
    check_terms,
    payer,
)
from discreet.curator.erasure import Erased, forgotten, without_person
from discreet.curator.identifier_sketch import TableSketches, sketched
from discreet.curator.links import check_keys, check_link, referred_by
from discreet.curator.overlap import People, check_overlap, check_word, not_compared, overlaps
from discreet.curator.source_history import Sources
from discreet.engines.duckdb.frame_copy import copy
from discreet.engines.source import Source, SourceChanged, SourceMissing, home_of
from discreet.ledger.place import ServerPlace

if TYPE_CHECKING:
    from discreet.core.link import Link
    from discreet.ledger.document import Document
    from discreet.ledger.ledger import Ledger


class Tables:
    """The tables of one vault. What was computed from rows lies in private parts of documents, never in the chain.

    `sketch` looks at a table's people, to compare them with those of other accounts. Only made-up people, who need no
    protection, may go without.
    """

    def __init__(
        self, ledger: Ledger, *, sketch: Callable[[Registered, bytes], TableSketches | None] = sketched
    ) -> None:
        self._ledger = ledger
        self._sketch = sketch
        self._folder = ledger.folder
        # Stamps renewed since the vault was opened: only a saving of time, so losing them costs nothing else.
        self._renewed: dict[tuple[str, int], Mapping[str, Any]] = {}
        self._declared: dict[tuple[str, int], tuple[Source, Mapping[str, Any]]] = {}
        # The newest revision of each table that was read: a document of that revision always says the same.
        self._read: dict[str, Registered] = {}

    def names(self) -> list[str]:
        """Return the names of all tables."""
        return sorted(document.name for document in self._ledger.list("table"))

    def all(self) -> list[Registered]:
        """Return all tables."""
        return [self._of(document) for document in self._ledger.list("table")]

    def get(self, name: str) -> Registered:
        """Return a table, or refuse a name that is none."""
        return self._of(self._ledger.get("table", name))

    def check(self, name: str, revision: int | None = None) -> None:
        """Refuse a table whose source is not what was registered; a `revision` that was checked before is not read."""
        found = None if revision is None else self._declared.get((name, revision))
        if found is None:
            public = {each.name: each for each in self._ledger.list(PUBLIC)}
            document = public[name] if name in public else self._ledger.get("table", name)
            source = Source.from_record(document.record["source"])
            found = self.found(source), document.private["fingerprint"]
            revision = document.revision
            self._declared[name, revision] = found
        assert revision is not None
        key = name, revision
        source, stored = found[0], self._renewed.get(key, found[1])
        try:
            renewed = home_of(source).check_unchanged(name, source, stored, self.key)
        except SourceMissing:
            if source.kind == "memory-copy" and isinstance(self._ledger.place, ServerPlace):
                why = "its rows came from memory, and stayed in a folder of the machine that registered it"
                fix = f"ask on that machine, or run discreet refresh {name} with a source that all machines can read"
                raise SourceMissing(f"the source of {name!r} is missing here", why=why, fix=fix, value=name) from None
            raise
        if renewed is not None:
            self._renewed[key] = renewed

    def is_untouched(self, name: str, revision: int) -> bool:
        """Whether a glance tells that the source is what was registered; if not, or if it was never read, check it."""
        found = self._declared.get((name, revision))
        if found is None:
            return False
        return home_of(found[0]).is_untouched(found[0], self._renewed.get((name, revision), found[1]))

    def check_new(self, table: Table, budget: Budget | None, group: str | None) -> None:
        """Refuse, before its rows are copied, a table that would be refused for its budget."""
        tables = self.all()
        referred = referred_by(table, tables)
        paid = group if referred is None else referred.account
        check_budget(account_of(table, None, paid, tables), budget, budgets_of(self._ledger))

    @contextmanager
    def copied(self, data: object, name: str) -> Iterator[Source]:
        """Copy rows from memory; the copy goes if the block fails."""
        located = self.found(copy(data, self._folder, name=name))
        try:
            yield located
        except BaseException:
            Path(located.path).unlink(missing_ok=True)
            raise

    def same(self, before: Registered, table: Table, budget: Budget | None, group: str | None) -> bool:
        """Whether a declaration is the registered one; whom it protects and what pays for it has to be."""
        check_terms(before, table, group)
        check_budget(before.account, budget, budgets_of(self._ledger))
        return table == before.table

    def holds(self, before: Registered, data: object) -> bool:
        """Whether rows from memory are those of a table that was copied from memory, by their keyed digest.

        This looks at data, and so only a custodian ever sees it.
        """
        if before.source.kind != "memory-copy":
            return False
        stored = self._ledger.get("table", before.name).private["fingerprint"]["digest"]
        copied = self.found(copy(data, self._folder, name=before.name))
        try:
            return bool(home_of(copied).fingerprint(copied, self.key)["digest"] == stored)
        finally:
            Path(copied.path).unlink(missing_ok=True)

    def add(
        self, table: Table, source: Source, budget: Budget | None, group: str | None, people: People | None = None
    ) -> Registered:
        """Store a new table, and open its account if it is the first."""
        physical = home_of(source).describe(source)
        check_columns(table, physical)
        check_not_public(self._ledger, table.name, source)
        sources, known, tables = Sources.of(self._ledger), budgets_of(self._ledger), self.all()
        referred = referred_by(table, tables)
        if referred is not None:
            group = check_link(table, source, referred, group, people, [*tables, *sources.past])
        check_people(table, source, [*tables, *sources.past])
        account = account_of(table, source, group, [*tables, *sources.past])
        check_account(account, table, tables, people)
        check_shared(payer(source, [*tables, *sources.past]), budget, people, known)
        check_budget(account, budget, known)
        if referred is not None:
            check_keys(referred, self._links(referred.name, table), self._ledger.secret("order"))
        registered = _said(Registered(table, source, 1, account, physical, referred=referred), people, known)
        found = self._fingerprint(registered)
        check_copy(registered, found["digest"], sources.digests)
        sketches, noted = self._people(registered, sources, tables)
        sources.claim(self._ledger, tables, registered, found["digest"], sketches)
        if account not in known:
            assert budget is not None
            self._ledger.add_account(account, budget, table.unit.relation)
        return replace(self._store(registered, 0, found), noted=noted)

    def declare(
        self, before: Registered, table: Table, expected: int | None, *, bought: Mapping[str, Any] | None = None
    ) -> Registered:
        """Store another declaration of the same rows, as the next version; rows that changed are refused.

        `bought` says on which terms its number of rows was bought, if it was.
        """
        self.check(before.name)
        check_columns(table, before.physical)
        stored = self._ledger.get("table", before.name).private["fingerprint"]
        after = replace(before, table=table, version=before.version + 1, bought=bought)
        return self._store(after, expected, stored)

    def refresh(
        self, before: Registered, source: Source, expected: int | None, people: People | None = None
    ) -> Registered:
        """Store other rows under the same declaration, as the next version; an old copy is removed."""
        physical = home_of(source).describe(source)
        check_columns(before.table, physical)
        sources, tables = Sources.of(self._ledger), self.all()
        check_source(before, source, [*tables, *sources.past])
        after = replace(before, source=source, physical=physical, version=before.version + 1)
        after = _said(after, people, budgets_of(self._ledger))
        check_keys(after, self._links(before.name), self._ledger.secret("order"))
        if after.referred is not None:
            check_keys(after.referred, self._links(after.referred.name), self._ledger.secret("order"))
        found = self._fingerprint(after)
        check_copy(after, found["digest"], sources.digests)
        sketches, noted = self._people(after, sources, tables)
        if not sources.has(after, found["digest"], sketches):
            sources.claim(self._ledger, tables, after, found["digest"], sketches)
        stored = replace(self._store(after, expected, found), noted=noted)
        if before.source.kind == "memory-copy" and before.source != stored.source:
            with suppress(OSError):  # rows that no answer will be made from again
                Path(before.source.path).unlink()
        return stored

    def erase(self, account: str, person: str) -> Erased:
        """Take a person's rows out of the copies of an account's tables, and forget what was kept of their rows."""
        mine = [each for each in self.all() if each.account == account]
        found, where = {}, Path(self._folder)
        # Tables that refer to others first: whose their rows are is told by rows that go afterwards.
        for each in sorted(mine, key=lambda each: -len(each.chain)):
            if each.source.kind == "memory-copy":
                with without_person(each, person, where, self._ledger.secret("order")) as (rows, source):
                    if source is not None:
                        self.refresh(each, self.found(source), None)
                found[each.name] = rows
        caches = forgotten(mine, where, self._ledger.secret("order"), self.all())
        return Erased(found, caches, tuple(sorted(each.name for each in mine if each.source.kind != "memory-copy")))

    def _people(
        self, registered: Registered, sources: Sources, tables: list[Registered]
    ) -> tuple[TableSketches | None, tuple[str, ...]]:
        """Sketch a table's people, refuse those of another account, and return what else to tell its custodian."""
        sketches = self._sketch(registered, self._ledger.secret("people sketches"))
        lines = [f"{what}: {why}; {fix}" for what, why, fix in unread_lines(registered.source)]
        if sketches is None:
            why = "its people could not be compared with those of other accounts: the engine did not finish"
            return None, (why, *lines)
        others = {name: each for name, each in sources.sketches.items() if name != registered.name}
        noted = check_overlap(registered, overlaps(sketches, others), tables)
        return sketches, (*noted, *not_compared(sketches, others), *lines)

    def _links(self, name: str, *more: Table) -> list[Link]:
        """Return the links of registered tables, and of some more, that refer to a table."""
        tables = [*(each.table for each in self.all()), *more]
        return [each.unit.via for each in tables if each.unit.via is not None and each.unit.via.table == name]

    @property
    def key(self) -> bytes:
        """What fingerprints are keyed by."""
        return self._ledger.secret("source fingerprints")

    def _of(self, document: Document) -> Registered:
        known = self._read.get(document.name)
        if known is None or known.revision != document.revision:
            found = Registered.from_record(document.record, document.private["physical"], document.revision)
            known = self._read[document.name] = found.at(self.found(found.source))
        via = known.table.unit.via
        # The table that is referred to has revisions of its own.
        return known if via is None else replace(known, referred=self.get(via.table))

    def found(self, source: Source) -> Source:
        """Return a source with its full path: copies lie beside the vault, wherever that was moved."""
        return source.resolved(self._folder) if source.kind == "memory-copy" else source

    def _fingerprint(self, registered: Registered) -> dict[str, Any]:
        """Return a table's fingerprint, refusing a source that changes meanwhile."""
        source, home = registered.source, home_of(registered.source)
        found = home.fingerprint(source, self.key)
        # What was read of the file before its fingerprint was taken has to be true of it still.
        if home.settle(source.unsettled) != source or home.describe(source) != registered.physical:
            why, fix = "it changed while it was looked at", "repeat this once nobody writes to it"
            raise SourceChanged(f"the source of {registered.name!r}", why=why, fix=fix, value=registered.name)
        return found

    def _store(self, registered: Registered, expected: int | None, found: Mapping[str, Any]) -> Registered:
        """Store a revision, unless another custodian stored one since the expected."""
        private = {"physical": dict(registered.physical), "fingerprint": dict(found)}
        source = registered.source
        stored = replace(source, path=Path(source.path).name) if source.kind == "memory-copy" else source
        revision = registered.revision if expected is None else expected
        self._ledger.put("table", registered.name, registered.at(stored).record(), private=private, expected=revision)
        return self.get(registered.name)


def _said(registered: Registered, people: People | None, accounts: Iterable[str]) -> Registered:
    """Put what the custodian says of a table's people into its record: names of accounts, never what was found."""
    match check_word(people):
        case "same":
            return replace(registered, same=True)
        case "distinct":
            others = {*registered.distinct, *accounts} - {registered.account}
            return replace(registered, distinct=tuple(sorted(others)))
    return registered
