"""Staged: a vault of its own, in a folder that goes away, over made-up rows of the declared tables."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from discreet.account.budgets.budget import Budget
from discreet.ask.registered import Registered
from discreet.ask.runner import Engines, Runner, runner
from discreet.core.schema import Table
from discreet.core.value import replace
from discreet.curator.curator import Curator
from discreet.curator.session import Session
from discreet.curator.tables import Tables
from discreet.engines.source import Source, home_of, locate
from discreet.lab.audits.linked_rows import in_order, referred_keys
from discreet.lab.audits.made_up_rows import Data, header

Currency = Literal["pure", "epsilon", "rho"]

_PLENTY = 10**9
BUDGETS = {
    "pure": Budget(epsilon=_PLENTY),
    "epsilon": Budget(epsilon=_PLENTY, delta=0.5),
    "rho": Budget(rho=_PLENTY, delta=0.5),
}


class Staged:
    """Declared tables without their rows, in a vault that can afford to be asked for ever.

    The secret order by which a person's rows are kept is the same for all that is staged, as it is in a vault: what one
    person changes is looked at, and not what another order would.
    """

    def __init__(
        self, tables: Mapping[str, Table], accounts: Mapping[str, str], currency: Currency, withhold: int = 0
    ) -> None:
        self.tables = tables = in_order(tables)
        self._keys = referred_keys(tables.values())
        self._folder = tempfile.TemporaryDirectory(prefix="discreet-audit-")
        self._places: dict[Data, Path] = {}
        self._shown: Data | None = None
        self.currency = currency
        self.curator = Curator(Path(self._folder.name) / "made-up.discreet")
        # Nobody's people are compared with those of other accounts: of all that refreshes do, this takes longest.
        self._tables = Tables(self.curator.ledger, sketch=lambda *_: None)
        self.curator.work(least_price=0)  # a share of plenty would be more than analysts pay
        self.curator.withhold(below=withhold)
        budget, nothing = BUDGETS[currency], Data({})
        paid: set[str] = set()
        for name, table in tables.items():
            account = accounts[name]
            source = settled(self._file(nothing, name))
            self._tables.add(table, source, None if account in paid else budget, account)
            paid.add(account)
        self.session: Session = self.curator.session(self.curator.grant("auditor", list(tables)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.session.close()
        self._folder.cleanup()

    def show(self, data: Data) -> bool:
        """Let the vault's tables have these rows: the next version of each; return whether they had others before."""
        if self.shows(data):
            return False
        for name in self.tables:
            self._tables.refresh(self._tables.get(name), settled(self._file(data, name)), None)
        self._shown = data
        return True

    def shows(self, data: Data) -> bool:
        """Whether the vault's tables have these rows already."""
        return data is self._shown

    @contextmanager
    def runner(self, registered: Mapping[str, Registered], data: Data) -> Iterator[Runner]:
        """Lend the engine that would answer about these rows, without a ledger in between."""
        engines = Engines(self.curator.ledger.secret("order"))
        moved = {name: self._moved(each, data) for name, each in registered.items()}
        try:
            with runner(moved, engines, self._place(data)) as lent:
                yield lent
        finally:
            engines.close()

    @contextmanager
    def screen(self, table: Table, data: Data) -> Iterator[Runner]:
        """Lend an engine on one table that was never registered, such as one with a column more."""
        path = Path(tempfile.mkdtemp(dir=self._folder.name)) / "screen.csv"
        data.write(table.name, header(table), path)
        source = settled(path)
        found = Registered(table, source, 1, "screen", home_of(source).describe(source))
        engines = Engines(self.curator.ledger.secret("order"))
        try:
            with runner({table.name: found}, engines, path.parent) as lent:
                yield lent
        finally:
            engines.close()

    def _moved(self, table: Registered, data: Data) -> Registered:
        """Return a table, and all that its link leads to, with their rows found in these."""
        referred = None if table.referred is None else self._moved(table.referred, data)
        return replace(table.at(settled(self._file(data, table.name))), referred=referred)

    def _place(self, data: Data) -> Path:
        """Return the folder of these rows, written once."""
        if data not in self._places:
            self._places[data] = Path(tempfile.mkdtemp(dir=self._folder.name))
            for name, table in self.tables.items():
                data.write(name, header(table, self._keys.get(name, ())), self._file(data, name))
        return self._places[data]

    def _file(self, data: Data, name: str) -> Path:
        return self._place(data) / f"{list(self.tables).index(name)}.csv"


def settled(path: Path) -> Source:
    """Return a file as a source that an engine can read."""
    source = locate(path)
    return home_of(source).settle(source)
