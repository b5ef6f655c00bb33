"""Verifying a vault: the chain, everything that follows from it, its answers, and heads kept outside it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import zip_longest
from typing import Any

from discreet.core.errors import Refusal
from discreet.core.value import dataclass
from discreet.ledger.cap import check_recount
from discreet.ledger.derivation import derive
from discreet.ledger.entry import Entry, Head
from discreet.ledger.integrity import freeze, keys, vault_secret
from discreet.ledger.integrity.seal import SealedTransaction, Sealer, following
from discreet.ledger.integrity.witnesses import Witnesses
from discreet.ledger.lease import Lease
from discreet.ledger.refusals import Tampered
from discreet.ledger.sqlite.store import scratch
from discreet.ledger.store import (
    CARRYING,
    COUNTED,
    DERIVED,
    Attempt,
    Debit,
    Paper,
    Part,
    Private,
    Raw,
    Root,
    Run,
    Seal,
    Secret,
    Settled,
    Store,
    StoredArtefact,
    StoredDraw,
    Transaction,
)
from discreet.ledger.window import check_correction


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in order: how many entries, the head's hash, and the entry up to which the anchor vouches.

    `anchor` is 0 where no witness held a head yet, so only a head kept elsewhere could tell a shortened vault; they
    hold one from now on. `absent` are the entries at which one was missing, as on a new machine: an older copy would
    not have been noticed there. `public_key` checks the anchor's signature; keep it and the head outside the vault.
    `files` were published, of which those `missing` are not on this machine; `orphans` were left by killed writers.
    """

    entries: int
    head: str
    anchor: int
    public_key: str
    vault: str
    absent: tuple[int, ...] = ()
    files: int = 0
    missing: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()


def verify(store: Store, anchors: Witnesses, head: str | None = None) -> Verified:
    """Check a vault from its first entry on, and that the anchors' heads, and the given one, are on its chain.

    Guarantee: a change, a loss or an exchange of entries before a head that is known from outside is found, and so is
    any row or answer that the entries do not imply.
    """
    # The anchors first: what is appended while we read may be missing from them, never from the chain.
    vouched = anchors.heads()
    store.check_schema()
    with store.read() as live, scratch() as again:
        last, found, absent = _follow(live, again, head)
        for kind in DERIVED:
            _compare(kind.TABLE, live.all(kind), again.all(kind))
        vault = check_keys(live)
        _check_answers(live, again)
        _check_privates(live)
        check_heads(live, again, vouched)
        _check_seals(live)
    if head is not None and not found:
        why = "no entry of this vault has that hash, so entries were lost or exchanged"
        raise Tampered(f"the head {head}", why=why)
    newest = vouched[0].sequence if vouched else 0
    return Verified(last.sequence, last.hash, newest, anchors.public_key, vault, tuple(absent))


def check_heads(live: Transaction, again: Transaction, vouched: Sequence[Head]) -> None:
    """Refuse a vault that has forgotten what its anchors vouch for; `again` says what was forfeited."""
    upto = freeze.forfeited(again)
    for head in vouched:
        if head.sequence <= upto or freeze.on_chain(live, head):
            continue
        last = live.head()
        if last.sequence < head.sequence:
            why = (
                f"it ends at entry {last.sequence}, and an anchor was signed at entry {head.sequence}: charges are lost"
            )
            raise Tampered("the vault", why=why, sequence=last.sequence + 1)
        why = "an anchor was signed over another entry of that number"
        raise Tampered(f"entry {head.sequence}", why=why, sequence=head.sequence)


def _follow(live: Transaction, again: Transaction, head: str | None) -> tuple[Head, bool, list[int]]:
    """Walk along the chain and derive every row again; say where it ends, and which entries are of note on the way."""
    last, found, at, absent = Head(), False, "", list[int]()
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
            absent += [entry.sequence] if entry.kind == "anchor" else []
        except Tampered as refusal:
            raise Tampered(f"entry {entry.sequence}", why=refusal.why, sequence=entry.sequence) from None
        except (Refusal, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            why = f"it does not say what a ledger would have written ({type(error).__name__})"
            raise Tampered(f"entry {entry.sequence}", why=why, sequence=entry.sequence) from error
        last, found = Head(entry.sequence, entry.hash), found or entry.hash == head
    if last.sequence == 0:
        raise Tampered("the chain", why="it has no entries", sequence=1)
    return last, found, absent


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
    """Compare the vault's keys with what the chain says about them, and return its identifier."""
    return signer_of(live).vault_id


def signer_of(live: Transaction | Raw) -> keys.Signer:
    """Return the vault's key that signs, with those before it, or refuse keys that are not those of the chain."""
    first = live.entry(1)
    body = first.record() if first and first.sealed else {}
    held = {row.name: row.value for row in live.all(Secret)}
    try:
        chosen = live.get(Paper, keys.KIND, keys.NAME)
        rotations = json.loads(chosen.record)["rotations"] if chosen else ()
        public, retired = keys.retired_keys(body["vault"], body["public_key"], rotations)
        signer = keys.Signer(held["vault"].decode(), held["signing"], retired)
        known = set(held) - {vault_secret.RECOGNITION} == {"vault", "secret", "signing"}
        mine = (signer.vault_id, signer.public_key) == (body["vault"], public)
        same = known and mine and vault_secret.check(live, body["commitment"], held)
    except (KeyError, TypeError, ValueError):  # a text that is none, a key that is too short
        same = False
    if not same:
        raise Tampered("the keys of the vault", why="they are not those that its entries name", sequence=1)
    return signer


def _check_answers(live: Transaction, again: Transaction) -> None:
    # By the number of the charge, or of the entry of a part: its hash, and the entry that settled it.
    settled = {each.sequence: (each.digest, each.settled) for each in again.all(Debit) if each.digest is not None}
    settled |= {each.sequence: (each.digest, each.sequence) for each in again.all(Part) if each.digest is not None}
    filed = _filed(again)
    for row in live.all(Settled):
        digest, entry = settled.pop(row.sequence, (None, None))
        if digest is None:
            raise Tampered(f"an answer to entry {row.sequence}", why="it was never settled", sequence=row.sequence)
        if sha256(row.answer.encode()).hexdigest() != digest:
            raise Tampered(f"entry {entry}", why="its settled answer was changed", sequence=entry)
    for sequence, (digest, entry) in settled.items():
        if (sequence, digest) in filed:
            continue
        raise Tampered(f"entry {entry}", why="its settled answer is missing", sequence=entry)
    for lease in live.all(Lease):
        held = again.get(Debit, lease.key)
        if held is None or held.settled is not None or lease.fence < 0:
            raise Tampered("a lease", why="it is for no charge that waits for its answer")
    for draw in live.all(StoredDraw):
        held = again.get(Debit, draw.key)
        if held is None or held.settled is not None:
            raise Tampered("a sealed key", why="it is for no charge that waits for its answer")
    for attempt in live.all(Attempt):
        held, run = again.get(Debit, attempt.key), again.get(Run, attempt.key)
        if held is None or run is None or held.settled is not None or attempt.number != run.parts + 1:
            raise Tampered("an attempt", why="it is for no part that waits for its answer")


def _filed(again: Transaction) -> set[tuple[int, str | None]]:
    """Return the answers that are files, by the number of the charge, or of the entry of a part, and their hash."""
    runs = {each.sequence: each.key for each in again.all(Run)}
    parts = {(each.key, each.number): each.sequence for each in again.all(Part)}
    found = set[tuple[int, str | None]]()
    for each in again.all(StoredArtefact):
        entry = parts.get((runs.get(each.sequence, ""), each.part)) if each.part else each.sequence
        if entry is not None:
            found.add((entry, each.digest))
    return found


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
