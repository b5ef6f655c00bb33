"""The side of a vault that keeps published files: where they lie, which there are, and whether they are whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import UnknownName
from discreet.core.value import replace
from discreet.ledger.artefacts.artefact import KIND, NAME, Artefact, ArtefactPolicy
from discreet.ledger.artefacts.folder import ArtefactFolder
from discreet.ledger.integrity import freeze
from discreet.ledger.store import Paper, StoredArtefact, Transaction
from discreet.ledger.vault import Vault

if TYPE_CHECKING:
    from discreet.ledger.entry import Entry
    from discreet.ledger.integrity.verify import Verified


class Shelf(Vault):
    """A vault and its files. Files are private to this user, and are named by nobody but the vault."""

    @property
    def artefacts(self) -> ArtefactFolder:
        """The folder of published files, on this machine."""
        return self._kept_at()[0]

    def artefact_policy(self) -> ArtefactPolicy:
        """Return where files are kept, and from which length on an answer is one."""
        with self._read() as transaction:
            return _policy(transaction)

    def artefact(self, name: str) -> tuple[Artefact, Entry]:
        """Return a published file and the entry of the charge that it was settled for, or refuse an unknown name."""
        with self._read() as transaction:
            row = transaction.get(StoredArtefact, name)
            charge = transaction.entry(row.sequence) if row else None
            if row is None or charge is None:
                raise UnknownName("file", name, ())
            return Artefact(row.name, row.size, row.digest, row.media), charge

    def verify(self, head: str | None = None) -> Verified:
        """Check the whole vault, and every published file that is on this machine.

        Guarantee: that of `Vault.verify`; and each file that is there is what was settled. Files that are not there,
        and those that a killed writer left, are named.
        """
        found = super().verify(head)
        with self._read() as transaction:
            rows = [*transaction.all(StoredArtefact)]
        folder, missing = self.artefacts, []
        for row in rows:
            each = Artefact(row.name, row.size, row.digest, row.media)
            if folder.is_there(each):
                folder.check(each)
            else:
                missing.append(each.name)
        orphans = folder.strangers(self._is_settled)
        return replace(found, files=len(rows), missing=tuple(missing), orphans=tuple(orphans))

    def remove_orphans(self) -> tuple[str, ...]:
        """Remove the files that killed writers left in this machine's folder, and return their names.

        A frozen vault removes nothing: what looks like an orphan may belong to entries that it has lost.

        Guarantee: no file is removed that was settled, or that a living writer holds.
        """
        if self.frozen is not None:
            raise freeze.refused(self.place, self.frozen)
        return tuple(self.artefacts.remove_strangers(self._is_settled))

    def _is_settled(self, name: str) -> bool:
        with self._read() as transaction:
            return transaction.get(StoredArtefact, name) is not None

    def _kept_at(self) -> tuple[ArtefactFolder, int]:
        policy = self.artefact_policy()
        usual = self.place.files(self.vault_id)
        return ArtefactFolder(usual if policy.folder is None else Path(policy.folder)), policy.largest

    def _told(self, found: str | Artefact) -> str:
        """Return the text of an answer, from its file where it is one."""
        return found if isinstance(found, str) else self.artefacts.text(found)


def _policy(transaction: Transaction) -> ArtefactPolicy:
    found = transaction.get(Paper, KIND, NAME)
    return ArtefactPolicy.from_record(json.loads(found.record)) if found else ArtefactPolicy()
