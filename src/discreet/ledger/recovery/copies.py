"""Copies of a store: every row of one vault put into an empty store, of the same kind or of the other."""

from __future__ import annotations

from discreet.ledger.integrity import verify
from discreet.ledger.integrity.keys import Signer
from discreet.ledger.integrity.verify import Verified
from discreet.ledger.integrity.witnesses import Witnesses
from discreet.ledger.lease import Lease
from discreet.ledger.refusals import Tampered
from discreet.ledger.store import (
    AnalystTally,
    Check,
    Debit,
    Limit,
    Paper,
    Part,
    Permit,
    Private,
    Raw,
    Root,
    Row,
    Run,
    Seal,
    Secret,
    Settled,
    Store,
    StoredArtefact,
)

# What is copied after the entries, in an order in which every row finds those that it refers to. Not the keys by which
# questions that wait for their answers are drawn, nor what is begun of a part: a copy never draws for them again.
COPIED: tuple[type[Row], ...] = (
    *(Secret, Limit, AnalystTally, Debit, Settled, Lease, Paper, Private, Permit, Check),
    *(StoredArtefact, Run, Part, Seal, Root),
)
# So many rows cross a network together.
_BATCH = 500


def copy_store(source: Raw, target: Store) -> Verified:
    """Put one state of a vault into an empty store, and verify it there.

    Guarantee: the copy is the vault at one moment, whoever writes meanwhile, and has no key to draw by.
    """
    with target.write() as raw:
        for entry in source.entries():
            if raw.append(entry.kind, entry.body).hash != entry.hash:
                why = "its hash is not that of what it says"
                raise Tampered(f"entry {entry.sequence}", why=why, sequence=entry.sequence)
            _pause(raw, entry.sequence)
        for kind in COPIED:
            for number, row in enumerate(source.all(kind), 1):
                raw.put(row)
                _pause(raw, number)
    return check_copy(target)


def check_copy(store: Store) -> Verified:
    """Verify a store that has no witnesses yet."""
    with store.read() as raw:
        held = {row.name: row.value for row in raw.all(Secret)}
    if not {"vault", "signing"} <= set(held):
        raise Tampered("the copy", why="it has no keys")
    return verify.verify(store, Witnesses((), Signer(held["vault"].decode(), held["signing"])))


def _pause(raw: Raw, number: int) -> None:
    """Let what waits go out: to ask for anything sends it."""
    if number % _BATCH == 0:
        for _ in raw.seals(""):
            pass
