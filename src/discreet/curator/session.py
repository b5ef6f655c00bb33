"""Session: what an analyst holds: tables to ask about, and what is left to spend."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, Self

from discreet.core.errors import BadParameter, UnknownName
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.answers.answer import Answer
    from discreet.ask.pmw import Weighed
    from discreet.ask.preview import Preview
    from discreet.ask.priced import Rows
    from discreet.ask.query import Query
    from discreet.ask.registered import Registered
    from discreet.ask.remaining import Remaining
    from discreet.ask.runner import Engines, Runner
    from discreet.ask.work_limits import WorkLimits
    from discreet.core.rational import Number
    from discreet.ledger.charge import Charge, Receipt
    from discreet.ledger.grant import Grant
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.standing import Standing
    from discreet.noise.draws import Draws
    from discreet.plan.nodes import Public


class CuratorLike(Protocol):
    """What a session needs of the curator that opened it."""

    ledger: Ledger

    def tables(self) -> list[str]:
        """Return the names of all tables."""

    def table(self, name: str) -> Registered:
        """Return a registered table."""

    def check(self, name: str, revision: int | None = None) -> None:
        """Refuse a table whose source has changed."""

    def close(self) -> None:
        """Close the vault."""


def files_of(curator: CuratorLike) -> list[str]:
    """Return where the tables of a vault are read from, as far as these are files: nothing is written over them."""
    sources = [curator.table(name).source for name in curator.tables()]
    return [source.path for source in sources if "/" in source.path or source.is_file]


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What a session has read of one state of its vault.

    `replies` are settled answers by their questions, with the tables they are about and what was left then; `previews`
    the same of previews. What is left changes with the state and, where windows begin anew, with the day, so both are
    looked at.
    """

    state: str
    grants: Sequence[Grant] = ()
    tables: dict[str, Registered] = field(default_factory=dict)
    standings: dict[str, tuple[Standing, ...]] = field(default_factory=dict)
    limits: list[WorkLimits] = field(default_factory=list)
    replies: dict[tuple[str, str], tuple[Mapping[str, Registered], Answer]] = field(default_factory=dict)

    previews: dict[tuple[str, str], object] = field(default_factory=dict)


# Answers, and previews, that a session keeps of one state; beyond, all are read again.
_MOST_REPLIES = 1024


class Session:
    """The tables of one grant. Made by `connect(path, token)` or `curator.session(token)`.

    Guarantee: an analyst sees answers, schemas and budgets, never a row; every answer was charged before it was
    computed, to the budget of all tables that share people, anyone who asks.
    """

    __slots__ = ("__weakref__", "_curator", "_engines", "_grant", "_known")

    def __init__(self, curator: CuratorLike, grant: Grant) -> None:
        self._curator = curator
        self._grant = grant
        self._engines: Engines | None = None
        self._known = _Known("")

    def table(self, name: str) -> Query:
        """Return a table to ask about: a question without conditions."""
        from discreet.ask.query import Query
        from discreet.plan.nodes import Scan

        self.registered(name)
        return Query(self, Scan(name))

    def sql(
        self,
        text: str,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        max_rows: Rows = None,
        fresh: bool = False,
        *,
        public: Iterable[Public] = (),
        keys: Mapping[str, Sequence[object]] | None = None,
    ) -> Answer:
        """Ask in SQL, pay, and return the answer: `session.sql("SELECT COUNT(*) FROM visits", epsilon=0.5)`.

        The same question in Python has the same key: whichever comes second is replayed for free.
        `public` are tables made with `session.public` that the text may join; `keys` declares the keys of a column that
        has none, as in `keys={"city": ["Bern", "Basel"]}`.

        Guarantee: that of `Report.release`; no text of the question reaches an engine, only the plan's own SQL.
        """
        from discreet.ask.sql import spoken

        return spoken(self, text, epsilon, delta, rho, max_rows, public=public, keys=keys).release(fresh=fresh)

    def preview_sql(
        self,
        text: str,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        max_rows: Rows = None,
        *,
        rows: int | None = None,
        public: Iterable[Public] = (),
        keys: Mapping[str, Sequence[object]] | None = None,
        sql: bool = False,
    ) -> Preview:
        """Show what a question in SQL would cost and how far its answer would be off; free, made without any data.

        `sql=True` also shows the statements that the table's engine would run for it.
        """
        from discreet.ask.sql import spoken

        return spoken(self, text, epsilon, delta, rho, max_rows, public=public, keys=keys).preview(rows, sql=sql)

    def pmw(
        self,
        table: str | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        **terms: Any,  # noqa: ANN401  (checked there)
    ) -> Weighed:
        """Begin a session of private multiplicative weights: many counts of a table, for one price, paid now.

        `columns` are those that questions will name, `bins` how many bins numbers get, `alpha` the share of all rows by
        which a guess may be off, `updates` how many may be further off, `questions` how many there will be at most. The
        table may be left out where the grant covers one alone. See `discreet.ask.pmw`.

        Guarantee: the price is in the ledger, in full, before any row is read; easy questions use up none of it.
        """
        from discreet.account.budgets.price import Price
        from discreet.ask.pmw import interactive

        names = self.tables()
        if table is None and len(names) != 1:
            raise BadParameter("table", names, why="a session is about one table", fix="name it: pmw('visits', ...)")
        return interactive(self.table(table or names[0]), Price.of(epsilon, delta, rho), **terms).begin()

    def tables(self) -> list[str]:
        """Return the names of the tables the grant covers."""
        return sorted(self._grant.tables) if self._grant.role == "analyst" else self._curator.tables()

    def remaining(self) -> Remaining:
        """Return what this analyst may still spend: under the grant, this month, and of the tables' own budgets."""
        from discreet.ask.remaining import Remaining

        self.admit()
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
        known = self._admitted()
        if name not in known.tables:
            known.tables[name] = self._curator.table(name)
        return known.tables[name]

    def admit(self) -> None:
        """Refuse a grant that was revoked or has expired since: it opens no schema, preview or answer any more."""
        self._admitted()

    def _admitted(self) -> _Known:
        """Check the grant, and return what was read of the vault since it last changed: `visits.age` reads no table."""
        ledger, known = self._curator.ledger, self._known
        state = ledger.state
        if known.state != state:
            grants = [grant for grant in ledger.grants() if grant.id == self._grant.id]
            known = self._known = _Known(state, grants, {})
        for grant in known.grants:
            ledger.admit(grant)
        return known

    def check(self, registered: Mapping[str, Registered]) -> None:
        """Refuse tables that are not what they were: declared again since, or with sources that have changed."""
        from discreet.ledger.refusals import Conflict

        for name, found in registered.items():
            if self.registered(name).revision != found.revision:
                why = "its custodian declared or refreshed it while the question was being asked"
                raise Conflict(f"table {name!r}", why=why, fix="ask again, about the table as it is now", value=name)
            self._curator.check(name, found.revision)

    def replay(self, question: str) -> Answer | None:
        """Return the settled answer to a question that was replayed before, if nothing has happened since.

        Guarantee: whoever's grant has ended is refused, and so is a question about a source that has changed; where the
        policy sets a pace, a replay keeps it.
        """
        known = self._admitted()
        found = known.replies.get((question, self._day()))
        if found is None:
            return None
        with self._limits(known).paced():
            for name, table in found[0].items():  # as they are declared in this state
                self._curator.check(name, table.revision)
            return found[1]

    def keep(self, question: str, registered: Mapping[str, Registered], answer: Answer, known: object) -> None:
        """Keep a replayed answer for as long as nothing happens in the vault; `known` is from before it was read."""
        if known is self._known:
            if len(self._known.replies) >= _MOST_REPLIES:
                self._known.replies.clear()
            self._known.replies[question, self._day()] = registered, answer

    def previewed(self, question: str) -> object | None:
        """Return the preview of a question that was previewed before, if nothing has happened since."""
        return self._admitted().previews.get((question, self._day()))

    def keep_preview(self, question: str, preview: object, known: object) -> None:
        """Keep a preview for as long as nothing happens in the vault; `known` is from before it was made."""
        if known is self._known:
            if len(self._known.previews) >= _MOST_REPLIES:
                self._known.previews.clear()
            self._known.previews[question, self._day()] = preview

    @property
    def known(self) -> object:
        """What stands for the state that the session has read last."""
        return self._known

    def _day(self) -> str:
        """Return the vault's day as it was when it was last looked at, by which windows begin anew."""
        return self._curator.ledger.today()

    def runner(self, registered: Mapping[str, Registered]) -> AbstractContextManager[Runner]:
        """Open an engine on tables of the grant, for as long as the policy's deadline lets it work."""
        from discreet.ask.runner import runner
        from discreet.ask.work_limits import DEADLINE_PASSED

        ledger = self._curator.ledger

        def late() -> None:
            ledger.refused(self.analyst, f"a question about {', '.join(sorted(registered))}", DEADLINE_PASSED)

        seconds = float(self.work_limits().deadline)
        return runner(registered, self._opened(), ledger.secret("order"), ledger.folder, seconds, late)

    def engine(self, registered: Mapping[str, Registered]) -> str:
        """Say which engine computes over these tables, in which version."""
        from discreet.ask.runner import engine_words

        return engine_words(registered, self._opened())

    def work_limits(self) -> WorkLimits:
        """Return what the policy lets a question cost at least, take at most, and show of its time."""
        return self._limits(self._admitted())

    def _limits(self, known: _Known) -> WorkLimits:
        from discreet.ask.work_limits import WorkLimits

        if not known.limits:
            known.limits.append(WorkLimits.of(self._curator.ledger))
        return known.limits[0]

    def run(
        self, charge: Charge, work: Callable[[Draws], str], *, fresh: bool, engine: Callable[[], str]
    ) -> tuple[str, Receipt]:
        """Charge, work and settle, or replay; a price below the policy's least is refused before that.

        Guarantee: where the policy sets a pace, neither the response nor what is settled shows more of the time.
        """
        limits = self.work_limits()
        with limits.paced() as pace:
            if fresh or not self._curator.ledger.answer(charge.key):
                self._check_price(limits, charge)

            def paced(draws: Draws) -> str:
                with pace.working():
                    return work(draws)

            return self._curator.ledger.run(charge, paced, fresh=fresh, engine=engine)

    def _check_price(self, limits: WorkLimits, charge: Charge) -> None:
        for standing in self._curator.ledger.standing():
            if standing.scope == "account" and standing.account in charge.losses:
                limits.check_price(standing.account, standing.filter, charge.losses[standing.account])

    def _opened(self) -> Engines:
        from discreet.ask.runner import Engines

        if self._engines is None:
            self._engines = Engines(self._curator.ledger.secret("order"))
        return self._engines

    def standings(self, accounts: Collection[str]) -> list[Standing]:
        """Return the limits that a question about these accounts has to pass."""
        known, day = self._admitted(), self._day()
        if day not in known.standings:
            known.standings[day] = self._curator.ledger.standing()
        found = known.standings[day]
        return [each for each in found if each.account in accounts and each.analyst in (None, self._grant.analyst)]

    def answered(self, charge: Charge) -> bool:
        """Whether the question of a charge has its answer, which is then replayed for free.

        Guarantee: this tells no more than asking does: a settled answer is replayed to all who may ask about its
        tables, and whether there is one depends on what was asked, never on data.
        """
        return self._curator.ledger.answer(charge.key) is not None

    def failed(self, charge: Charge) -> bool:
        """Whether the question of a charge was paid for and failed, which anyone who asks it again is told for free."""
        return self._curator.ledger.failed(charge.key)
