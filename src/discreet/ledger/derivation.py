"""Derived rows: what each kind of entry means for accounts, debits, documents and grants.

A ledger writes an entry and derives rows from it in one transaction; verifying a vault derives them all again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from discreet.core.value import replace
from discreet.ledger import limit, window
from discreet.ledger.artefacts.artefact import Artefact
from discreet.ledger.charge import read_losses
from discreet.ledger.entry import Entry, canonical, digest
from discreet.ledger.limit import LimitStep
from discreet.ledger.refusals import Tampered
from discreet.ledger.store import Debit, Limit, Paper, Part, Permit, Run, StoredArtefact, Transaction

Body = Mapping[str, Any]
# The document that says up to which entry heads of other chains are accounted for.
FORFEIT, VAULT = "forfeit", "vault"
_WHOLE = Fraction(1)
T = TypeVar("T")


def enter(transaction: Transaction, kind: str, body: Body, steps: Sequence[LimitStep] | None = None) -> Entry:
    """Append an entry and store what follows from it; it is never dated before the entry before it."""
    body = {**body, "at": transaction.date(body["at"])}
    entry = transaction.append(kind, canonical(body))
    derive(transaction, entry.sequence, kind, body, steps)
    return entry


def derive(
    transaction: Transaction, sequence: int, kind: str, body: Body, steps: Sequence[LimitStep] | None = None
) -> None:
    """Store the rows that follow from one entry; the steps of a charge, unless given, are repeated from its body."""
    match kind:
        case "vault" | "refusal" | "anchor" | "lost":
            pass
        case "forfeit":
            _forfeit(transaction, sequence, body)
        case "account":
            _limit(transaction, sequence, body, analyst="", period="")
        case "window":
            _limit(transaction, sequence, body, analyst="", period=body["period"])
        case "clock":
            window.correct(transaction, sequence, body)
        case "document":
            record_ = canonical(body["record"])
            transaction.put(Paper(body["kind"], body["name"], body["revision"], record_, sequence))
        case "grant":
            _grant(transaction, sequence, body)
        case "revoke":
            for each in body["grants"]:
                transaction.put(replace(_there(transaction.get(Permit, each), "grant"), revoked=sequence))
        case "charge":
            _charge(transaction, sequence, body, steps)
        case "settle" | "failure":
            debit = _there(transaction.get(Debit, body["key"]), "charge")
            if (debit.sequence, debit.settled) != (body["charge"], None):
                raise Tampered("a settlement", why="it names another charge, or one that was settled before")
            digest_ = body["answer"] if kind == "settle" else None
            transaction.put(replace(debit, settled=sequence, fence=body["fence"], digest=digest_))
            _artefacts(transaction, debit.sequence, 0, body)
        case "part":
            _part(transaction, sequence, body)
        case _:
            raise Tampered("an entry", why=f"no ledger of this release writes the kind {kind!r}")


def _forfeit(transaction: Transaction, sequence: int, body: Body) -> None:
    """Store what every limit has spent after entries were lost: as much as before, or more; none is left out."""
    there = {(each.account, each.analyst, each.period): each for each in transaction.all(Limit)}
    for account, analyst, period, record in body["limits"]:
        row = _there(there.pop((account, analyst, period), None), "limit")
        before, after = limit.filter_in(row), limit.filter_of(record)
        if before.renewed() != after.renewed() or not after.spent.reaches(before.spent, _WHOLE):
            raise Tampered("a forfeit", why="it gives back what a limit had spent, or makes another of it")
        transaction.put(replace(row, state=after.to_json(), sequence=sequence))
    if there:
        raise Tampered("a forfeit", why="it leaves out a limit")
    known = transaction.get(Paper, FORFEIT, VAULT)
    record = canonical({"upto": body["upto"]})
    transaction.put(Paper(FORFEIT, VAULT, known.revision + 1 if known else 1, record, sequence))


def _limit(transaction: Transaction, sequence: int, body: Body, *, analyst: str, period: str) -> None:
    filter_ = limit.filter_of(body["filter"])
    transaction.put(limit.new_limit(body["account"], analyst, period, filter_, body["at"], sequence))


def _grant(transaction: Transaction, sequence: int, body: Body) -> None:
    tables = canonical(body["tables"])
    transaction.put(
        Permit(
            body["grant"],
            body["analyst"],
            body["role"],
            tables,
            body["expires"],
            body["salt"],
            body["hash"],
            None,
            sequence,
        )
    )
    for period, filters in (("", body["caps"]), ("month", body["monthly"])):
        for account, filter_ in filters.items():
            _cap(transaction, sequence, body, account, period, filter_)


def _cap(
    transaction: Transaction, sequence: int, body: Body, account: str, period: str, filter_: Mapping[str, Any] | None
) -> None:
    """Store the analyst's one cap on an account, with what they have spent already, or take it away."""
    there = transaction.get(Limit, account, body["analyst"], period)
    if filter_ is not None:
        made = limit.new_limit(account, body["analyst"], period, limit.filter_of(filter_), body["at"], sequence)
        # A clock that was set back stays in the newest period seen.
        transaction.put(replace(made, label=max(made.label, there.label if there else "")))
    elif there is not None:
        transaction.delete(there)


def _charge(transaction: Transaction, sequence: int, body: Body, steps: Sequence[LimitStep] | None) -> None:
    if steps is None:
        if transaction.get(Debit, body["key"]) is not None:
            raise Tampered("a charge", why="its key was charged before")
        losses = read_losses(dict(sorted(body["losses"].items())))
        steps = limit.repeat(transaction, losses, body["analyst"] or "", body["at"], body["costs"])
    limit.spend(transaction, sequence, steps, body["analyst"])
    identity = digest(body["question"], canonical(body["tables"]))
    transaction.put(Debit(body["key"], identity, digest(canonical(body["losses"])), sequence))
    if (kind := body.get("running")) is not None:
        transaction.put(Run(body["key"], sequence, kind, 0, ""))


def _part(transaction: Transaction, sequence: int, body: Body) -> None:
    """Store a part of a running release, which has not ended: each number once, one after the other."""
    run, debit = _there(transaction.get(Run, body["key"]), "running release"), transaction.get(Debit, body["key"])
    if debit is None or (run.sequence, run.parts + 1, debit.settled) != (body["charge"], body["number"], None):
        raise Tampered("a part", why="it is of another charge, out of turn, or of a running release that has ended")
    answer = body["answer"]
    transaction.put(Part(run.key, run.parts + 1, sequence, answer))
    transaction.put(replace(run, parts=run.parts + 1, state=run.state if answer is None else body["state"]))
    _artefacts(transaction, run.sequence, run.parts + 1, body)


def _artefacts(transaction: Transaction, charge: int, part: int, body: Body) -> None:
    """Store the files that were settled with an answer, under names that no other has."""
    for each in body.get("artefacts", ()):
        if not Artefact(**{name: each[name] for name in ("name", "size", "sha256", "media")}).is_sound:
            raise Tampered("a file", why="no ledger gives it such a name, size, hash or type")
        if transaction.get(StoredArtefact, each["name"]) is not None:
            raise Tampered("a file", why="another has its name")
        made = StoredArtefact(each["name"], charge, part, each["size"], each["sha256"], each["media"])
        transaction.put(made)


def _there(row: T | None, kind: str) -> T:
    if row is None:
        raise Tampered("an entry", why=f"it speaks of a {kind} that was never made")
    return row
