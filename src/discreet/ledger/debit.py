"""Debits: how a charge becomes an entry, once, and how it is found again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from discreet.core.errors import Refusal
from discreet.core.value import dataclass, replace
from discreet.core.version import __version__
from discreet.ledger import limit
from discreet.ledger.artefacts.artefact import Artefact
from discreet.ledger.charge import Charge, Receipt, read_losses
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.entry import Entry
from discreet.ledger.grant import Grant
from discreet.ledger.integrity.attestation import statement
from discreet.ledger.lease import Lease
from discreet.ledger.oversight import alert, approval, charge_policy
from discreet.ledger.oversight.charge_policy import ChargePolicy
from discreet.ledger.refusals import AccessRefused, Conflict, Tampered
from discreet.ledger.sealed_key import NewKey
from discreet.ledger.store import (
    AnalystTally,
    Debit,
    Limit,
    Paper,
    Permit,
    Run,
    Settled,
    StoredArtefact,
    StoredDraw,
    Transaction,
    Wanted,
)

# How long after its lease a question that could be asked again waits for that.
_KEPT = timedelta(days=1)
# Characters of a question, and of its losses, in the entry of a refusal.
MOST_REFUSED = 2_000


@dataclass(frozen=True, slots=True)
class StandingCharge:
    """A charge that stands: its receipt, and its answer if that is settled, or the lease under which someone works.

    An answer is a text, or the file that has it. `failed` says that it was settled without one; `commitment` is what
    its entry says of the key that its noise is drawn by, None where the work is done once; `repriced` that it was
    charged at another price than is asked now; `stranded` that it cannot be worked on here, while whoever began it may
    be at work.
    """

    receipt: Receipt
    answer: str | Artefact | None = None
    lease: Lease | None = None
    failed: bool = False
    commitment: str | None = None
    repriced: bool = False
    stranded: bool = False


def sought(charge: Charge) -> list[Wanted]:
    """Return the rows that finding a charge looks at."""
    permit: list[Wanted] = [(Permit, charge.grant)] if charge.grant is not None else []
    return [(Debit, charge.key), (Lease, charge.key), (StoredDraw, charge.key), *permit]


def changed(charge: Charge) -> list[Wanted]:
    """Return the rows that making a charge changes or goes by: limits, what the analyst has spent, the policy."""
    tallies = [(AnalystTally, account, charge.analyst) for account in charge.losses if charge.analyst is not None]
    policy = (Paper, charge_policy.KIND, charge_policy.NAME)
    return [*((Limit, account, charge.analyst or "") for account in charge.losses), *tallies, policy]


def find(transaction: Transaction, charge: Charge, now: datetime) -> StandingCharge | None:
    """Return the charge that was made under this key; None if there is none. A key that means another is refused."""
    check_access(transaction, charge, now)
    debit = transaction.get(Debit, charge.key)
    if debit is None:
        return None
    if debit.identity != charge.identity:
        why = "the key was used for another question, or for other versions of the tables"
        raise Conflict(f"the key {charge.key}", why=why, fix="leave the key out, or use a new one", value=charge.key)
    if debit.settled is None and transaction.get(Run, charge.key) is not None:
        why, fix = "it is that of a running release", "go on with its next part"
        raise Conflict(f"the key {charge.key}", why=why, fix=fix, value=charge.key)
    receipt, commitment = _again(transaction, debit, charge)
    if debit.failed:
        return StandingCharge(receipt, failed=True)
    if debit.settled is not None:
        return StandingCharge(receipt, answer=settled_answer(transaction, debit))
    if transaction.get(Settled, debit.sequence) is not None:
        why = "it has an answer, and its debit was restored to an older state"
        raise Tampered(f"entry {debit.sequence}", why=why, sequence=debit.sequence)
    repriced = debit.price != charge.price
    return StandingCharge(receipt, lease=transaction.get(Lease, charge.key), commitment=commitment, repriced=repriced)


def unanswered(transaction: Transaction, charge: Charge) -> str | None:
    """Return the key of a charge like this one that was made under a key of its own, and that nobody works on."""
    for held in transaction.all(Lease):
        there = transaction.get(Debit, held.key) if not held.expires else None
        if there is None or there.settled is not None or there.key == there.identity:
            continue
        if transaction.get(Run, there.key) is not None:  # which goes on part by part
            continue
        entry = transaction.entry(there.sequence)
        alike = (there.identity, there.price) == (charge.identity, charge.price)
        if alike and entry is not None and entry.record()["analyst"] == charge.analyst:
            return there.key
    return None


def make(
    transaction: Transaction, charge: Charge, now: datetime, new: NewKey | None, *, running: str | None = None
) -> Receipt:
    """Take a new charge from every limit and append its entry, or refuse with nothing stored but a request to approve.

    `running` says what kind of running release it begins, whose parts are settled one by one.

    Guarantee: after the transaction is durable, the loss of the question is part of what every account has spent, and
    the key by which its noise is drawn is fixed; its entry has a commitment to that key and nothing else of it.
    """
    at = written(now)
    steps = limit.admit(transaction, charge.losses, charge.analyst or "", at)
    policy = ChargePolicy.of(transaction)
    approved = approval.admit(transaction, charge, now) if policy.wants_approval(charge) else None
    costs = [[*step.cost.texts()] for step in steps]
    drawn = new.commitment if new else None
    kind = {} if running is None else {"running": running}
    entry = enter(transaction, "charge", {**charge.record(), **kind, "at": at, "costs": costs, "draws": drawn}, steps)
    if new is not None:
        transaction.put(new.row)
    if approved is not None:
        approval.use(transaction, approved, now)
    if policy.alerts:
        alert.raise_alerts(transaction, policy, steps, entry.sequence, now)
    left = {step.limit.account: limit.remaining(step.after) for step in steps if step.for_life}
    return Receipt(entry.sequence, charge.key, entry.hash, charge.losses, left)


def settle(
    transaction: Transaction,
    receipt: Receipt | Debit,
    fence: int,
    now: datetime,
    digest: str | None,
    artefacts: Sequence[Artefact] = (),
) -> None:
    """Append the entry that ends a charge, and remove its sealed key.

    It has the digest of the answer, the files that belong to it, and which release of the code answered; without an
    answer the charge has failed.
    """
    body = {"charge": receipt.sequence, "key": receipt.key, "fence": fence, "at": written(now)}
    if digest is None:
        enter(transaction, "failure", body)
    else:
        files = {"artefacts": [each.record() for each in artefacts]} if artefacts else {}
        enter(transaction, "settle", {**body, "answer": digest, "code": __version__, **files})
    transaction.delete(StoredDraw(receipt.key, b"", ""))


def pay(transaction: Transaction, bill: Charge, now: datetime) -> Receipt:
    """Charge a bill and settle it, or return the receipt of one that was paid under its key.

    Guarantee: the loss is part of what every limit has spent when the transaction is durable, once for each key.
    """
    there = transaction.get(Debit, bill.key)
    if there is None:
        check_access(transaction, bill, now)
        receipt = make(transaction, bill, now, None)
        settle(transaction, receipt, 0, now, sha256(bill.question.encode()).hexdigest())
        transaction.put(Settled(receipt.sequence, bill.question))
        return replace(receipt, attested=statement(transaction, bill.losses))
    entry = transaction.entry(there.sequence)
    # A table that was refreshed since is another version, and the bill is still the one that was paid.
    again = replace(bill, tables=entry.record()["tables"]) if entry and entry.sealed else bill
    if again.question != bill.question or there.identity != again.identity:
        why, fix = "another bill was paid under it", "use a key of its own for every bill, or leave it out"
        raise Conflict("the key of the bill", why=why, fix=fix, value=bill.label)
    found = find(transaction, again, now)
    assert found is not None  # it is there
    return found.receipt


def abandoned(transaction: Transaction, now: datetime) -> Iterator[tuple[Debit, Lease | None]]:
    """Return what waits for its answer and will not be asked for again, with its lease if it has one.

    A lease that was given back says no time: the charge's own counts then.
    """
    keys = {each.key for each in transaction.all(Lease)} | {each.key for each in transaction.all(StoredDraw)}
    for key in sorted(keys):
        there, held = transaction.get(Debit, key), transaction.get(Lease, key)
        entry = transaction.entry(there.sequence) if there else None
        if there is None or there.settled is not None or entry is None:  # which verifying the vault finds
            continue
        if transaction.get(Run, key) is not None:  # it may be gone on with for years
            continue
        ended = held.expires if held else 0.0
        if held is None or not held.expires or there.key == there.identity:
            charged = datetime.fromisoformat(entry.record()["at"])
            ended = max(ended, charged.timestamp()) + _KEPT.total_seconds()
        if ended <= now.timestamp():
            yield there, held


def refuse(transaction: Transaction, charge: Charge, refusal: Refusal, now: datetime) -> Entry:
    """Append the entry of a charge that was refused; what is long is cut, for refusals cost nobody any budget."""
    words = {"what": refusal.what, "why": refusal.why, "fix": refusal.fix}
    record = charge.record()
    losses = record["losses"] if len(json.dumps(record["losses"])) <= MOST_REFUSED else {}
    body = {**record, "question": cut(charge.question), "losses": losses, "at": written(now), "refused": words}
    return enter(transaction, "refusal", body)


def cut(text: str) -> str:
    """Return what the entry of a refusal keeps of a text: its beginning, and how long it was."""
    return text if len(text) <= MOST_REFUSED else f"{text[:MOST_REFUSED]}... ({len(text):,} characters)"


def check_access(transaction: Transaction, charge: Charge, now: datetime) -> None:
    """Refuse a charge whose grant does not exist, has ended, is another analyst's or does not cover its tables."""
    if charge.grant is None:
        return
    permit = transaction.get(Permit, charge.grant)
    if permit is None or permit.analyst != charge.analyst:
        why, fix = "there is no such grant of this analyst", "open a session with a valid token"
        raise AccessRefused(f"the grant {charge.grant}", why=why, fix=fix, value=charge.grant)
    grant = Grant.of(permit)
    grant.check(now)
    for table in charge.tables:
        if not grant.covers(table):
            why, fix = f"it does not cover the table {table!r}", "ask the custodian for access to it"
            raise AccessRefused(f"the grant {grant.id} of {grant.analyst}", why=why, fix=fix, value=table)


def settled_answer(transaction: Transaction, debit: Debit) -> str | Artefact:
    """Return the answer of a settled debit, or the file that has it; refuse one that is not the one that was settled.

    Guarantee: its hash is that of the debit and of the entry that settled it.
    """
    found, entry = transaction.get(Settled, debit.sequence), transaction.entry(debit.settled or 0)
    body = entry.record() if entry else {}
    if (entry and entry.kind, body.get("key"), body.get("answer")) != ("settle", debit.key, debit.digest):
        raise Tampered(f"entry {debit.settled}", why="its settled answer was changed", sequence=debit.settled)
    if found is not None:
        if sha256(found.answer.encode()).hexdigest() != debit.digest:
            raise Tampered(f"entry {debit.settled}", why="its settled answer was changed", sequence=debit.settled)
        return found.answer
    for each in artefacts_of(transaction, body):
        if each.sha256 == debit.digest:
            return each
    raise Tampered(f"entry {debit.settled}", why="its settled answer is missing", sequence=debit.settled)


def artefacts_of(transaction: Transaction, body: Mapping[str, Any]) -> tuple[Artefact, ...]:
    """Return the files that an entry settled, as they are stored beside the chain as well."""
    found = tuple(Artefact.from_record(each) for each in body.get("artefacts", ()))
    for each in found:
        there = transaction.get(StoredArtefact, each.name)
        if there is None or (there.size, there.digest, there.media) != (each.size, each.sha256, each.media):
            raise Tampered(f"the file {each.name}", why="what is stored of it is not what was settled")
    return found


def _again(transaction: Transaction, debit: Debit, charge: Charge) -> tuple[Receipt, str | None]:
    """Return the receipt of a charge that was made before, and the commitment to its key."""
    entry = transaction.entry(debit.sequence)
    body = entry.record() if entry else {}
    if entry is None or (entry.kind, body.get("key")) != ("charge", debit.key):
        why = "a debit names it, and it is missing or another's"
        raise Tampered(f"entry {debit.sequence}", why=why, sequence=debit.sequence)
    losses = read_losses(body["losses"])
    left = _left(transaction, losses)
    said = statement(transaction, losses) if debit.settled is not None else {}
    found = Receipt(entry.sequence, charge.key, entry.hash, losses, left, replayed=True, attested=said)
    return found, body.get("draws")


def _left(transaction: Transaction, accounts: Mapping[str, object]) -> dict[str, dict[str, str]]:
    return {account: limit.remaining(limit.account_filter(transaction, account)) for account in accounts}
