"""The files of an open vault: whether its path still names what is open, and whether another name does.

SQLite finds the log of a database by the name of the database. Two programs that have one database open under two
names, or of which one has a log open that was removed, do not see each other's charges.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Self

from discreet.core.value import dataclass
from discreet.ledger.refusals import Tampered, Unavailable

Identity = tuple[int, int]

_MOUNTS = Path("/proc/self/mountinfo")


@dataclass(frozen=True, slots=True)
class OpenFiles:
    """The database and the log that a connection has open, known by device and inode.

    They are looked at by name and never opened here: to close a file that SQLite has open is to lose its locks.
    """

    path: Path
    database: Identity | None
    log: Identity | None

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return the files of a connection that was just made."""
        found = cls(path, *_identities(path))
        found.check()
        return found

    def check(self) -> None:
        """Refuse a vault whose files were moved, removed or replaced, or that has a second name.

        Guarantee: a charge that was made before this returns lies where whoever opens the vault next looks for it.
        """
        database, log = _identities(self.path)
        if database is None or (database, log) != (self.database, self.log):
            why = "its files were moved, removed or replaced while it was open, so that charges may be lost"
            fix = "end the programs that have it open, put its newest files back together (the vault, -wal and .anchor)"
            raise Tampered(f"the vault {self.path}", why=why, fix=f"{fix}, open it again and verify it")


def check_names(path: Path) -> None:
    """Refuse a file that may have another name, before it is opened."""
    if _is_mounted(path):
        why = "the file is a mount point of its own, apart from its log and from others who have it open"
        fix = "mount the folder in which it lies, and not the file"
        raise Unavailable(f"the vault {path}", why=why, fix=fix, value=str(path))
    _identities(path)


def _identities(path: Path) -> tuple[Identity | None, Identity | None]:
    try:
        found = os.stat(path)  # noqa: PTH116  (this is the hot path)
    except FileNotFoundError:
        return None, None
    except OSError as error:
        why, fix = f"its file cannot be looked at ({error.strerror})", "make its folder readable again"
        raise Unavailable(f"the vault {path}", why=why, fix=fix, value=str(path)) from None
    if found.st_nlink > 1:
        why = "the file has another name (a hard link), under which others would not see its charges"
        fix = "remove the other name; to have a copy, close the vault and copy its files"
        raise Unavailable(f"the vault {path}", why=why, fix=fix, value=str(path))
    return (found.st_dev, found.st_ino), _log(path)


def _log(path: Path) -> Identity | None:
    try:
        found = os.stat(f"{path}-wal")  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_mounted(path: Path) -> bool:
    """Whether the file itself is a mount point, as in a container that was given one file."""
    if sys.platform != "linux":  # elsewhere files are not mounted
        return False
    try:
        lines = _MOUNTS.read_bytes().splitlines()
    except OSError:  # no /proc: the anchor tells
        return False
    wanted = os.fsencode(os.path.realpath(path))
    for mark in b"\\ \t\n":
        wanted = wanted.replace(bytes([mark]), b"\\%03o" % mark)
    return any(line.split(b" ")[4:5] == [wanted] for line in lines)
