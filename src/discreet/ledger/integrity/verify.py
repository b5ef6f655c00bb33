"""Verifying a vault: the chain, everything that follows from it, its answers, and heads kept outside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import zip_longest
from typing import Any

from discreet.core.errors import Refusal
from discreet.core.value import dataclass
from discreet.ledger.cap import check_recount
from discreet.ledger.derivation import derive
from discreet.ledger.entry import Entry, Head
from discreet.ledger.integrity import keys
from discreet.ledger.integrity.anchor import Anchor, AnchorFile
from discreet.ledger.integrity.seal import SealedTransaction, Sealer, following
from discreet.ledger.lease import Lease
from discreet.ledger.refusals import Tampered
from discreet.ledger.sqlite.store import scratch
from discreet.ledger.store import (
    CARRYING,
    COUNTED,
    DERIVED,
    Debit,
    Paper,
    Private,
    Raw,
    Root,
    Seal,
    Secret,
    Settled,
    Store,
    StoredDraw,
    Transaction,
)
from discreet.ledger.window import check_correction


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in order: how many entries, the head's hash, and the entry up to which the anchor vouches.

    `anchor` is 0 where this machine had none yet, so only a head kept elsewhere could tell a shortened
    vault; it has one from now on. `public_key` checks the anchor's signature; keep it and the head outside the vault.
    """

    entries: int
    head: str
    anchor: int
    public_key: str
    vault: str


def verify(store: Store, anchors: AnchorFile, head: str | None = None, *, needed: bool = True) -> Verified:
    """Check a vault from its first entry on, and that the anchor's head, and the given one, are on its chain.

    Guarantee: a change, a loss or an exchange of entries before a head that is known from outside is found, and so is
    any row or answer that the entries do not imply.
    """
    # The anchor first: what is appended while we read may be missing from it, never from the chain.
    anchor = anchors.newest()
    store.check_schema()
    with store.read() as live, scratch() as again:
        last, found = _follow(live, again, head)
        for kind in DERIVED:
            _compare(kind.TABLE, live.all(kind), again.all(kind))
        vault = check_keys(live)
        _check_answers(live, again)
        _check_privates(live)
        check_anchor(live, anchor, needed=needed)
        _check_seals(live)
    if head is not None and not found:
        why = "no entry of this vault has that hash, so entries were lost or exchanged"
        raise Tampered(f"the head {head}", why=why)
    if anchor is None:
        anchors.write(last, lambda each: _has(store, each))
    vouched = anchor.sequence if anchor else int(needed)
    return Verified(last.sequence, last.hash, vouched, anchors.public_key, vault)


def _has(store: Store, head: Head) -> bool:
    with store.read() as live:
        there = live.entry(head.sequence)
    return there is not None and there.hash == head.hash


def check_anchor(live: Transaction, anchor: Anchor | None, *, needed: bool = True) -> None:
    """Refuse a vault that has forgotten what its anchor vouches for, or one whose anchor is needed and missing."""
    last = live.head()
    if anchor is None:
        if needed and last.sequence > 1:  # one that holds nothing yet may have been interrupted before its first anchor
            why = "it is missing, and without it an older copy of the vault cannot be distinguished from the newest"
            raise Tampered("the anchor beside the vault", why=why, fix="restore the anchor file beside the vault")
        return
    if last.sequence < anchor.sequence:
        why = (
            f"it ends at entry {last.sequence}, and its anchor was signed at entry {anchor.sequence}: charges are lost"
        )
        raise Tampered("the vault", why=why, sequence=last.sequence + 1)
    vouched = live.entry(anchor.sequence)
    if vouched is None or vouched.hash != anchor.head:
        why = "the anchor was signed over another entry of that number"
        raise Tampered(f"entry {anchor.sequence}", why=why, sequence=anchor.sequence)


def _follow(live: Transaction, again: Transaction, head: str | None) -> tuple[Head, bool]:
    """Walk along the chain and derive every row again; say where it ends and whether it passed the head."""
    last, found, at = Head(), False, ""
    for entry in live.entries():
        _check_entry(entry, last)
        try:
            body = entry.record()
            if entry.kind == "grant":
                check_recount(live, again, entry)
            elif entry.kind == "clock":
                check_correction(live, again, entry)
            derive(again, entry.sequence, entry.kind, body)
            if body["at"] < at and entry.kind != "clock":
                raise Tampered("an entry", why="it is dated before the entry before it")
            at = body["at"]
        except Tampered as refusal:
            raise Tampered(f"entry {entry.sequence}", why=refusal.why, sequence=entry.sequence) from None
        except (Refusal, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            why = f"it does not say what a ledger would have written ({type(error).__name__})"
            raise Tampered(f"entry {entry.sequence}", why=why, sequence=entry.sequence) from error
        last, found = Head(entry.sequence, entry.hash), found or entry.hash == head
    if last.sequence == 0:
        raise Tampered("the chain", why="it has no entries", sequence=1)
    return last, found


def _check_entry(entry: Entry, last: Head) -> None:
    following(entry, last)
    if (entry.kind == "vault") != (entry.sequence == 1):
        why = "a chain begins with its vault, once"
        raise Tampered(f"entry {entry.sequence}", why=why, sequence=entry.sequence)


def _compare(table: str, stored: Iterator[Any], derived: Iterator[Any]) -> None:
    for have, want in zip_longest(stored, derived):
        if have != want:
            sequence = min(row.sequence for row in (have, want) if row is not None)
            why = f"the stored {table} are not those that follow from the entries"
            raise Tampered(f"what entry {sequence} left behind", why=why, sequence=sequence)


def check_keys(live: Transaction) -> str:
    """Compare the vault's keys with what the first entry says about them, and return its identifier."""
    first = live.entry(1)
    body = first.record() if first and first.sealed else {}
    held = {row.name: row.value for row in live.all(Secret)}
    try:
        public = keys.signing_key(held["signing"]).public_key().public_bytes_raw().hex()
        same = set(held) == {"vault", "secret", "signing"} and (
            held["vault"].decode(),
            keys.commitment(held["secret"]),
            public,
        ) == (body["vault"], body["commitment"], body["public_key"])
    except (KeyError, ValueError):  # a text that is none, a key that is too short
        same = False
    if not same:
        raise Tampered("the keys of the vault", why="they are not those of its first entry", sequence=1)
    vault: str = body["vault"]
    return vault


def _check_answers(live: Transaction, again: Transaction) -> None:
    settled = {debit.sequence: debit for debit in again.all(Debit) if debit.digest is not None}
    for row in live.all(Settled):
        debit = settled.pop(row.sequence, None)
        if debit is None:
            raise Tampered(f"an answer to entry {row.sequence}", why="it was never settled", sequence=row.sequence)
        if sha256(row.answer.encode()).hexdigest() != debit.digest:
            why = "its settled answer was changed"
            raise Tampered(f"entry {debit.settled}", why=why, sequence=debit.settled)
    for debit in settled.values():
        raise Tampered(f"entry {debit.settled}", why="its settled answer is missing", sequence=debit.settled)
    for lease in live.all(Lease):
        held = again.get(Debit, lease.key)
        if held is None or held.settled is not None or lease.fence < 0:
            raise Tampered("a lease", why="it is for no charge that waits for its answer")
    for draw in live.all(StoredDraw):
        held = again.get(Debit, draw.key)
        if held is None or held.settled is not None:
            raise Tampered("a sealed key", why="it is for no charge that waits for its answer")


def _check_seals(live: Raw) -> None:
    """Read every row by its seal; compare the seals with the root, and the root with the head."""
    secret = live.get(Secret, "secret")
    assert secret is not None  # check_keys has seen it
    sealed = SealedTransaction(live, Sealer(secret.value))
    sealed.check_head()
    sealed.check_total()
    for kind in CARRYING:
        sealed.count(kind)
    needed = Counter({kind.TABLE: sealed.count(kind) for kind in COUNTED})
    if Counter(seal.kind for seal in live.all(Seal)) != +needed or len([*live.all(Root)]) != 1:
        raise Tampered("the seals of the vault", why="there are some for rows that are not there")


def _check_privates(live: Transaction) -> None:
    secret = live.get(Secret, "secret")
    assert secret is not None  # check_keys has seen it
    for row in live.all(Private):
        document = live.get(Paper, row.kind, row.name)
        expected = keys.seal(secret.value, row.kind, row.name, str(row.revision), row.record)
        if document is None or row.revision > document.revision or row.seal != expected:
            why = "what is stored beside it was changed"
            raise Tampered(f"the {row.kind} {row.name!r}", why=why, sequence=document.sequence if document else None)
