"""Stores of vaults: how the one that a place names is found, opened, or made with its keys and its first entry."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.entry import Head
from discreet.ledger.integrity import keys
from discreet.ledger.integrity.seal import SealedTransaction, Sealer
from discreet.ledger.integrity.witnesses import AnchorPolicy, Witnesses
from discreet.ledger.place import FilePlace, Place, ServerPlace
from discreet.ledger.refusals import NotAVault, Tampered
from discreet.ledger.sqlite.store import SqliteStore
from discreet.ledger.store import Check, Secret, Store

if TYPE_CHECKING:
    from discreet.ledger.postgres.store import PostgresStore

# The row that says when the whole vault was verified, and up to which entry.
WHOLE = "whole"
# What lies beside the vault in a backup, and says which vault that is.
MANIFEST = "backup.json"


def is_there(place: FilePlace | ServerPlace) -> bool:
    """Whether there is something where a vault would be made."""
    return _exists(place.path) if isinstance(place, FilePlace) else _postgres().exists(place)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that no file can have, as making one will say
        return False


def opened(place: FilePlace | ServerPlace, patience: float) -> Store:
    """Open the store of a vault; one in a backup is refused, since two copies would not see each other's charges."""
    if isinstance(place, FilePlace):
        if _exists(place.path.with_name(MANIFEST)):
            why = "it is part of a backup, and would be a second copy of the vault that charges"
            fix = f"restore it: discreet restore {place.path.parent} --vault PATH"
            raise NotAVault(f"the vault {place}", why=why, fix=fix, value=str(place))
        return SqliteStore.open(place.path, patience=patience)
    return _postgres().open(place, patience=patience)


def made(place: FilePlace | ServerPlace, patience: float, anchor: str | Path | None) -> Store:
    """Make an empty store, unless the anchor of another vault is where its own would be."""
    beside = Path(anchor) if anchor is not None else place.anchor() if isinstance(place, FilePlace) else None
    if beside is not None and _exists(beside) and not is_there(place):
        why = "an anchor is left there from an earlier vault, whose guarantees a new one does not keep"
        fix = "restore that vault, or delete its anchor if it never answered anything"
        raise NotAVault(f"a new vault at {place}", why=why, fix=fix, value=str(beside))
    return empty(place, patience)


def empty(place: FilePlace | ServerPlace, patience: float) -> Store:
    """Make an empty store for a vault that is put back; what anchors there are stay, to be compared with it."""
    if isinstance(place, FilePlace):
        return SqliteStore.create(place.path, patience=patience)
    return _postgres().create(place, patience=patience)


def unfinished(place: Place, anchor: str | Path | None) -> Refusal:
    """Say that a vault has no keys: it was never finished, or else it has an anchor and lost what was not moved."""
    beside = Path(anchor) if anchor is not None else place.anchor() if isinstance(place, FilePlace) else None
    if beside is not None and _exists(beside):
        why = "its keys and its entries are missing, and an anchor was signed over some"
        fix = "restore the file beside it that ends in -wal, which belongs to it, or the newest complete copy"
        return Tampered(f"the vault {place}", why=why, fix=fix)
    why, fix = "its creation was interrupted", "remove it and make the vault again"
    return NotAVault(f"the vault {place}", why=why, fix=fix, value=str(place))


def _postgres() -> type[PostgresStore]:
    # Only where it is asked for: its driver is an extra.
    from discreet.ledger.postgres.store import PostgresStore

    return PostgresStore


def begin(store: Store, now: datetime, anchor: str | Path | None) -> None:
    """Give a new vault its keys and its first entry, which binds them to the chain."""
    vault, secret, signing = token_hex(16), token_bytes(32), keys.new_signing_key()
    anchors = Witnesses.of(store.place, keys.Signer(vault, signing), anchor, AnchorPolicy())
    at = written(now)
    body = {"vault": vault, "public_key": anchors.public_key, "commitment": keys.commitment(secret), "at": at}
    with store.write() as raw:
        for name, value in (("vault", vault.encode()), ("secret", secret), ("signing", signing)):
            raw.put(Secret(name, value))
        transaction = SealedTransaction(raw, Sealer(secret))
        transaction.begin()
        entry = enter(transaction, "vault", body)
        transaction.put(Check(WHOLE, at, entry.sequence))
        transaction.finish(at)
    anchors.write(Head(entry.sequence, entry.hash), lambda _: False)
