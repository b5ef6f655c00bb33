"""Settled releases: the charge and the settlement of one answer, as the chain has them, and what was declared then."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from discreet.core.rational import as_written
from discreet.core.value import dataclass
from discreet.ledger import limit
from discreet.ledger.cap import budget_of_filter
from discreet.ledger.charge import read_losses
from discreet.ledger.entry import Entry
from discreet.ledger.integrity.certificate import DELTAS, epsilons
from discreet.ledger.refusals import Conflict
from discreet.ledger.store import Debit, Paper, Transaction


@dataclass(frozen=True, slots=True)
class SettledRelease:
    """One answer that was paid for and settled: the entry of its charge, and the entry that settled it."""

    charge: Entry
    settled: Entry

    @classmethod
    def find(cls, transaction: Transaction, sequence: int) -> SettledRelease:
        """Return the release whose charge is the entry of that number, or refuse what was never released."""
        entry = transaction.entry(sequence) if isinstance(sequence, int) and sequence > 0 else None
        if entry is None or entry.kind != "charge":
            raise _refused(sequence, "it is no charge of this vault", "take the number from a receipt")
        debit = transaction.get(Debit, entry.record()["key"])
        settled = transaction.entry(debit.settled) if debit and debit.settled is not None else None
        if settled is None:
            raise _refused(sequence, "it waits for its answer", "ask its question again, which is not charged again")
        if settled.kind != "settle":
            raise _refused(sequence, "it was charged and failed: nothing was released", "certify another release")
        return cls(entry, settled)

    def claims(self, transaction: Transaction) -> dict[str, Any]:
        """Return what the ledger knows of the release: entries, tables, question, and the loss of every account."""
        body, outcome = self.charge.record(), self.settled.record()
        return {
            "entry": {"sequence": self.charge.sequence, "hash": self.charge.hash, "at": body["at"]},
            "settled": {
                "sequence": self.settled.sequence,
                "hash": self.settled.hash,
                "at": outcome["at"],
                "answer": outcome["answer"],
            },
            "code": outcome.get("code"),
            "question": {"words": body["label"], "canonical": body["question"]},
            "tables": body["tables"],
            "accounts": {name: _paid(transaction, name, body["losses"]) for name in sorted(body["losses"])},
        }


def declared(transaction: Transaction, kind: str, name: str, before: int) -> Mapping[str, Any]:
    """Return what was declared under a kind and a name when the entry of that number was written."""
    paper = transaction.get(Paper, kind, name)
    if paper is not None and paper.sequence < before:
        newest: dict[str, Any] = json.loads(paper.record)
        return newest
    found: dict[str, Any] = {}
    for entry in transaction.entries():
        if entry.sequence >= before:
            break
        body = entry.record() if entry.kind == "document" else {}
        if (body.get("kind"), body.get("name")) == (kind, name):
            found = body["record"]
    return found


def _paid(transaction: Transaction, account: str, losses: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an account paid: the loss in full, its epsilon by every accountant, and the filter that admitted it.

    The filter bounds all releases of the account together; the figures are those of this release alone.
    """
    loss = read_losses({account: losses[account]})[account]
    filter_ = limit.account_filter(transaction, account).renewed()
    budget = budget_of_filter(filter_)
    amounts = {"epsilon": budget.epsilon, "delta": budget.delta, "rho": budget.rho}
    exact = {name: None if amount is None else as_written(name, amount) for name, amount in amounts.items()}
    deltas = (*DELTAS, exact["delta"]) if exact["delta"] else DELTAS
    return {
        "loss": losses[account],
        "relation": loss.relation,
        "figures": epsilons(loss, deltas),
        "filter": type(filter_).__name__,
        "theorem": filter_.figures.theorem,
        "budget": {name: None if amount is None else str(amount) for name, amount in exact.items()},
    }


def _refused(sequence: object, why: str, fix: str) -> Conflict:
    return Conflict(f"a certificate of entry {sequence}", why=why, fix=fix, value=sequence)
