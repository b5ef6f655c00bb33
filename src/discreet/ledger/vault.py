"""The vault: its keys, its chain of entries and what follows from them, in one file or database, and its anchor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import Self

from discreet.core.errors import BadParameter
from discreet.core.log import logger
from discreet.ledger import lease, window
from discreet.ledger.clock import Clock, VaultClock, wall_clock, written
from discreet.ledger.derivation import enter
from discreet.ledger.entry import Entry, Head
from discreet.ledger.integrity import freeze, keys, tail, verify
from discreet.ledger.integrity.seal import SealedTransaction
from discreet.ledger.integrity.vault_secret import VaultSecret
from discreet.ledger.integrity.verify import Verified
from discreet.ledger.integrity.witnesses import KIND, NAME, AnchorPolicy, Witnesses
from discreet.ledger.place import place_of
from discreet.ledger.recovery import stores
from discreet.ledger.refusals import Conflict, Tampered, Unavailable
from discreet.ledger.sealed_key import OutsideKey
from discreet.ledger.store import Check, Debit, Paper, Raw, Secret, Store, StoredDraw, Transaction, Wanted

# Entries are listed in pages, so a long list neither fills memory nor keeps others waiting.
_PAGE = 1000

# When the whole vault was verified, and how long, or how many entries, that lasts.
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
            if not {"vault", "secret", "signing"} <= set(found):
                raise stores.unfinished(store.place, anchor)
            signer = verify.signer_of(raw)
            self.vault_id = signer.vault_id
            self._secret, policy = VaultSecret.of(raw), freeze.policy_of(raw)  # checked by their seals below
        self._given, self._anchors = anchor, Witnesses.of(store.place, signer, anchor, policy)
        self._outside = OutsideKey(self._anchors.path, self.vault_id)
        self._vouched: tuple[Head, ...] = ()  # heads that this ledger has found on the chain, of late
        heads, absent = self._anchors.heads(), self._anchors.absent  # before: another process may append meanwhile
        with self._read() as transaction:
            tail.check(transaction)
            self._seen = transaction.head()
            required = freeze.policy_of(transaction).required
            self.frozen = freeze.reason(transaction, heads, absent, required=required)
            self._forget_outside(transaction)
        if self.frozen is not None:
            logger.warning("the vault is frozen: it is older than a head that it was shown, or an anchor is missing")
            return
        if any(head.sequence > self._seen.sequence for head in heads):  # what they hold beyond it was forfeited
            self._anchors.put(self._seen)
        if absent and self._seen.sequence > 1:
            self._note_absent(absent)

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
        store = stores.made(place_of(place), patience, anchor)
        try:
            stores.begin(store, clock(), anchor)
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
        """Open a vault; one that is older than a head which one of its anchors holds is frozen."""
        store = stores.opened(place_of(place), patience)
        try:
            return cls(store, clock=clock, lease_seconds=lease_seconds, anchor=anchor)
        except BaseException:
            store.close()
            raise

    @staticmethod
    def exists(place: str | Path) -> bool:
        """Whether there is something where a vault would be made."""
        return stores.is_there(place_of(place))

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
        self._anchors.discard()
        self._outside.path.unlink(missing_ok=True)
        for folder in (self.folder, self.place.files(self.vault_id), self._outside.runs):
            rmtree(folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.place)!r})"

    @cached_property
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
        return self._secret.key(purpose)

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

    @property
    def state_at_hand(self) -> str | None:
        """The same, or None where one would have to wait for it."""
        with self._store.at_hand() as at_hand:
            return self.state if at_hand else None

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
            found = verify.verify(store, self._anchors, head)
        finally:
            store.close()
        if not found.anchor and self.frozen is None:
            self._anchors.write(Head(found.entries, found.head), self._has_by_now)
        with suppress(Unavailable), self._write() as transaction:  # one that cannot be written is verified all the same
            transaction.put(Check(stores.WHOLE, written(self._clock.machine()), found.entries))
        return found

    def verify_if_due(self) -> Verified | None:
        """Verify the whole vault if that was last done more than a day, or ten thousand entries, ago; not if frozen."""
        if self.frozen is not None:
            return None
        with self._read() as transaction:
            last, entries = transaction.get(Check, stores.WHOLE), transaction.head().sequence
        now = self._clock.machine()
        if last is not None and entries - last.sequence < _DUE_ENTRIES:
            age = now - datetime.fromisoformat(last.at)
            if abs(age) < _DUE_AGE:  # a clock that was set back far does not put it off
                return None
        return Vault.verify(self)  # files are looked at on request: they may be many, and large

    def last_verified(self) -> tuple[str, int] | None:
        """Return when the whole vault was last verified, on the machine's clock, and up to which entry."""
        with self._read() as transaction:
            last = transaction.get(Check, stores.WHOLE)
        return None if last is None else (last.at, last.sequence)

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

    def anchor_policy(self) -> AnchorPolicy:
        """Return what the custodian wants of the places where heads are kept."""
        with self._read() as transaction:
            return freeze.policy_of(transaction)

    def keep_anchors(self, policy: AnchorPolicy) -> None:
        """Keep heads in other places as well, from now on; one that cannot be written refuses before anything changes.

        Other programs that have the vault open write to the places that they found when they opened it.
        """
        anchors = Witnesses.of(self.place, self._anchors.signer, self._given, policy)
        anchors.write(Head(*self.head), self._has_by_now)
        with self._write() as transaction:
            there = transaction.get(Paper, KIND, NAME)
            named = {"kind": KIND, "name": NAME, "revision": there.revision + 1 if there else 1}
            enter(transaction, "document", {**named, "record": policy.record(), "at": written(self._clock())})
        self._anchors = anchors
        anchors.write(self._seen, self._has_by_now)

    def _signer(self) -> keys.Signer:
        """Return the key that the vault signs with now, whoever has exchanged it."""
        with self._store.read() as raw:
            return verify.signer_of(raw)

    def _follow_rotation(self, transaction: SealedTransaction, raw: Raw) -> None:
        """Sign with the key that another program has put in the place of ours."""
        there = transaction.get(Paper, keys.KIND, keys.NAME)
        if there and json.loads(there.record)["rotations"][-1]["public_key"] != self.public_key:
            signer, policy = verify.signer_of(raw), freeze.policy_of(transaction)
            self._anchors = Witnesses.of(self.place, signer, self._given, policy)

    @contextmanager
    def _write(self, *wanted: Wanted, although_frozen: bool = False) -> Iterator[SealedTransaction]:
        """Write to the vault alone; when this ends the entries are on disk, and their head with every witness.

        Guarantee: two programs that do not see each other's entries, because files were exchanged under one of them
        or have two names, do not both come to the end of this. A frozen vault charges nothing and changes nothing.
        """
        with self._store.write(*wanted, (Check, freeze.SHOWN), (Paper, keys.KIND, keys.NAME)) as raw:
            self._store.check_place()
            before = raw.head()
            self._check_seen(raw, before)
            transaction = self._sealed(raw)
            transaction.check_head()
            self._note(transaction)
            self._follow_rotation(transaction, raw)
            if not although_frozen:
                self._check_frozen(transaction)
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

    def _check_frozen(self, transaction: SealedTransaction) -> None:
        """Refuse to go on with a vault that is frozen, or that someone else has shown a newer head meanwhile."""
        if self.frozen is None and (newer := freeze.lost(transaction, freeze.shown(transaction))):
            self.frozen = f"a head was shown of an entry {newer[0].sequence} that it does not have: charges are lost"
        if self.frozen is not None:
            raise freeze.refused(self.place, self.frozen)

    def _note_absent(self, absent: list[str]) -> None:
        """Enter that an anchor was missing, as in a container started anew: an older copy would not have been noticed.

        What is written to the chain is written to all anchors, so they are there from then on.
        """
        logger.warning("an anchor of the vault is missing: an older copy of it would not be noticed")
        with suppress(Unavailable), self._write() as transaction:
            enter(transaction, "anchor", {"absent": absent, "at": written(self._clock())})

    def _has(self, transaction: Transaction, head: Head) -> bool:
        """Whether a head that was signed is one of the chain, or was forfeited."""
        return head in self._vouched or not freeze.lost(transaction, [head])

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

    @contextmanager
    def _read(self, *wanted: Wanted) -> Iterator[SealedTransaction]:
        """Look at one state of the vault: of the files that its path names, and of no others that are still open."""
        with self._store.read(*wanted) as raw:
            self._store.check_place()
            transaction = self._sealed(raw)
            self._note(transaction)
            yield transaction

    def _sealed(self, raw: Raw) -> SealedTransaction:
        """Look at rows by their secret, which another program may have exchanged; one off the chain is refused."""
        mine = self._secret
        transaction = SealedTransaction(raw, mine.sealer)
        try:
            transaction.root()
        except Tampered:
            now = VaultSecret.of(raw)
            if now.value == mine.value:
                raise
            verify.check_keys(raw)
            if now.exchanges > mine.exchanges:  # and not what a state from before an exchange has
                self._secret = now
            transaction = SealedTransaction(raw, now.sealer)
        return transaction

    def _note(self, transaction: SealedTransaction) -> None:
        root = transaction.root()
        self._clock.note(root.at, root.wall)
