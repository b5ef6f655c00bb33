"""The folder of a vault's artefacts: new ones, checked ones, and those that killed writers left."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from discreet.core.file import new_file
from discreet.ledger.artefacts.artefact import Artefact, is_name
from discreet.ledger.artefacts.draft import CHUNK, DRAFT, ArtefactDraft, content, is_held
from discreet.ledger.refusals import Tampered, Unavailable

_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Where files cannot be held, nobody can tell a living writer: what is older than this has none.
_OLD = 2 * 24 * 60 * 60.0


class ArtefactFolder:
    """The published files of one vault.

    Guarantee: what is read of a file has the size and the SHA-256 that were settled, or it is refused, and nothing of
    it is handed on; a link is never followed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def draft(self, media: str = "application/octet-stream", ending: str = "") -> ArtefactDraft:
        """Begin a file, which has no name before it is finished."""
        return ArtefactDraft(self.path, media, ending)

    def text(self, artefact: Artefact) -> str:
        """Return a file that is an answer."""
        with self._opened(artefact) as file:
            with os.fdopen(os.dup(file), "rb") as stream:
                found = stream.read(artefact.size + 1)
            if (len(found), sha256(found).hexdigest()) != (artefact.size, artefact.sha256):
                raise self._changed(artefact)
            return found.decode()

    def check(self, artefact: Artefact, *, contents: bool = True) -> None:
        """Refuse a file that was lost or changed; without `contents`, by its size alone."""
        with self._opened(artefact) as file:
            if contents and content(file) != (artefact.size, artefact.sha256):
                raise self._changed(artefact)

    def copy(self, artefact: Artefact, place: str | Path, *, force: bool = False) -> None:
        """Copy a file to a new place, in constant memory; one that turns out to be changed leaves nothing there."""
        with self._opened(artefact) as file, new_file(place, force=force, private=True) as fresh:
            found, size = sha256(), 0
            with fresh.open("wb") as out:
                while piece := os.read(file, CHUNK):
                    found.update(piece)
                    size += out.write(piece)
            if (size, found.hexdigest()) != (artefact.size, artefact.sha256):
                raise self._changed(artefact)

    def is_there(self, artefact: Artefact) -> bool:
        """Whether there is something of that name."""
        try:
            return is_name(artefact.name) and stat.S_ISREG((self.path / artefact.name).lstat().st_mode)
        except OSError:
            return False

    def strangers(self, is_settled: Callable[[str], bool]) -> list[str]:
        """Return the names of files that no entry settled and no living writer holds, in order."""
        return [path.name for path, _ in self._orphans(is_settled)]

    def remove_strangers(self, is_settled: Callable[[str], bool]) -> list[str]:
        """Remove what `strangers` returns, each while it is held, and return the names.

        Guarantee: a file that is settled meanwhile, or is being written, stays: whoever writes holds it until it is
        settled, and it is asked for its settlement only once it is held here.
        """
        found = []
        for path, _ in self._orphans(is_settled):
            with suppress(OSError):
                path.unlink()
                found.append(path.name)
        return found

    def _orphans(self, is_settled: Callable[[str], bool]) -> Iterator[tuple[Path, int]]:
        """Yield files that are nobody's, each held while it is looked at."""
        try:
            paths = sorted(path for path in self.path.iterdir() if _is_ours(path.name))
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unread(error) from None
        for path in paths:
            try:
                held = os.open(path, _READING)
            except OSError:  # it got its name meanwhile, or is none of ours
                continue
            try:
                if stat.S_ISREG(os.fstat(held).st_mode) and _is_left(held) and not is_settled(path.name):
                    yield path, held
            finally:
                os.close(held)

    @contextmanager
    def _opened(self, artefact: Artefact) -> Iterator[int]:
        if not artefact.is_sound:
            raise Tampered("a file", why="no ledger gives such a name to one")
        try:
            file = os.open(self.path / artefact.name, _READING)
        except FileNotFoundError:
            why = "it is not there"
            fix = f"put it back into {self.path} from a copy, or ask on the machine that has it; or pay for another"
            raise Unavailable(f"the file {artefact.name}", why=why, fix=fix, value=artefact.name) from None
        except OSError as error:
            raise self._unread(error) from None
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_size != artefact.size:
                raise self._changed(artefact)
            yield file
        finally:
            os.close(file)

    def _changed(self, artefact: Artefact) -> Tampered:
        why = "it is not what was settled under its name"
        fix = f"put the file of {artefact.size:,} bytes with the SHA-256 {artefact.sha256} back, from a copy"
        return Tampered(f"the file {artefact.name}", why=why, fix=fix)

    def _unread(self, error: OSError) -> Unavailable:
        why, fix = f"it cannot be read ({error.strerror})", "make it readable for this user"
        return Unavailable(f"the folder {self.path}", why=why, fix=fix, value=str(self.path))


def _is_ours(name: str) -> bool:
    return is_name(name.removeprefix(".").removesuffix(DRAFT))


def _is_left(held: int) -> bool:
    """Whether no living writer has the file; where that cannot be known, whether it is old."""
    if sys.platform == "win32":
        return time.time() - os.fstat(held).st_mtime > _OLD
    return is_held(held)
