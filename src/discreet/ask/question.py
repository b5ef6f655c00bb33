"""Asking: a question without its price: what it is about, its aggregates, and how they share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import field
from fractions import Fraction
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, Self

from discreet.core.column import Column
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.rational import Number, as_written
from discreet.core.value import dataclass, replace
from discreet.measures.reach import word_of
from discreet.plan.aggregates import Aggregate
from discreet.plan.keys import Keys
from discreet.plan.nodes import Derive, Plan, Project, Scan, columns_of, tables_of

if TYPE_CHECKING:
    from discreet.answers.answer import Answer
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

    @property
    def known(self) -> object:
        """What stands for the state of the vault that was read last."""

    def replay(self, question: str) -> Answer | None:
        """Return the settled answer to a question that was kept, if nothing has happened since."""

    def keep(self, question: str, registered: Mapping[str, Registered], answer: Answer, known: object) -> None:
        """Keep a replayed answer for as long as nothing happens."""

    def previewed(self, question: str) -> object | None:
        """Return the preview of a question that was kept, if nothing has happened since."""

    def keep_preview(self, question: str, preview: object, known: object) -> None:
        """Keep a preview for as long as nothing happens."""


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


@dataclass(frozen=True, slots=True, repr=False)
class Question:
    """Aggregates of a subject, each a column of the answer, and the weights by which they share a price."""

    query: QueryBase
    aggregates: tuple[tuple[str, Aggregate], ...]
    weights: tuple[tuple[str, Fraction], ...] = ()

    def __repr__(self) -> str:
        asked = (
            f"{name} = {word_of(each)}({', '.join(map(repr, each.expressions))})" for name, each in self.aggregates
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
