"""Backups: a folder with a whole vault, its files and its copies of rows, made while the vault is in use."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal
from discreet.core.file import Occupied, flush_folder, flushed
from discreet.core.value import dataclass
from discreet.ledger.artefacts.artefact import Artefact
from discreet.ledger.artefacts.draft import CHUNK
from discreet.ledger.artefacts.folder import ArtefactFolder
from discreet.ledger.clock import written
from discreet.ledger.integrity.verify import Verified
from discreet.ledger.place import FilePlace
from discreet.ledger.recovery.copies import copy_store
from discreet.ledger.recovery.stores import MANIFEST
from discreet.ledger.refusals import Unavailable
from discreet.ledger.sqlite.store import SqliteStore
from discreet.ledger.store import StoredArtefact

if TYPE_CHECKING:
    from discreet.ledger.store import Store

# What lies in the folder of a backup: the vault, and what is said of it.
VAULT = "vault.discreet"
# Rows that any question writes anew, and what is being written.
_MADE_AGAIN = (".kept.parquet", "draft-")
_FIELDS = ("vault", "entries", "head", "at", "missing")


@dataclass(frozen=True, slots=True)
class BackedUp:
    """What a backup has: which vault, up to which entry, when it was made, and the published files that were not there.

    Keep the head elsewhere: a backup that is older than the newest head opens frozen.
    """

    vault: str
    entries: int
    head: str
    at: str
    missing: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {name: getattr(self, name) for name in _FIELDS} | {"missing": [*self.missing]}

    @classmethod
    def of(cls, folder: Path) -> BackedUp:
        """Read what is said of a backup, or refuse a folder that is none."""
        try:
            text = (folder / MANIFEST).read_text(encoding="utf-8")
            found = records.fields("backup", records.read("backup", text), _FIELDS)
            return cls(**{**found, "missing": tuple(found["missing"])})
        except (OSError, UnicodeDecodeError, json.JSONDecodeError, BadParameter, TypeError):
            why, fix = f"it has no {MANIFEST} that a backup has", "give the folder that discreet backup made"
            raise BadParameter("backup", str(folder), why=why, fix=fix) from None


def backup(store: Store, place: Path, files: ArtefactFolder, rows: Path, now: datetime) -> BackedUp:
    """Copy a vault into a new folder; the folder gets its name when all of it is on disk.

    Guarantee: what lies under the name is one state of the vault, verified, with each of its files whole; no key is
    in it by which a question that waits for its answer could be drawn again. Nothing is written over.
    """
    with _new_folder(place) as fresh:
        target = SqliteStore.create(fresh / VAULT)
        try:
            with store.read() as source:
                found = copy_store(source, target)
                artefacts = [Artefact(row.name, row.size, row.digest, row.media) for row in source.all(StoredArtefact)]
        finally:
            target.close()
        beside = FilePlace(fresh / VAULT)
        missing = _copy_files(files, artefacts, beside.files())
        copy_rows(rows, beside.folder())
        made = _manifest(found, now, missing)
        _write(fresh / MANIFEST, records.write("backup", made.record()).encode())
    return made


def copy_rows(rows: Path, folder: Path) -> None:
    """Copy the rows of data frames, which lie nowhere else; not those that questions write anew."""
    if not rows.is_dir():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in sorted(rows.iterdir()):
        made_again = path.name.endswith(_MADE_AGAIN[0]) or path.name.startswith(_MADE_AGAIN[1])
        if path.is_file() and not path.is_symlink() and not made_again and not (folder / path.name).exists():
            copy_file(path, folder / path.name)


def _manifest(found: Verified, now: datetime, missing: list[str]) -> BackedUp:
    return BackedUp(found.vault, found.entries, found.head, written(now), tuple(missing))


def _copy_files(files: ArtefactFolder, artefacts: list[Artefact], folder: Path) -> list[str]:
    """Copy every published file that is on this machine, whole, and return the names of the others."""
    missing = []
    for each in artefacts:
        if files.is_there(each):
            folder.mkdir(mode=0o700, exist_ok=True)
            files.check(each)
            copy_file(files.path / each.name, folder / each.name)
            ArtefactFolder(folder).check(each)
        else:
            missing.append(each.name)
    return missing


def copy_file(source: Path, place: Path) -> None:
    """Copy a file, private and flushed, to a place where there is none."""
    with source.open("rb") as old, _made(place) as new:
        while piece := old.read(CHUNK):
            os.write(new, piece)


def _write(place: Path, content: bytes) -> None:
    with _made(place) as file:
        os.write(file, content)


@contextmanager
def _made(place: Path) -> Iterator[int]:
    """Make a private file, and have it on disk when the block ends."""
    file = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
    try:
        yield file
        flushed(file)
    finally:
        os.close(file)


@contextmanager
def _new_folder(place: Path) -> Iterator[Path]:
    """Yield a new private folder that becomes `place`, or is removed."""
    if os.path.lexists(place):
        fix = "choose a new name for every backup; nothing is written over"
        raise Occupied(f"the backup {place}", why="there is something of that name", fix=fix, value=str(place))
    fresh = place.with_name(f".{place.name}.{token_hex(8)}")
    try:
        fresh.mkdir(mode=0o700)
    except OSError as error:
        raise _unwritten(place, error) from None
    try:
        yield fresh
        for folder in (*(path for path in fresh.iterdir() if path.is_dir()), fresh):
            flush_folder(folder)
        fresh.rename(place)
        flush_folder(place.parent)
    except OSError as error:
        if isinstance(error, Refusal):
            raise
        raise _unwritten(place, error) from None
    finally:
        with suppress(OSError):
            rmtree(fresh)


def _unwritten(place: Path, error: OSError) -> Unavailable:
    why = f"it cannot be written ({error.strerror})"
    fix = "make room, or choose a folder that exists and that you may write to; the vault is as it was"
    return Unavailable(f"the backup {place}", why=why, fix=fix, value=str(place))
