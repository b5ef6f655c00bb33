"""Subject: what a question is about: a plan over the tables of a session, and the groups it is divided into."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, Self

from discreet.core.column import Column
from discreet.plan.keys import Keys
from discreet.plan.nodes import Derive, Plan, Project, Scan, columns_of, tables_of

if TYPE_CHECKING:
    from discreet.ask.registered import Registered
    from discreet.ask.runner import Runner
    from discreet.ask.work_limits import WorkLimits
    from discreet.core.schema import Table
    from discreet.ledger.charge import Charge, Receipt
    from discreet.ledger.standing import Standing
    from discreet.noise.draws import Draws


class Desk(Protocol):
    """What a question needs of a session: tables, limits, an engine, and the ledger's one door."""

    @property
    def analyst(self) -> str:
        """Who asks."""

    @property
    def grant(self) -> str:
        """The identifier of the grant."""

    def registered(self, name: str) -> Registered:
        """Return a table that the grant covers."""

    def admit(self) -> None:
        """Refuse whoever's grant has ended since."""

    def check(self, registered: Mapping[str, Registered]) -> None:
        """Refuse tables that were declared anew, or whose sources have changed."""

    def runner(self, registered: Mapping[str, Registered]) -> AbstractContextManager[Runner]:
        """Open an engine on tables."""

    def work_limits(self) -> WorkLimits:
        """Return what the policy lets a question cost at least, take at most, and show of its time."""

    def engine(self, registered: Mapping[str, Registered]) -> str:
        """Say which engine computes over these tables, in which version."""

    def run(
        self, charge: Charge, work: Callable[[Draws], str], *, fresh: bool, engine: Callable[[], str]
    ) -> tuple[str, Receipt]:
        """Charge, work and settle, or replay."""

    def standings(self, accounts: Collection[str]) -> list[Standing]:
        """Return the limits that a question about these accounts has to pass."""

    def answered(self, charge: Charge) -> bool:
        """Whether the question of a charge has its answer, which is then replayed for nothing."""

    def failed(self, charge: Charge) -> bool:
        """Whether the question of a charge was paid for and failed, for good."""


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
        if self.snapshot is not None:
            return dict(self.snapshot)
        return {name: self.desk.registered(name) for name in tables_of(self.plan)}

    @property
    def accounts(self) -> list[str]:
        """The accounts that pay for a question about this."""
        return sorted({found.account for found in self.registered.values()})
