"""The desk of a vault in this process: what a session's verbs go through, for one grant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any

from discreet.ask.request import charge_name
from discreet.core.errors import UnknownName
from discreet.core.value import replace
from discreet.curator.local.curator_like import CuratorLike
from discreet.curator.local.desk_records import DeskRecords
from discreet.curator.session_state import MOST_REPLIES, SessionState
from discreet.ledger.entry import digest
from discreet.ledger.refusals import AccessRefused

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.ask.desk import Progress, RunDoor
    from discreet.ask.public_table import PublicTable
    from discreet.ask.registered import Registered
    from discreet.ask.request import DeskRequest, Fresh, Released
    from discreet.ask.runner import Engines, Runner
    from discreet.ask.work_limits import WorkLimits
    from discreet.ledger.artefacts.settlement import Answered
    from discreet.ledger.charge import Charge, Receipt
    from discreet.ledger.grant import Grant, Role
    from discreet.ledger.standing import Standing
    from discreet.measures.minimum_frequency import MinimumFrequency
    from discreet.noise.draws import Draws


# How many seconds an engine may take to notice that its deadline has passed.
_GRACE = 60.0


class VaultDesk(DeskRecords):
    """A vault at hand, for the holder of one grant: everything that is asked, charged and answered goes through it.

    Guarantee: an analyst sees answers, schemas and budgets, never a row; every answer was charged before it was
    computed, to the budget of all tables that share people, anyone who asks.
    """

    __slots__ = ("__weakref__", "_curator", "_engines", "_grant", "_known")

    def __init__(self, curator: CuratorLike, grant: Grant) -> None:
        self._curator = curator
        self._grant = grant
        self._engines: Engines | None = None
        self._known = SessionState("")

    @property
    def access(self) -> VaultDesk:
        """The vault itself."""
        return self

    @property
    def analyst(self) -> str:
        """The name the grant was made out to."""
        return self._grant.analyst

    @property
    def grant(self) -> str:
        """The identifier of the grant."""
        return self._grant.id

    @property
    def role(self) -> Role:
        """What the grant is for: asking, replays alone, or everything."""
        return self._grant.role

    def preview(self, request: DeskRequest) -> Any:  # noqa: ANN401  (the preview of its verb)
        """Show what a request would cost and how far its answer would be off; free, made without any data."""
        from discreet.ask.verbs import verb_of

        return verb_of(request.verb).preview(request)

    def run(self, request: DeskRequest, *, fresh: Fresh = False, progress: Progress | None = None) -> Released:
        """Pay for a request and return its one answer, or the answer that was paid for before."""
        from discreet.ask.verbs import verb_of

        return verb_of(request.verb).run(request, fresh=fresh, progress=progress)

    def budget(self) -> list[Standing]:
        """Return every limit that questions of this analyst have to pass, as it stands."""
        self.admit()
        return self.standings({self._curator.table(name).account for name in self.tables()})

    def bill(self, tables: Sequence[str], loss: PrivacyLoss, label: str, key: str | None) -> Receipt:
        """Charge for work of this analyst that is done elsewhere.

        Guarantee: the loss passes every limit that a question of this analyst would pass, and is durable on return.
        """
        from discreet.curator.bill import bill

        if self._grant.role == "reader":
            raise _for_readers()
        chosen = [self.registered(name) for name in tables]
        check = partial(self._check_price, self.work_limits())
        receipt = bill(self._curator.ledger, chosen, loss, label, key, grant=self._grant, check=check)
        self._certify(receipt)
        return receipt

    def close(self) -> None:
        """Close the engine and the vault."""
        self.rest()
        self._curator.close()

    def rest(self) -> None:
        """Close the engine, which the next question opens again."""
        if self._engines is not None:
            self._engines.close()

    def registered(self, name: str) -> Registered:
        """Return a table of the grant; one that exists outside it is as unknown as one that does not exist."""
        if not self._grant.covers(name):
            raise UnknownName("table", name, self._grant.tables)
        known = self._admitted()
        if name not in known.tables:
            known.tables[name] = self._curator.table(name)
        return known.tables[name]

    def public_tables(self) -> list[str]:
        """Return the names of the vault's public tables: every grant may join them."""
        return list(self._publics())

    def public_table(self, name: str) -> PublicTable:
        """Return a public table of the vault."""
        known = self._publics()
        if name not in known:
            raise UnknownName("public table", name, known)
        return known[name]

    def _publics(self) -> dict[str, PublicTable]:
        known = self._admitted()
        if not known.publics:
            names = self._curator.public_tables()
            known.publics.append({name: self._curator.public_table(name) for name in names})
        return known.publics[0]

    def admit(self) -> None:
        """Refuse a grant that was revoked or has expired since: it opens no schema, preview or answer any more."""
        self._admitted()

    def _admitted(self) -> SessionState:
        """Check the grant, and return what was read of the vault since it last changed: `visits.age` reads no table."""
        ledger, known = self._curator.ledger, self._known
        state = ledger.state
        if known.state != state:
            grants = [grant for grant in ledger.grants() if grant.id == self._grant.id]
            known = self._known = SessionState(state, grants, {})
        for grant in known.grants:
            ledger.admit(grant)
        return known

    def check(self, registered: Mapping[str, Registered]) -> None:
        """Refuse tables that are not what they were: declared again since, or with sources that have changed."""
        from discreet.ledger.refusals import Conflict

        for name, found in registered.items():
            if [each.revision for each in self.registered(name).chain] != [each.revision for each in found.chain]:
                why = "its custodian declared or refreshed it while the question was being asked"
                raise Conflict(f"table {name!r}", why=why, fix="ask again, about the table as it is now", value=name)
            if any(self.public_table(each.name).revision != each.revision for each in found.beside):
                why = "its custodian refreshed a public table while the question was being asked"
                raise Conflict(f"table {name!r}", why=why, fix="ask again, with the table as it is now", value=name)
            for each in found.read:
                self._curator.check(each.name, each.revision)

    def check_public(self, table: PublicTable) -> None:
        """Refuse a public table that is not what it was: refreshed since, or with a source that has changed."""
        self.public_table(table.name)
        self._curator.check(table.name, table.revision)

    def replay(self, question: str) -> object | None:
        """Return what was kept of the settled answer to a question that was replayed before, if nothing has happened.

        Guarantee: whoever's grant has ended is refused, and so is a question about a source that has changed; where the
        policy sets a pace, a replay keeps it.
        """
        known = self._admitted()
        found = known.replies.get((question, self._day()))
        if found is None:
            return None
        with self._limits(known).paced():
            for table in found[0].values():  # as they are declared in this state
                for each in table.read:
                    self._curator.check(each.name, each.revision)
            return found[1]

    def keep(self, question: str, registered: Mapping[str, Registered], answer: object, known: object) -> None:
        """Keep a replayed answer for as long as nothing happens in the vault; `known` is from before it was read."""
        if known is self._known:
            if len(self._known.replies) >= MOST_REPLIES:
                self._known.replies.clear()
            self._known.replies[question, self._day()] = registered, answer

    def previewed(self, question: str) -> object | None:
        """Return the preview of a question that was previewed before, if nothing has happened since."""
        return self._admitted().previews.get((question, self._day()))

    def replay_at_hand(self, question: str) -> object | None:
        """Return what `replay` would; None where that has to wait for anybody, or would be refused.

        Guarantee: that of `replay`.
        """
        known = self._known_at_hand()
        if known is None or not known.limits or known.limits[0].pace:
            return None
        found = known.replies.get((question, self._day()))
        if found is None:
            return None
        read = [each for table in found[0].values() for each in table.read]
        return found[1] if all(self._curator.is_untouched(each.name, each.revision) for each in read) else None

    def previewed_at_hand(self, question: str) -> object | None:
        """Return what `previewed` would; None where that has to wait for anybody, or would be refused."""
        known = self._known_at_hand()
        return None if known is None else known.previews.get((question, self._day()))

    def _known_at_hand(self) -> SessionState | None:
        """Return what was read of the vault, if it is seen at once that it has not changed, and the grant stands."""
        known, ledger = self._known, self._curator.ledger
        if not known.grants or ledger.state_at_hand != known.state:
            return None
        return known if all(ledger.stands(grant) for grant in known.grants) else None

    def keep_preview(self, question: str, preview: object, known: object) -> None:
        """Keep a preview for as long as nothing happens in the vault; `known` is from before it was made."""
        if known is self._known:
            if len(self._known.previews) >= MOST_REPLIES:
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
        return runner(registered, self._opened(), ledger.folder, seconds, late)

    def engine(self, registered: Mapping[str, Registered]) -> str:
        """Say which engine computes over these tables, in which version."""
        from discreet.ask.runner import engine_words

        return engine_words(registered, self._opened())

    def work_limits(self) -> WorkLimits:
        """Return what the policy lets a question cost at least, take at most, and show of its time."""
        return self._limits(self._admitted())

    def minimum_frequency(self) -> MinimumFrequency:
        """Return below how many people the policy has groups withheld."""
        from discreet.measures.minimum_frequency import KIND, NONE, MinimumFrequency

        known = self._admitted()
        if not known.frequency:
            found = self._curator.ledger.list(KIND)
            known.frequency.append(MinimumFrequency.of(found) if found else NONE)
        return known.frequency[0]

    def _limits(self, known: SessionState) -> WorkLimits:
        from discreet.ask.work_limits import WorkLimits

        if not known.limits:
            known.limits.append(WorkLimits.of(self._curator.ledger))
        return known.limits[0]

    def charge(
        self, charge: Charge, work: Callable[[Draws], Answered], *, fresh: Fresh, engine: Callable[[], str]
    ) -> tuple[str, Receipt]:
        """Charge, work and settle, or replay; a price below the policy's least is refused before that.

        `fresh` may name the fresh charge by a text of the analyst's own: a retry under it is a replay.

        An engine that does not return from its deadline keeps nobody waiting: its question may be taken over.

        Guarantee: where the policy sets a pace, neither the response nor what is settled shows more of the time.
        """
        if isinstance(fresh, str):
            charge, fresh = replace(charge, key=digest("fresh", self.analyst, charge_name(fresh))), False
        if self._grant.role == "reader" and (fresh or not self._curator.ledger.answer(charge.key)):
            raise _for_readers()
        limits = self.work_limits()
        with limits.paced() as pace:
            if fresh or not self._curator.ledger.answered(charge.key):
                self._check_price(limits, charge)

            def paced(draws: Draws) -> Answered:
                with pace.working():
                    return work(draws)

            engines, thread, longest = self._opened(), get_ident(), float(limits.deadline) + _GRACE

            def alive() -> bool:
                return engines.lent_for(thread) <= longest

            text, receipt = self._curator.ledger.run(charge, paced, fresh=bool(fresh), engine=engine, alive=alive)
            self._certify(receipt)
            return text, receipt

    @property
    def runs(self) -> RunDoor:
        """What a running release needs of the vault."""
        from discreet.curator.local.desk_runs import DeskRuns

        return DeskRuns(self._curator.ledger, self, self._opened())

    def check_price(self, charge: Charge) -> None:
        """Refuse a reader, who pays for nothing, and a price below the policy's least."""
        if self._grant.role == "reader":
            raise _for_readers()
        self._check_price(self.work_limits(), charge)

    def _certify(self, receipt: Receipt) -> None:
        """Keep the certificate of what was released now, where the policy wants one of every release."""
        from discreet.curator.disclosure.certificates import KIND, CertificatePolicy

        ledger = self._curator.ledger
        if not receipt.replayed and ledger.list(KIND):
            CertificatePolicy.of(ledger).keep(ledger, receipt.sequence)

    def _check_price(self, limits: WorkLimits, charge: Charge) -> None:
        for standing in self._curator.ledger.standing():
            if standing.scope == "account" and standing.account in charge.losses:
                limits.check_price(standing.account, standing.filter, charge.losses[standing.account])

    def _opened(self) -> Engines:
        """Return the engines of the order of rows that holds now: the vault's secret may have been exchanged."""
        from discreet.ask.runner import Engines

        secret, engines = self._curator.ledger.secret("order"), self._engines
        if engines is None or engines.secret != secret:
            if engines is not None:
                engines.close()
            engines = self._engines = Engines(secret)
        return engines

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
        return self._curator.ledger.answered(charge.key)

    def failed(self, charge: Charge) -> bool:
        """Whether the question of a charge was paid for and failed, which anyone who asks it again is told for free."""
        return self._curator.ledger.failed(charge.key)


def _for_readers() -> AccessRefused:
    why, fix = "this grant is for answers that were paid for before", "ask the custodian for an analyst's grant"
    return AccessRefused("this question", why=why, fix=fix)
