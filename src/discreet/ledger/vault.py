"""The vault: one file with its keys, its chain of entries, and the anchor beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import Self

from discreet.ledger import keys, lease, verify
from discreet.ledger.anchor import AnchorFile
from discreet.ledger.clock import Clock, wall_clock, written
from discreet.ledger.derive import enter
from discreet.ledger.entry import Entry, Head
from discreet.ledger.refusals import NotAVault, Tampered
from discreet.ledger.sqlite import SqliteStore
from discreet.ledger.store import Secret, Transaction
from discreet.ledger.verify import Verified

# Entries are listed in pages, so that a long list neither fills memory nor keeps others waiting.
_PAGE = 1000


class Vault:
    """What a ledger is kept in; made by `create` and `open`, to be closed, best by a `with` block.

    `clock` tells the time (for windows, expiry and information), `lease_seconds` how long a worker is left alone, and
    `patience` how many seconds to wait for other writers.
    """

    def __init__(self, store: SqliteStore, *, clock: Clock = wall_clock, lease_seconds: float = lease.SECONDS) -> None:
        self.path = store.path
        self._store = store
        self._clock = clock
        self._lease_seconds = lease_seconds
        with store.read() as transaction:
            found = {row.name: row.value for row in transaction.all(Secret)}
        if set(found) != {"vault", "secret", "signing"}:
            why, fix = "the making of it was interrupted", "remove the file and make the vault anew"
            raise NotAVault(f"the vault {self.path}", why=why, fix=fix, value=str(self.path))
        self.vault_id = found["vault"].decode()
        self._secret = found["secret"]
        self._anchors = AnchorFile(store.path, self.vault_id, found["signing"])
        anchor = self._anchors.newest()  # before the head: another process may append between the two
        with store.read() as transaction:
            verify.check_anchor(transaction, anchor)
            self._seen = transaction.head().sequence

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        clock: Clock = wall_clock,
        lease_seconds: float = lease.SECONDS,
        patience: float = 30.0,
    ) -> Self:
        """Make a new vault, readable by its owner alone; a file that is there already is refused."""
        place = Path(path).absolute()
        beside = AnchorFile(place, "", b"").path
        if beside.exists() and not place.exists():
            why = "an anchor is left there from an earlier vault, whose promises a new one does not keep"
            fix = "put that vault back, or remove its anchor if it never answered anything"
            raise NotAVault(f"a new vault at {place}", why=why, fix=fix, value=str(beside))
        store = SqliteStore.create(place, patience=patience)
        try:
            _begin(store, written(clock()))
            return cls(store, clock=clock, lease_seconds=lease_seconds)
        except BaseException:
            store.close()
            place.unlink(missing_ok=True)
            raise

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        clock: Clock = wall_clock,
        lease_seconds: float = lease.SECONDS,
        patience: float = 30.0,
    ) -> Self:
        """Open a vault; one that has forgotten what its anchor vouches for is refused."""
        store = SqliteStore.open(Path(path).absolute(), patience=patience)
        try:
            return cls(store, clock=clock, lease_seconds=lease_seconds)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Let go of the file; harmless when repeated."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    @property
    def public_key(self) -> str:
        """The key that checks the anchor's signature; keep a copy outside."""
        return self._anchors.public_key

    def secret(self, purpose: str) -> bytes:
        """Return the vault's 32-byte key for one purpose; never to be shown, logged or put into a question.

        Guarantee: keys of different purposes tell nothing about each other.
        """
        return keys.derive(self._secret, purpose)

    @property
    def head(self) -> tuple[int, str]:
        """The number and the hash of the last entry."""
        with self._store.read() as transaction:
            head = transaction.head()
        return head.sequence, head.hash

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        """Return the entries with greater numbers than `after`, in order."""
        while limit is None or limit > 0:
            size = _PAGE if limit is None else min(_PAGE, limit)
            with self._store.read() as transaction:
                page = list(transaction.entries(after, size))
            yield from page
            if len(page) < size:
                return
            after, limit = page[-1].sequence, None if limit is None else limit - size

    def verify(self, head: str | None = None) -> Verified:
        """Check the chain and all that follows from it, against the anchor and against a head kept elsewhere.

        Guarantee: entries that were changed, lost or exchanged before such a head are found.
        """
        # With a connection of its own, so that threads of this process go on meanwhile.
        store = SqliteStore.open(self.path)
        try:
            return verify.verify(store, self._anchors, head)
        finally:
            store.close()

    @contextmanager
    def _write(self) -> Iterator[Transaction]:
        """Write to the vault alone; when this ends the entries are on disk, and their head in the anchor."""
        with self._store.write() as transaction:
            before = transaction.head()
            if before.sequence < self._seen:
                why = f"it ends at entry {before.sequence}, and entry {self._seen} has been seen: charges are lost"
                raise Tampered(f"the vault {self.path}", why=why, sequence=before.sequence + 1)
            yield transaction
            after = transaction.head()
        if after != before:
            self._seen = max(self._seen, after.sequence)
            self._anchors.write(after)

    def _read(self) -> AbstractContextManager[Transaction]:
        """Look at one state of the vault."""
        return self._store.read()


def _begin(store: SqliteStore, at: str) -> None:
    """Give a new vault its keys and its first entry, which binds them to the chain."""
    vault, secret, signing = token_hex(16), token_bytes(32), keys.new_signing_key()
    anchors = AnchorFile(store.path, vault, signing)
    body = {"vault": vault, "public_key": anchors.public_key, "commitment": keys.commitment(secret), "at": at}
    with store.write() as transaction:
        for name, value in (("vault", vault.encode()), ("secret", secret), ("signing", signing)):
            transaction.put(Secret(name, value))
        entry = enter(transaction, "vault", body)
    anchors.write(Head(entry.sequence, entry.hash))
