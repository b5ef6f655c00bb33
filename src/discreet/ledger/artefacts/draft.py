"""Drafts: files that are being written, and get their name when all of it is on disk."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Self

from discreet.core.file import flush_folder, flushed
from discreet.ledger.artefacts.artefact import Artefact, check_ending
from discreet.ledger.refusals import Unavailable

# What is read, hashed and copied at once, however large a file is.
CHUNK = 1 << 20
DRAFT = ".draft"
_HOW = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_TRIES = 8


class ArtefactDraft:
    """A file that is being written, for its owner alone; by `file`, or by others who write to `path`.

    `finish` flushes it to disk and gives it its name; whoever settles it releases it then. In a `with` block a draft
    that fails is removed. A writer that is killed leaves a file that nobody holds, which `Orphans` finds.

    Guarantee: nothing has a final name that is not wholly on disk, and its name as well.
    """

    __slots__ = ("_held", "_media", "_name", "file", "path")

    def __init__(self, folder: Path, media: str, ending: str) -> None:
        check_ending(ending, media)
        self._media = media
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._held = self._made(folder, ending)
            self.file: BinaryIO = os.fdopen(os.dup(self._held), "r+b")
        except OSError as error:
            raise unwritten(folder, error) from None

    def _made(self, folder: Path, ending: str) -> int:
        """Make the file and hold it; someone who looks for orphans may have taken it away between the two."""
        for _ in range(_TRIES):
            self._name = token_hex(16) + ending
            self.path = folder / f".{self._name}{DRAFT}"
            held = os.open(self.path, _HOW | os.O_CREAT | os.O_EXCL, 0o600)
            if is_held(held) and is_at(held, self.path):
                return held
            os.close(held)
        raise OSError(0, "another program removes it")

    def finish(self) -> Artefact:
        """Write everything to disk, give the file its name, and return what is to be settled."""
        try:
            self.file.close()
            if not is_at(self._held, self.path):  # who wrote by its name may have made another file of it
                old, self._held = self._held, os.open(self.path, _HOW)
                os.close(old)
                is_held(self._held)
            if sys.platform != "win32":
                os.fchmod(self._held, 0o600)
            flushed(self._held)
            size, digest = content(self._held)
            place = self.path.with_name(self._name)
            if sys.platform == "win32":  # where an open file keeps its name
                self.release()
            self.path.rename(place)
            self.path = place
            flush_folder(place.parent)
        except OSError as error:
            raise unwritten(self.path.parent, error) from None
        return Artefact(self._name, size, digest, self._media)

    def release(self) -> None:
        """Let go of the file, once it is settled or is nobody's any more."""
        held, self._held = self._held, -1
        with suppress(OSError):
            self.file.close()
        if held >= 0:
            os.close(held)

    def discard(self) -> None:
        """Remove the file: it is not settled, and never will be."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.release()

    def __del__(self) -> None:
        if hasattr(self, "file"):
            if self.path.name.endswith(DRAFT):  # never finished, so nobody can have settled it
                self.discard()
            self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.discard()


def content(file: int) -> tuple[int, str]:
    """Return size and SHA-256 of an open file, read in pieces."""
    found, size = sha256(), 0
    os.lseek(file, 0, os.SEEK_SET)
    while piece := os.read(file, CHUNK):
        found.update(piece)
        size += len(piece)
    return size, found.hexdigest()


def is_held(file: int) -> bool:
    """Take a file for this process alone; False where another has it. Systems without such locks say yes."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk without locks
        return True
    return True


def unwritten(folder: Path, error: OSError) -> Unavailable:
    """Return the refusal of a file that cannot be written."""
    fix = f"make room in {folder}, and let this user alone write there; then ask again: what was paid is not paid twice"
    why = f"it cannot be written ({error.strerror})"
    return Unavailable(f"a file in {folder}", why=why, fix=fix, value=str(folder))


def is_at(file: int, path: Path) -> bool:
    """Whether a path names an open file."""
    try:
        return os.path.samestat(os.fstat(file), path.lstat())
    except FileNotFoundError:
        return False
