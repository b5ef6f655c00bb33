"""Takeovers: who may go on with a question that was paid for and not answered; and answers kept to be settled later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from discreet.core.value import dataclass, replace
from discreet.ledger import debit
from discreet.ledger.artefacts.settlement import Settlement
from discreet.ledger.charge import Charge, Receipt
from discreet.ledger.clock import written
from discreet.ledger.debit import StandingCharge
from discreet.ledger.lease import MOST_BEGUN, Lease
from discreet.ledger.refusals import Conflict, Unavailable
from discreet.ledger.store import Transaction

# Calendars end then; a lease may be longer.
_LATEST = 253402300799.0
# Longer answers are not kept, and their questions fail at once: no vault may be able to store them.
MOST_CHARACTERS = 100_000_000


def continued(
    transaction: Transaction, found: StandingCharge, opened: Callable[[], bytes | None], now: datetime, first: float
) -> tuple[StandingCharge, bytes | None]:
    """Return a charge whose lease is free, with the key to draw by; one that nobody may go on with has failed.

    Not so while whoever began it may be at work, beyond the end of the lease: then it is stranded. `opened` returns the
    key where everything is as it was at the charge; `first` is how long a first worker is left alone.
    """
    held = found.lease
    begun = held.fence if held else 0
    if held is not None and held.fence == 0:  # work that is done once, and was not begun
        return found, None
    key = opened() if begun < MOST_BEGUN else None
    if key is not None:
        return found, key
    if held is not None and begun < MOST_BEGUN and now.timestamp() < held.alive_until(first):
        return replace(found, stranded=True), None
    debit.settle(transaction, found.receipt, begun + 1, now, None)
    if held is not None:
        transaction.delete(held)
    return replace(found, failed=True), None


def busy(found: StandingCharge, first: float) -> Conflict:
    """Say that someone is, or may be, working on a question that nobody else can go on with, and until when."""
    until = found.lease.alive_until(first) if found.lease else 0.0
    ends = written(datetime.fromtimestamp(min(until, _LATEST), UTC))
    why = "someone is working on it, or has died"
    if found.stranded:
        why = "it was begun on another machine, or by another version or engine, where someone may be working on it"
    fix = f"wait and ask again, until {ends}, when it counts as failed; or pay for another with fresh=True"
    return Conflict("the question", why=why, fix=fix, value=found.receipt.key)


def perhaps_paid(error: Unavailable) -> Unavailable:
    """Say of a charge under a key of its own, which is not known to be there, what asking again means."""
    fix = "look at what was spent before you ask again: what was charged has no answer, and another is paid for"
    return Unavailable(error.what, why=error.why, fix=fix, value=error.value)


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What is to be settled: the charge, its lease and the answer, None if it has failed."""

    charge: Charge
    receipt: Receipt
    lease: Lease
    answer: Settlement | None

    @property
    def worth_keeping(self) -> bool:
        """Whether there is an answer, and one that a vault can be expected to store."""
        return self.answer is not None and len(self.answer.text or "") <= MOST_CHARACTERS


class KeptAnswers(dict[str, KeptAnswer]):
    """The kept answers of one process, by the keys of their charges."""

    def add(self, kept: KeptAnswer) -> None:
        """Keep an answer."""
        self[kept.charge.key] = kept

    def like(self, charge: Charge) -> Charge | None:
        """Return a charge like this one that was made under a key of its own and has an answer here."""
        what = (charge.identity, charge.price, charge.analyst)
        made = [
            each.charge for each in self.values() if each.answer is not None and each.charge.key != each.charge.identity
        ]
        return next((each for each in made if (each.identity, each.price, each.analyst) == what), None)


def keeping(error: Unavailable) -> Unavailable:
    """Say of a vault that cannot be written that this process keeps the answer."""
    fix = f"{error.fix}, in this process, which keeps the answer until it ends: without it the question has failed"
    return Unavailable(error.what, why=error.why, fix=fix, value=error.value)
