"""Session: what an analyst holds: tables to ask about, and what is left to spend."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from discreet.core.errors import UnknownName

if TYPE_CHECKING:
    from discreet.curator.query import Query
    from discreet.curator.register import Registered
    from discreet.curator.remaining import Remaining
    from discreet.curator.runner import Engines, Runner
    from discreet.ledger.charge import Charge, Receipt
    from discreet.ledger.grant import Grant
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.standing import Standing
    from discreet.plan.nodes import Public


class Keeper(Protocol):
    """What a session needs of the curator that opened it."""

    path: Path
    ledger: Ledger

    def tables(self) -> list[str]:
        """Return the names of all tables."""

    def table(self, name: str) -> Registered:
        """Return a registered table."""

    def check(self, name: str) -> None:
        """Refuse a table whose source has changed."""

    def close(self) -> None:
        """Close the vault."""


class Session:
    """The tables of one grant. Made by `connect(path, token)` or `curator.session(token)`.

    Guarantee: an analyst sees answers, schemas and budgets, never a row; every answer was charged before it was
    computed, to the budget of all tables that share people, whoever asks.
    """

    __slots__ = ("__weakref__", "_curator", "_engines", "_grant")

    def __init__(self, curator: Keeper, grant: Grant) -> None:
        self._curator = curator
        self._grant = grant
        self._engines: Engines | None = None

    def table(self, name: str) -> Query:
        """Return a table to ask about: a question without conditions."""
        from discreet.curator.query import Query
        from discreet.plan.nodes import Scan

        self.registered(name)
        return Query(self, Scan(name))

    def tables(self) -> list[str]:
        """Return the names of the tables the grant covers."""
        return sorted(self._grant.tables) if self._grant.role == "analyst" else self._curator.tables()

    def remaining(self) -> Remaining:
        """Return what this analyst may still spend: under the grant, this month, and of the tables' own budgets."""
        from discreet.curator.remaining import Remaining

        accounts = {self._curator.table(name).account for name in self.tables()}
        return Remaining(tuple(self.standings(accounts)))

    @property
    def analyst(self) -> str:
        """The name the grant was made out to."""
        return self._grant.analyst

    def close(self) -> None:
        """Close the engine and the vault."""
        if self._engines is not None:
            self._engines.close()
        self._curator.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Session({self.analyst!r}, tables={self.tables()!r})"

    def public(self, name: str, data: Mapping[str, Sequence[object]]) -> Public:
        """Return a public table to join with, or to take keys from, by its columns: {"ward": ["A"], "floor": [1]}."""
        from discreet.plan.nodes import public

        return public(name, data)

    # What questions need of it -----------------------------------------------------------------------------------

    @property
    def grant(self) -> str:
        """The identifier of the grant."""
        return self._grant.id

    def registered(self, name: str) -> Registered:
        """Return a table of the grant; one that exists outside it is as unknown as one that does not exist."""
        if not self._grant.covers(name):
            raise UnknownName("table", name, self._grant.tables)
        return self._curator.table(name)

    def check(self, registered: Mapping[str, Registered]) -> None:
        """Refuse tables that are not what they were: declared anew since, or with sources that have changed."""
        from discreet.ledger.refusals import Conflict

        for name, found in registered.items():
            if self.registered(name).revision != found.revision:
                why = "its custodian declared or refreshed it while the question was being asked"
                raise Conflict(f"table {name!r}", why=why, fix="ask again, about the table as it is now", value=name)
            self._curator.check(name)

    def runner(self, registered: Mapping[str, Registered]) -> AbstractContextManager[Runner]:
        """Open an engine on tables of the grant."""
        from discreet.curator.runner import Engines, folder_of, runner

        secret = self._curator.ledger.secret("order")
        if self._engines is None:
            self._engines = Engines(secret)
        return runner(registered, self._engines, secret, folder_of(self._curator.path))

    def run(self, charge: Charge, work: Callable[[], str], *, fresh: bool) -> tuple[str, Receipt]:
        """Charge, work and settle, or replay."""
        return self._curator.ledger.run(charge, work, fresh=fresh)

    def standings(self, accounts: Collection[str]) -> list[Standing]:
        """Return the limits that a question about these accounts has to pass."""
        found = self._curator.ledger.standing()
        return [each for each in found if each.account in accounts and each.grant in (None, self._grant.id)]
