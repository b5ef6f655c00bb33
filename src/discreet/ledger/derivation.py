"""Derived rows: what each kind of entry means for accounts, debits, documents and grants.

A ledger writes an entry and derives rows from it in one transaction; verifying a vault derives them all again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from discreet.core.value import replace
from discreet.ledger import limit, window
from discreet.ledger.charge import read_losses
from discreet.ledger.entry import Entry, canonical, digest
from discreet.ledger.limit import LimitStep
from discreet.ledger.refusals import Tampered
from discreet.ledger.store import Debit, Limit, Paper, Permit, Transaction

Body = Mapping[str, Any]
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
        case "vault" | "refusal":
            pass
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
        case _:
            raise Tampered("an entry", why=f"no ledger of this release writes the kind {kind!r}")


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


def _there(row: T | None, kind: str) -> T:
    if row is None:
        raise Tampered("an entry", why=f"it speaks of a {kind} that was never made")
    return row
