"""Parts: how one answer of a running release is begun, settled and found again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from discreet.core.errors import Refusal
from discreet.core.value import dataclass
from discreet.ledger import debit
from discreet.ledger.artefacts.artefact import Artefact
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.entry import canonical, digest
from discreet.ledger.lease import MOST_BEGUN, Lease
from discreet.ledger.refusals import AccessRefused, Conflict, LeaseLost, Tampered
from discreet.ledger.store import Attempt, Debit, Part, Run, Settled, Transaction

# What a worker is called in the vault: enough for a custodian to find the process, and of no other use.
_HOLDER = "process"


class RunBehind(Refusal):
    """A part that was asked for by someone who does not know all parts before it: others went on meanwhile."""


class RunEnded(Refusal):
    """A running release that has ended: there are no more parts."""


@dataclass(frozen=True, slots=True)
class SettledPart:
    """One answer of a running release: its number, and its text or the file that has it; None if it has failed."""

    number: int
    answer: str | Artefact | None


def found(transaction: Transaction, key: str) -> tuple[Debit, Run]:
    """Return a running release and its debit, or refuse what is none."""
    there, run = transaction.get(Debit, key), transaction.get(Run, key)
    if there is None or run is None:
        why, fix = "there is none of that name", "take the key from the receipt of a running release"
        raise Conflict("the running release", why=why, fix=fix, value=key)
    return there, run


def check_open(there: Debit) -> None:
    """Refuse a running release that has ended."""
    if there.settled is not None:
        how = "it has failed" if there.failed else "all of it was settled"
        fix = "begin another, which is charged again"
        raise RunEnded("the running release", why=f"it has ended: {how}", fix=fix, value=there.key)


def check_analyst(transaction: Transaction, there: Debit, analyst: str | None) -> dict[str, Any]:
    """Return what was charged, or refuse a running release that another analyst has begun."""
    entry = transaction.entry(there.sequence)
    body = entry.record() if entry else {}
    if entry is None or (entry.kind, body.get("key")) != ("charge", there.key):
        why = "a debit names it, and it is missing or another's"
        raise Tampered(f"entry {there.sequence}", why=why, sequence=there.sequence)
    if body["analyst"] != analyst:
        why, fix = "another analyst has begun it", "begin one of your own"
        raise AccessRefused("the running release", why=why, fix=fix, value=there.key)
    return body


def binding(asked: str, engine: str, charged: str, state: str) -> str:
    """Return what has to be the same when a part is drawn for again, as one digest: else it has failed.

    What is asked, the private state before it, the charge with its tables, the engine, the code, samplers, numpy and
    the processor: the same draws on anything else would tell the difference exactly.
    """
    from discreet.ledger.sealed_key import made_by

    return digest(asked, engine, charged, state, canonical(made_by()))


def begin(transaction: Transaction, run: Run, bound: str, mine: Lease, now: datetime) -> Run:
    """Note that the next part is begun, and return the release; a part that was begun in another way has failed.

    Guarantee: a part is drawn for again only if everything is as it was, and at most so many times.
    """
    attempt = transaction.get(Attempt, run.key)
    if attempt is not None and (attempt.binding != bound or attempt.begun >= MOST_BEGUN):
        settle(transaction, run, mine, now, None, "")
        _, run = found(transaction, run.key)
        attempt = None
    begun = attempt.begun + 1 if attempt else 1
    transaction.put(Attempt(run.key, run.parts + 1, bound, begun, f"{_HOLDER} {os.getpid()}"))
    return run


def settle(
    transaction: Transaction,
    run: Run,
    mine: Lease,
    now: datetime,
    answer: str | None,
    state: str,
    artefacts: Sequence[Artefact] = (),
) -> int:
    """Append the entry that settles the next part, by the hash of its answer or as failed, and return its number."""
    body: dict[str, Any] = {"charge": run.sequence, "key": run.key, "number": run.parts + 1, "fence": mine.fence}
    body |= {"answer": answer, "state": state, "at": written(now)}
    body |= {"artefacts": [each.record() for each in artefacts]} if artefacts else {}
    entry = enter(transaction, "part", body)
    if (attempt := transaction.get(Attempt, run.key)) is not None:
        transaction.delete(attempt)
    return entry.sequence


def check_held(transaction: Transaction, run: Run, mine: Lease) -> Run:
    """Return the release as it is now; refuse whoever lost the lease on it, or comes after someone else's part."""
    held, now = transaction.get(Lease, run.key), transaction.get(Run, run.key)
    if held is None or now is None or (held.fence, now.parts) != (mine.fence, run.parts):
        why, fix = "another worker goes on with it", "ask again, after the parts that are settled meanwhile"
        raise LeaseLost(f"a part of {run.key}", why=why, fix=fix, value=mine)
    return now


def settled(transaction: Transaction, run: Run, number: int) -> SettledPart:
    """Return a settled part, or refuse one that is not as it was settled."""
    row = transaction.get(Part, run.key, number)
    entry = transaction.entry(row.sequence) if row else None
    body = entry.record() if entry else {}
    named = (entry and entry.kind, body.get("key"), body.get("number"))
    if row is None or named != ("part", run.key, number) or body["answer"] != row.digest:
        raise Tampered(f"part {number}", why="it is missing, or is not as it was settled")
    if row.digest is None:
        return SettledPart(number, None)
    there = transaction.get(Settled, row.sequence)
    if there is not None:
        if sha256(there.answer.encode()).hexdigest() != row.digest:
            raise Tampered(f"entry {row.sequence}", why="its settled answer was changed", sequence=row.sequence)
        return SettledPart(number, there.answer)
    for each in debit.artefacts_of(transaction, body):
        if each.sha256 == row.digest:
            return SettledPart(number, each)
    raise Tampered(f"entry {row.sequence}", why="its settled answer is missing", sequence=row.sequence)
