"""The tail of a vault: what is checked whenever it is opened, in a time that does not grow with its age."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.ledger.entry import Entry
from discreet.ledger.integrity.seal import SealedTransaction
from discreet.ledger.refusals import Tampered
from discreet.ledger.store import Debit, Part

# How many of the last entries are looked at.
LENGTH = 64


def check(transaction: SealedTransaction) -> None:
    """Refuse a vault whose last entries, or what follows from them, are not as a ledger left them.

    Guarantee: the last entries are one chain that ends at the root; every limit, tally, document and grant has its
    seal, and together they are those of the root; the debits of the last entries are there.
    """
    transaction.check_head()
    head = transaction.head()
    found = [*transaction.entries(max(head.sequence - LENGTH, 0))]
    if not found or (found[-1].sequence, found[-1].hash) != (head.sequence, head.hash):
        raise Tampered(f"entry {head.sequence}", why="it is not the end of the chain", sequence=head.sequence)
    transaction.check_total()
    _check_debits(transaction, found)


def _check_debits(transaction: SealedTransaction, entries: Sequence[Entry]) -> None:
    """Compare charges and settlements with the debits that they left, and parts with their own."""
    bodies = [(each, each.record()) for each in entries if each.kind in ("charge", "settle", "failure")]
    transaction.wanted([(Debit, body["key"]) for _, body in bodies])
    for entry, body in bodies:
        debit = transaction.get(Debit, body["key"])
        expected = debit and (debit.sequence if entry.kind == "charge" else debit.settled)
        if expected != entry.sequence:
            why = "the debit that it left is missing, or is not as it left it"
            raise Tampered(f"entry {entry.sequence}", why=why, sequence=entry.sequence)
    for entry in (each for each in entries if each.kind == "part"):
        body = entry.record()
        part = transaction.get(Part, body["key"], body["number"])
        if part is None or (part.sequence, part.digest) != (entry.sequence, body["answer"]):
            why = "the part that it left is missing, or is not as it left it"
            raise Tampered(f"entry {entry.sequence}", why=why, sequence=entry.sequence)
