"""Restoring: a backup put where there is no vault, to be opened there as any vault is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.ledger.artefacts.artefact import Artefact
from discreet.ledger.artefacts.folder import ArtefactFolder
from discreet.ledger.integrity.verify import Verified
from discreet.ledger.place import FilePlace, place_of
from discreet.ledger.recovery import stores
from discreet.ledger.recovery.backup import VAULT, BackedUp, copy_file, copy_rows
from discreet.ledger.recovery.copies import copy_store
from discreet.ledger.refusals import NotAVault, Tampered
from discreet.ledger.sqlite.store import SqliteStore
from discreet.ledger.store import StoredArtefact

if TYPE_CHECKING:
    from discreet.ledger.store import Store


def restore(backup: str | Path, place: str | Path, *, patience: float = 30.0) -> BackedUp:
    """Put a backup back, into a file or a schema of PostgreSQL where there is none; return what it has.

    Anchors stay as they are, so that opening the vault compares it with every head that is known. The published files
    lie in the usual folder then.

    Guarantee: nothing is written over, and a copy that does not verify is not left behind.
    """
    folder, where = Path(backup), place_of(place)
    said = BackedUp.of(folder)
    if stores.is_there(where):
        fix = "move it away, with what lies beside it, or restore to another place"
        raise NotAVault(f"a restored vault at {where}", why="there is one already", fix=fix, value=str(where))
    source = SqliteStore.open(folder / VAULT)
    try:
        target = stores.empty(where, patience)
        try:
            found = _copied(source, target, said)
            beside = FilePlace(folder / VAULT)
            with source.read() as raw:
                rows = [Artefact(row.name, row.size, row.digest, row.media) for row in raw.all(StoredArtefact)]
            for each in rows:
                _put_back(ArtefactFolder(beside.files()), ArtefactFolder(where.files(found.vault)), each)
            copy_rows(beside.folder(), where.folder(found.vault))
        except BaseException:
            target.discard()
            raise
        target.close()
    finally:
        source.close()
    return said


def _copied(source: Store, target: Store, said: BackedUp) -> Verified:
    with source.read() as raw:
        found = copy_store(raw, target)
    if (found.vault, found.entries, found.head) != (said.vault, said.entries, said.head):
        raise Tampered("the backup", why="its vault is not the one that was backed up, or was changed since")
    return found


def _put_back(source: ArtefactFolder, target: ArtefactFolder, file: Artefact) -> None:
    """Copy a published file, unless it is there as it was, or the backup has none."""
    if target.is_there(file):
        target.check(file)
    elif source.is_there(file):
        target.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        copy_file(source.path / file.name, target.path / file.name)
        target.check(file)
