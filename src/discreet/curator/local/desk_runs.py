"""Running releases at the desk of a vault: charged, worked on, settled and ended under the rules of its policy."""

from __future__ import annotations

from collections.abc import Mapping
from threading import get_ident
from typing import TYPE_CHECKING, Protocol

from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.ask.registered import Registered
    from discreet.ask.runner import Engines
    from discreet.ask.work_limits import WorkLimits
    from discreet.ledger.charge import Charge, Receipt
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.running.runs import PartDone, PartWork
    from discreet.noise.draws import Draws

# How many seconds an engine may take to notice that its deadline has passed.
GRACE = 60.0


class GrantLike(Protocol):
    """What a running release needs of the desk: whose it is, and what the policy says."""

    @property
    def analyst(self) -> str:
        """The name the grant was made out to."""

    def admit(self) -> None:
        """Refuse a grant that has ended."""

    def check_price(self, charge: Charge) -> None:
        """Refuse a price below the policy's least."""

    def work_limits(self) -> WorkLimits:
        """Return what the policy lets a question take at most, and show of its time."""

    def engine(self, registered: Mapping[str, Registered]) -> str:
        """Say which engine computes over tables, in which version."""


@dataclass(frozen=True, slots=True)
class DeskRuns:
    """The running releases of one grant's analyst."""

    ledger: Ledger
    desk: GrantLike
    engines: Engines

    def begin(self, charge: Charge, kind: str) -> Receipt:
        """Charge for a running release; a price below the policy's least is refused before that."""
        self.desk.check_price(charge)
        return self.ledger.begin_run(charge, kind)

    def open(self, key: str) -> tuple[Charge, Receipt]:
        """Return what a running release of this analyst was charged for."""
        self.desk.admit()
        return self.ledger.open_run(key, self.desk.analyst)

    def part(
        self, key: str, asked: str, work: PartWork, registered: Mapping[str, Registered], known: int
    ) -> tuple[int, str]:
        """Work on the next part of a running release, settle it, and return its number and its text.

        Guarantee: where the policy sets a pace, neither the response nor what is settled shows more of the time.
        """
        limits, thread = self.desk.work_limits(), get_ident()
        longest = float(limits.deadline) + GRACE
        with limits.paced() as pace:

            def paced(draws: Draws, state: bytes) -> PartDone:
                with pace.working():
                    return work(draws, state)

            return self.ledger.part(
                key,
                asked,
                paced,
                known=known,
                engine=lambda: self.desk.engine(registered),
                alive=lambda: self.engines.lent_for(thread) <= longest,
            )

    def parts(self, key: str, after: int = 0) -> list[tuple[int, str | None]]:
        """Return the settled parts of a running release; those that failed have no text."""
        self.desk.admit()
        return self.ledger.parts(key, after)

    def end(self, key: str, *, failed: bool = False) -> None:
        """End a running release."""
        self.ledger.end_run(key, failed=failed)
