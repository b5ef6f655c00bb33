"""The side of a vault that outlives its disk: attestations, heads that are shown, forfeits, backups."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from discreet.core.log import logger
from discreet.ledger.clock import written
from discreet.ledger.custody import Custody
from discreet.ledger.derivation import enter
from discreet.ledger.integrity import freeze
from discreet.ledger.integrity.attestation import Attestation
from discreet.ledger.recovery.forfeit import Forfeited, forfeit, newest
from discreet.ledger.refusals import Conflict, Unavailable
from discreet.ledger.store import Check

if TYPE_CHECKING:
    from discreet.ledger.recovery.backup import BackedUp


class Recovery(Custody):
    """A vault that is backed up, compared with what others were told by it, and gone on with when entries are lost."""

    def show(self, receipts: Iterable[object]) -> str | None:
        """Compare the vault with the heads of receipts, whoever holds them; return why it is frozen, None if it is not.

        A head that the vault has lost freezes it, for every program on every machine.

        Guarantee: only what this vault signed has an effect; nobody can freeze it by a head of their own.
        """
        shown = self._attested(receipts)
        with self._read() as transaction:
            missing = freeze.lost(transaction, [each.place for each in shown])
        if missing:
            last = max(missing, key=lambda head: head.sequence)
            with suppress(Unavailable), self._write(although_frozen=True) as transaction:
                known = transaction.get(Check, freeze.SHOWN)
                if known is None or known.sequence < last.sequence:
                    transaction.put(Check(freeze.SHOWN, last.hash, last.sequence))
            if self.frozen is None:
                logger.warning("the vault is frozen: it was shown a receipt of an entry that it does not have")
                self.frozen = f"a receipt was shown of an entry {last.sequence} that it does not have: charges are lost"
        return self.frozen

    def vouch(self, receipts: Iterable[object]) -> str | None:
        """Take the custodian's word that one of these receipts is the newest; return why the vault is frozen still.

        One that is frozen because an anchor is missing, and has every head that it was shown, is not frozen any more.
        An entry says so.
        """
        shown = self._attested(receipts)
        if self.show(receipts := [each.record() for each in shown]) is None or not receipts:
            return self.frozen
        heads, absent = self._anchors.heads(), self._anchors.absent
        with self._read() as transaction:
            self.frozen = freeze.reason(transaction, heads, absent, required=False)
        if self.frozen is None:
            last = max(shown, key=lambda each: each.sequence)
            with self._write() as transaction:
                said = {"absent": absent, "shown": {"sequence": last.sequence, "head": last.head}}
                enter(transaction, "anchor", {**said, "at": written(self._clock())})
        return self.frozen

    def forfeit(self, receipts: Iterable[object] = ()) -> Forfeited:
        """Go on with a vault that has lost entries, by the custodian's word that its newest copy is gone for good.

        Everything is spent but what the newest receipt shows left of its accounts. Caps and windows are full. Questions
        that wait for their answers have failed.

        Guarantee: no budget is exceeded by all that was and will be answered, unless a receipt is shown as the newest
        that is not, and no known head tells.
        """
        shown = self._attested(receipts)
        self.show([each.record() for each in shown])
        if self.frozen is None:
            why, fix = "it is not frozen: no entry is known to be lost", "show the receipt that says so first"
            raise Conflict(f"a forfeit of {self.place}", why=why, fix=fix, value=str(self.place))
        kept = self._anchors.heads()
        with self._write(although_frozen=True) as transaction:
            heads = freeze.lost(transaction, [*kept, *freeze.shown(transaction), *(each.place for each in shown)])
            found = forfeit(transaction, heads, newest(transaction, heads, shown), self._clock())
        self.frozen = None
        self._anchors.put(self._seen)
        rmtree(self._outside.runs, ignore_errors=True)  # all running releases have ended
        with self._read() as transaction:
            self._forget_outside(transaction)
        return found

    def backup(self, folder: str | Path) -> BackedUp:
        """Copy the vault, its published files and its copies of rows into a new folder, while it is in use."""
        from discreet.ledger.recovery.backup import backup

        place = Path(folder).absolute()
        store = self._store.again()
        try:
            return backup(store, place, self.artefacts, self.folder, self.now())
        finally:
            store.close()

    def _attested(self, receipts: Iterable[object]) -> list[Attestation]:
        found = [Attestation.from_record(each) for each in receipts]
        for each in found:
            each.check(self._anchors.signer)
        return found
