"""The vault: its keys, its chain of entries and what follows from them, in one file or database, and its anchor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from secrets import token_bytes, token_hex
from shutil import rmtree
from typing import TYPE_CHECKING, Self

from discreet.core.errors import BadParameter, Refusal
from discreet.ledger import lease, window
from discreet.ledger.clock import Clock, VaultClock, wall_clock, written
from discreet.ledger.derivation import enter
from discreet.ledger.entry import Entry, Head
from discreet.ledger.integrity import keys, tail, verify
from discreet.ledger.integrity.anchor import AnchorFile
from discreet.ledger.integrity.seal import SealedTransaction, Sealer
from discreet.ledger.integrity.verify import Verified
from discreet.ledger.place import FilePlace, Place, ServerPlace, place_of
from discreet.ledger.refusals import Conflict, NotAVault, Tampered, Unavailable
from discreet.ledger.sealed_key import OutsideKey
from discreet.ledger.sqlite.store import SqliteStore
from discreet.ledger.store import Check, Debit, Secret, Store, StoredDraw, Transaction, Wanted

if TYPE_CHECKING:
    from discreet.ledger.postgres.store import PostgresStore

# Entries are listed in pages, so a long list neither fills memory nor keeps others waiting.
_PAGE = 1000

# When the whole vault was verified, and how long, or how many entries, that lasts.
_WHOLE = "whole"
_DUE_AGE = timedelta(days=1)
_DUE_ENTRIES = 10_000


class Vault:
    """What a ledger is kept in; made by `create` and `open`, to be closed, best by a `with` block.

    It is named by the path of a file or the URL of a PostgreSQL database. `clock` tells the time (for windows, expiry
    and information), `lease_seconds` how long a worker is left alone, `patience` how many seconds to wait for other
    writers, and `anchor` where this machine keeps its signed head, if not in the usual place.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock = wall_clock,
        lease_seconds: float = lease.SECONDS,
        anchor: str | Path | None = None,
    ) -> None:
        self.place = store.place
        self._store = store
        self._clock = VaultClock(clock)
        self._lease_seconds = lease.check_seconds(lease_seconds)
        with store.read() as raw:
            found = {row.name: row.value for row in raw.all(Secret)}
            if set(found) != {"vault", "secret", "signing"}:
                raise _unfinished(store.place, anchor)
            self.vault_id = verify.check_keys(raw)
        self._secret = found["secret"]
        self._sealer = Sealer(self._secret)
        self._anchors = AnchorFile(_anchor_path(store, self.vault_id, anchor), self.vault_id, found["signing"])
        self._outside = OutsideKey(self._anchors.path, self.vault_id)
        self._vouched: tuple[Head, ...] = ()  # heads that this ledger has found on the chain, of late
        newest = self._anchors.newest()  # before the head: another process may append between the two
        with self._read() as transaction:
            verify.check_anchor(transaction, newest, needed=self._needs_anchor)
            tail.check(transaction)
            self._seen = transaction.head()
            self._forget_outside(transaction)

    @classmethod
    def create(
        cls,
        place: str | Path,
        *,
        clock: Clock = wall_clock,
        lease_seconds: float = lease.SECONDS,
        patience: float = 30.0,
        anchor: str | Path | None = None,
    ) -> Self:
        """Make a new vault, readable by its owner alone; where there is one already, this is refused."""
        store = _made(place_of(place), patience, anchor)
        try:
            _begin(store, clock(), anchor)
            return cls(store, clock=clock, lease_seconds=lease_seconds, anchor=anchor)
        except BaseException:
            store.discard()
            raise

    @classmethod
    def open(
        cls,
        place: str | Path,
        *,
        clock: Clock = wall_clock,
        lease_seconds: float = lease.SECONDS,
        patience: float = 30.0,
        anchor: str | Path | None = None,
    ) -> Self:
        """Open a vault; one that has forgotten what its anchor vouches for is refused."""
        store = _opened(place_of(place), patience)
        try:
            return cls(store, clock=clock, lease_seconds=lease_seconds, anchor=anchor)
        except BaseException:
            store.close()
            raise

    @staticmethod
    def exists(place: str | Path) -> bool:
        """Whether there is something where a vault would be made."""
        return _is_there(place_of(place))

    def close(self) -> None:
        """Let go of the file or the connection; harmless when repeated."""
        self._store.close()

    def discard(self) -> None:
        """Remove a vault that could not be finished; one that has charged anything is never removed."""
        with self._read() as transaction:
            charged = next(transaction.all(Debit), None)
        if charged is not None:
            why, fix = "it has charged for questions, and spending is permanent", "leave it as it is"
            raise Conflict(f"the vault {self.place}", why=why, fix=fix, value=str(self.place))
        self._store.discard()
        self._anchors.path.unlink(missing_ok=True)
        self._outside.path.unlink(missing_ok=True)
        rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.place)!r})"

    @property
    def folder(self) -> Path:
        """The private folder of this machine for rows that are kept: copies of data frames, rows after bounding."""
        return self.place.folder(self.vault_id)

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

    @property
    def state(self) -> str:
        """The seal of the root, which every change of the vault renews: what was read under it is still so."""
        with self._read() as transaction:
            return transaction.root().seal

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        """Return the entries with greater numbers than `after`, in order."""
        while limit is None or limit > 0:
            size = _PAGE if limit is None else min(_PAGE, limit)
            with self._read() as transaction:
                page = list(transaction.entries(after, size))
            yield from page
            if len(page) < size:
                return
            after, limit = page[-1].sequence, None if limit is None else limit - size

    def verify(self, head: str | None = None) -> Verified:
        """Check the chain and all that follows from it, against the anchor and against a head kept elsewhere.

        Guarantee: entries that were changed, lost or exchanged before such a head are found.
        """
        # With a connection of its own, so threads of this process go on meanwhile.
        store = self._store.again()
        try:
            found = verify.verify(store, self._anchors, head, needed=self._needs_anchor)
        finally:
            store.close()
        with suppress(Unavailable), self._write() as transaction:  # one that cannot be written is verified all the same
            transaction.put(Check(_WHOLE, written(self._clock.machine()), found.entries))
        return found

    def verify_if_due(self) -> Verified | None:
        """Verify the whole vault if that was last done more than a day, or ten thousand entries, ago."""
        with self._read() as transaction:
            last, entries = transaction.get(Check, _WHOLE), transaction.head().sequence
        now = self._clock.machine()
        if last is not None and entries - last.sequence < _DUE_ENTRIES:
            age = now - datetime.fromisoformat(last.at)
            if abs(age) < _DUE_AGE:  # a clock that was set back far does not put it off
                return None
        return self.verify()

    def now(self) -> datetime:
        """Return the vault's time: the machine's clock, but never before the last entry."""
        with self._read():
            return self._clock()

    def today(self) -> str:
        """Return the day of the vault's time, as of when it was last looked at."""
        return written(self._clock())[:10]

    def correct_clock(self) -> tuple[datetime, datetime] | None:
        """Set a vault's time that a wrong clock ran ahead back to the machine's clock; return both, before and after.

        None if it is not ahead. The correction is an entry. Windows of the future become those of the present, with
        all that was charged since these began; grants that would have ended by then are open again.

        Guarantee: nothing is given back, neither to budgets for life, which have no time, nor to the present windows.
        """
        with self._write() as transaction:
            before, now = self._clock(), self._clock.machine()
            if written(before) <= written(now):
                return None
            made = next(transaction.entries()).record()["at"]
            if written(now) < made:
                why, fix = f"the vault was made at {made}, which is later", "set the machine's clock right first"
                raise BadParameter("clock", written(now), why=why, fix=fix)
            windows = window.corrected(transaction, [*transaction.entries()], written(now))
            transaction.correct(written(now))
            enter(transaction, "clock", {"before": written(before), "at": written(now), "windows": windows})
            self._clock.note(written(now), written(now))
        return before, now

    @contextmanager
    def _write(self, *wanted: Wanted) -> Iterator[SealedTransaction]:
        """Write to the vault alone; when this ends the entries are on disk, and their head in the anchor.

        Guarantee: two programs that do not see each other's entries, because files were exchanged under one of them
        or have two names, do not both come to the end of this.
        """
        with self._store.write(*wanted) as raw:
            self._store.check_place()
            before = raw.head()
            self._check_seen(raw, before)
            transaction = SealedTransaction(raw, self._sealer)
            transaction.check_head()
            self._note(transaction)
            yield transaction
            transaction.finish(written(self._clock.wall()))
            after = raw.head()
            if after != before:
                self._anchors.check(lambda each: each == before or self._has(raw, each))
        self._seen = after
        if after != before:
            self._vouched = (before, after)
            self._anchors.write(after, self._has_by_now)
        self._store.check_place()  # once more: what was committed to files that nobody else will find is not answered

    def _has(self, transaction: Transaction, head: Head) -> bool:
        """Whether a head that was signed is one of the chain."""
        if head in self._vouched:
            return True
        there = transaction.entry(head.sequence)
        return there is not None and there.hash == head.hash

    def _has_by_now(self, head: Head) -> bool:
        """Whether a head is one of the chain as it is now: others may have written since our commit."""
        if head in self._vouched:
            return True
        with self._store.read() as transaction:
            return self._has(transaction, head)

    def _forget_outside(self, transaction: SealedTransaction) -> None:
        """Forget the key outside the database, unless a debit waits for its answer."""
        if next(transaction.all(StoredDraw), None) is None:
            self._outside.forget()

    def _check_seen(self, transaction: Transaction, last: Head) -> None:
        """Refuse a vault without what this ledger has seen of it, as after a failover that lost entries."""
        seen = self._seen
        if last == seen:
            return
        if last.sequence < seen.sequence:
            why = f"it ends at entry {last.sequence}, and entry {seen.sequence} has been seen: charges are lost"
            raise Tampered(f"the vault {self.place}", why=why, sequence=last.sequence + 1)
        there = transaction.entry(seen.sequence)
        if there is None or there.hash != seen.hash:
            why = f"entry {seen.sequence} is not the one that has been seen: charges are lost"
            raise Tampered(f"the vault {self.place}", why=why, sequence=seen.sequence)

    @property
    def _needs_anchor(self) -> bool:
        """Whether a missing anchor is a loss: a file's lies beside it, a database is new to each machine once."""
        return isinstance(self.place, FilePlace)

    @contextmanager
    def _read(self, *wanted: Wanted) -> Iterator[SealedTransaction]:
        """Look at one state of the vault: of the files that its path names, and of no others that are still open."""
        with self._store.read(*wanted) as raw:
            self._store.check_place()
            transaction = SealedTransaction(raw, self._sealer)
            self._note(transaction)
            yield transaction

    def _note(self, transaction: SealedTransaction) -> None:
        root = transaction.root()
        self._clock.note(root.at, root.wall)


def _is_there(place: FilePlace | ServerPlace) -> bool:
    return _exists(place.path) if isinstance(place, FilePlace) else _postgres().exists(place)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that no file can have, as making one will say
        return False


def _opened(place: FilePlace | ServerPlace, patience: float) -> Store:
    if isinstance(place, FilePlace):
        return SqliteStore.open(place.path, patience=patience)
    return _postgres().open(place, patience=patience)


def _made(place: FilePlace | ServerPlace, patience: float, anchor: str | Path | None) -> Store:
    """Make an empty store, unless the anchor of another vault is where its own would be."""
    beside = Path(anchor) if anchor is not None else place.anchor() if isinstance(place, FilePlace) else None
    if beside is not None and _exists(beside) and not _is_there(place):
        why = "an anchor is left there from an earlier vault, whose guarantees a new one does not keep"
        fix = "restore that vault, or delete its anchor if it never answered anything"
        raise NotAVault(f"a new vault at {place}", why=why, fix=fix, value=str(beside))
    if isinstance(place, FilePlace):
        return SqliteStore.create(place.path, patience=patience)
    return _postgres().create(place, patience=patience)


def _unfinished(place: Place, anchor: str | Path | None) -> Refusal:
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


def _anchor_path(store: Store, vault_id: str, anchor: str | Path | None) -> Path:
    return store.place.anchor(vault_id) if anchor is None else Path(anchor).absolute()


def _begin(store: Store, now: datetime, anchor: str | Path | None) -> None:
    """Give a new vault its keys and its first entry, which binds them to the chain."""
    vault, secret, signing = token_hex(16), token_bytes(32), keys.new_signing_key()
    anchors = AnchorFile(_anchor_path(store, vault, anchor), vault, signing)
    at = written(now)
    body = {"vault": vault, "public_key": anchors.public_key, "commitment": keys.commitment(secret), "at": at}
    with store.write() as raw:
        for name, value in (("vault", vault.encode()), ("secret", secret), ("signing", signing)):
            raw.put(Secret(name, value))
        transaction = SealedTransaction(raw, Sealer(secret))
        transaction.begin()
        entry = enter(transaction, "vault", body)
        transaction.put(Check(_WHOLE, at, entry.sequence))
        transaction.finish(at)
    anchors.write(Head(entry.sequence, entry.hash), lambda _: False)
