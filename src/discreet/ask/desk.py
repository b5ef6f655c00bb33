"""Desk: the one interface between the verbs of a session and the vault: in this process, or behind a server."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.ask.public_table import PublicTable
    from discreet.ask.registered import Registered
    from discreet.ask.release_list import Release
    from discreet.ask.request import DeskRequest, Fresh, Released
    from discreet.ask.runner import Runner
    from discreet.ask.work_limits import WorkLimits
    from discreet.ledger.artefacts.artefact import Artefact
    from discreet.ledger.artefacts.folder import ArtefactFolder
    from discreet.ledger.artefacts.settlement import Answered
    from discreet.ledger.charge import Charge, Receipt
    from discreet.ledger.entry import Head
    from discreet.ledger.integrity.certificate import Certificate
    from discreet.ledger.oversight.approval import ApprovalRequest
    from discreet.ledger.running.runs import PartWork
    from discreet.ledger.standing import Standing
    from discreet.measures.minimum_frequency import MinimumFrequency
    from discreet.noise.draws import Draws

PartText = tuple[int, str]
Progress = Callable[[Any], None]


class Desk(Protocol):
    """What the verbs of a session need: declarations, previews, answers, and what is left of the budgets.

    A verb that is added needs nothing more here: what it asks is a `DeskRequest`, and what it gets a `Released`.
    """

    @property
    def analyst(self) -> str:
        """Who asks."""

    @property
    def access(self) -> Access:
        """The vault itself; refused where it is behind a server, which does there what needs it."""

    def tables(self) -> list[str]:
        """Return the names of the tables that may be asked about."""

    def registered(self, name: str) -> Registered:
        """Return a table that the grant covers."""

    def public_tables(self) -> list[str]:
        """Return the names of the public tables that may be joined."""

    def public_table(self, name: str) -> PublicTable:
        """Return a public table of the vault."""

    def work_limits(self) -> WorkLimits:
        """Return what the policy lets a question cost at least, take at most, and show of its time."""

    def minimum_frequency(self) -> MinimumFrequency:
        """Return below how many people groups are withheld."""

    def preview(self, request: DeskRequest) -> Any:  # noqa: ANN401  (the preview of its verb)
        """Show what a request would cost and how far its answer would be off; free, made without any data."""

    def run(self, request: DeskRequest, *, fresh: Fresh = False, progress: Progress | None = None) -> Released:
        """Pay for a request and return its one answer, or the answer that was paid for before.

        Guarantee: the price is in the ledger before any row is read, and only what was settled is returned.
        """

    def budget(self) -> Sequence[Standing]:
        """Return every limit that questions of this analyst have to pass, as it stands."""

    def releases(self) -> Sequence[Release]:
        """Return what this analyst has paid for, the newest last."""

    def artefact(self, name: str, place: Path) -> Artefact:
        """Copy a file that was published about tables of the grant to a new place, once it is found to be whole."""

    def pending(self) -> Sequence[ApprovalRequest]:
        """Return this analyst's questions that wait for the custodian's approval, were denied, or were approved."""

    def show(self, receipts: Sequence[object]) -> str | None:
        """Compare the vault with receipts that it gave; return why it is frozen, None if it is not."""

    def head(self) -> Head:
        """Return the end of the ledger's chain: whoever keeps it can tell a vault that was put back."""

    def bill(self, tables: Sequence[str], loss: PrivacyLoss, label: str, key: str | None) -> Receipt:
        """Charge for work of this analyst that is done elsewhere."""

    def certificate(self, receipt: Receipt | Mapping[str, Any] | None) -> Certificate:
        """Return the signed certificate of the release that a receipt is about."""

    def files(self) -> Sequence[str]:
        """Return where tables are read from, as far as these are files: nothing is written over them."""

    def close(self) -> None:
        """Let go of engines and connections."""


class RunDoor(Protocol):
    """What a running release needs of the vault: one charge, and its parts one after the other."""

    def begin(self, charge: Charge, kind: str) -> Receipt:
        """Charge for a running release, whose parts are settled one by one."""

    def open(self, key: str) -> tuple[Charge, Receipt]:
        """Return what a running release of this analyst was charged for."""

    def part(self, key: str, asked: str, work: PartWork, registered: Mapping[str, Registered], known: int) -> PartText:
        """Work on the next part of a running release, settle it, and return its number and its text."""

    def parts(self, key: str, after: int = 0) -> list[tuple[int, str | None]]:
        """Return the settled parts of a running release; those that failed have no text."""

    def end(self, key: str, *, failed: bool = False) -> None:
        """End a running release."""


class Access(Desk, Protocol):
    """What the work on a question needs of the vault: an engine, limits, and the ledger's one door."""

    @property
    def grant(self) -> str:
        """The identifier of the grant."""

    def admit(self) -> None:
        """Refuse whoever's grant has ended since."""

    def check(self, registered: Mapping[str, Registered]) -> None:
        """Refuse tables that were declared anew, or whose sources have changed."""

    def check_public(self, table: PublicTable) -> None:
        """Refuse a public table that was refreshed, or whose source has changed."""

    def runner(self, registered: Mapping[str, Registered]) -> AbstractContextManager[Runner]:
        """Open an engine on tables."""

    def engine(self, registered: Mapping[str, Registered]) -> str:
        """Say which engine computes over these tables, in which version."""

    def charge(
        self, charge: Charge, work: Callable[[Draws], Answered], *, fresh: Fresh, engine: Callable[[], str]
    ) -> tuple[str, Receipt]:
        """Charge, work and settle, or replay."""

    @property
    def runs(self) -> RunDoor:
        """What a running release needs of the vault."""

    def artefacts(self) -> ArtefactFolder:
        """Return where work writes the files that are published with its answer."""

    def standings(self, accounts: Collection[str]) -> list[Standing]:
        """Return the limits that a question about these accounts has to pass."""

    def answered(self, charge: Charge) -> bool:
        """Whether the question of a charge has its answer, which is then replayed for nothing."""

    def failed(self, charge: Charge) -> bool:
        """Whether the question of a charge was paid for and failed, for good."""

    @property
    def known(self) -> object:
        """What stands for the state of the vault that was read last."""

    def replay(self, question: str) -> object | None:
        """Return what was kept of the settled answer to a question, if nothing has happened since."""

    def keep(self, question: str, registered: Mapping[str, Registered], answer: object, known: object) -> None:
        """Keep a replayed answer for as long as nothing happens."""

    def previewed(self, question: str) -> object | None:
        """Return the preview of a question that was kept, if nothing has happened since."""

    def keep_preview(self, question: str, preview: object, known: object) -> None:
        """Keep a preview for as long as nothing happens."""
