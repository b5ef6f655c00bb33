"""Freezing: a vault that is older than a head it is shown answers nothing new, so that no budget is spent twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from discreet.ledger.derivation import FORFEIT, VAULT
from discreet.ledger.entry import Head
from discreet.ledger.integrity.seal import SealedTransaction
from discreet.ledger.integrity.witnesses import KIND, NAME, AnchorPolicy
from discreet.ledger.refusals import Frozen
from discreet.ledger.store import Check, Paper, Raw, Transaction

# The row that remembers a head that was shown and is not on the chain, for every machine; `at` has its hash.
SHOWN = "shown"

# Why a vault is frozen that is not known to have lost anything.
MISSING = "an anchor is missing, without which an older copy cannot be distinguished, and the policy requires it"


def policy_of(transaction: Raw | Transaction) -> AnchorPolicy:
    """Return what the custodian wants of the anchors."""
    found = transaction.get(Paper, KIND, NAME)
    return AnchorPolicy.from_record(json.loads(found.record)) if found else AnchorPolicy()


def forfeited(transaction: Transaction) -> int:
    """Return up to which number heads of other chains are accounted for; -1 where none is.

    This chain passes those numbers at once, so that none of its own later heads is taken for one of them.
    """
    found = transaction.get(Paper, FORFEIT, VAULT)
    upto: int = json.loads(found.record)["upto"] if found else -1
    return upto


def lost(transaction: Transaction, heads: Iterable[Head]) -> list[Head]:
    """Return the heads that are not on the chain, and were not forfeited.

    Guarantee: a head is compared by its number and its hash, so that a longer chain of another history is found too.
    """
    upto = forfeited(transaction)
    return [head for head in heads if head.sequence > upto and not on_chain(transaction, head)]


def on_chain(transaction: Transaction, head: Head) -> bool:
    """Whether a head is one of the chain."""
    there = transaction.entry(head.sequence)
    return there is not None and there.hash == head.hash


def shown(transaction: Transaction) -> list[Head]:
    """Return the head that was shown and was not on the chain, if there was one."""
    found = transaction.get(Check, SHOWN)
    return [] if found is None else [Head(found.sequence, found.at)]


def reason(
    transaction: SealedTransaction, heads: Sequence[Head], absent: Sequence[str], *, required: bool
) -> str | None:
    """Say why a vault is frozen; None if it is not. `heads` were read before the transaction began."""
    last = transaction.head()
    missing = lost(transaction, [*heads, *shown(transaction)])
    if missing:
        newest = max(missing, key=lambda head: head.sequence)
        if newest.sequence > last.sequence:
            return (
                f"it ends at entry {last.sequence}, and a head was signed at entry {newest.sequence}: charges are lost"
            )
        return f"a head was signed over another entry {newest.sequence} than it has: charges are lost"
    if required and absent and last.sequence > 1:
        return MISSING
    return None


def refused(place: object, why: str) -> Frozen:
    """Return the refusal of a frozen vault to charge, or to change anything."""
    fix = f"{remedy(why)}: until then it previews and replays"
    return Frozen(f"the vault {place}", why=f"it is frozen: {why}", fix=fix, value=str(place))


def remedy(why: str) -> str:
    """Return what goes on with a vault that is frozen for this reason, and spends the least."""
    if why == MISSING:
        return "put the anchor back, or run discreet restore --receipt with the newest receipt: nothing is forfeited"
    return (
        "put the newest copy of the vault back; if it is lost, run discreet restore --forfeit, with the newest receipt"
        " if there is one"
    )
