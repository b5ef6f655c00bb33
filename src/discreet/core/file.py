"""New files: the one way in which a result is written, and what is never written over."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.core.errors import BadParameter, Refusal

_DATABASE = b"SQLite format 3\0"
_ANCHOR = b'"anchor"'
# Folders beside a vault: its copies of rows, its published files, and the private states of running releases.
_FOLDERS = (".data", ".files", ".runs")
_NAMED = frozenset({"collection.json", "collection.key", "discreet.toml"})

# Databases that this process has open, by device and inode: to open and close one again would drop SQLite's locks.
_DATABASES: dict[tuple[int, int], Path] = {}
# Sources that this process has read, each with the test of whether a place belongs to it.
SOURCES: dict[str, Callable[[Path], bool]] = {}


class Occupied(Refusal, FileExistsError):
    """A file that is there already, and is not written over."""


def keep_database(path: Path) -> None:
    """Remember a database that is open: nothing looks into its file but the connection."""
    found = path.stat()
    _DATABASES[found.st_dev, found.st_ino] = path


def keep_source(name: str, belongs: Callable[[Path], bool]) -> None:
    """Remember a source that rows are read from: nothing is written over its files, or added to them."""
    SOURCES[name] = belongs


def check_place(path: Path, *, force: bool = False) -> None:
    """Refuse a place that nothing is written to: before anything is computed or paid.

    Guarantee: vaults and stores, what lies beside them or in their folders, anchors, collections, policies, sources
    that this process has read and symbolic links are never replaced, nor is anything new put there; other files are
    replaced only by force.
    """
    if not path.name:
        raise _unwritten(path)
    if _is_beside_vault(path) or _is_in_vault(path):
        raise _never(path, "it is a vault or a store, or belongs to one")
    if any(belongs(path) for belongs in SOURCES.values()):
        raise _never(path, "rows are read from there")
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        raise _unwritten(path) from error
    if not stat.S_ISREG(found.st_mode):
        raise _never(path, "it is a link, a folder or a device, and those are not followed")
    if path.name in _NAMED or _ANCHOR in _head(path):
        raise _never(path, "it belongs to a vault or a collection")
    if not force:
        fix = "choose another name, or overwrite it with force=True"
        raise Occupied(f"file {path}", why="it already exists", fix=fix, value=str(path))


@contextmanager
def new_file(path: str | Path, *, force: bool = False, private: bool = False) -> Iterator[Path]:
    """Yield a fresh place beside `path` to write to; what was written there gets the name at the end, or nothing does.

    Guarantee: as `check_place`, also if something appears there meanwhile: without force the name is taken only if it
    is still free, and a link is never followed.
    """
    place = Path(path)
    check_place(place, force=force)
    fresh = place.with_name(f".{secrets.token_hex(8)}{place.suffix}")
    try:
        # Made first, so anyone who writes to it finds a file of the right owner and mode.
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
    except (OSError, ValueError) as error:
        raise _unwritten(place) from error
    try:
        yield fresh
        check_place(place, force=force)
        _settle(fresh, place, force=force)
    except Refusal as refusal:  # of whoever wrote to it, and only knows that name
        refusal.what, refusal.fix = (text.replace(fresh.name, place.name) for text in (refusal.what, refusal.fix))
        refusal.value = str(place) if refusal.value in (fresh, str(fresh)) else refusal.value
        raise
    except OSError as error:
        raise _unwritten(place) from error
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def write_file(path: str | Path, text: str, *, force: bool = False, private: bool = False) -> None:
    """Write a text as a new file; with `private`, only its owner may read it."""
    with new_file(path, force=force, private=private) as place:
        place.write_text(text, encoding="utf-8")


def _settle(fresh: Path, place: Path, *, force: bool) -> None:
    """Give the file its name: a rename would write over what is there, a link does not."""
    try:
        if force:
            fresh.replace(place)
        else:
            place.hardlink_to(fresh)
    except FileExistsError as error:
        check_place(place)
        raise _unwritten(place) from error
    except OSError as error:  # a file system without links
        if force or not fresh.exists():
            raise _unwritten(place) from error
        mode = fresh.stat().st_mode & 0o777
        handle = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), mode)
        with os.fdopen(handle, "wb") as file:
            file.write(fresh.read_bytes())


def check_writable(path: Path) -> None:
    """Refuse a place in a folder where no file can be made, by making one and removing it."""
    fresh = path.with_name(f".{secrets.token_hex(8)}")
    try:
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        fresh.unlink()
    except (OSError, ValueError) as error:
        raise _unwritten(path) from error


def flushed(file: int) -> None:
    """Wait until an open file is on its disk, beyond the disk's own cache where the system can."""
    if sys.platform == "darwin":
        import fcntl

        with suppress(OSError):  # a disk that cannot
            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
            return
    os.fsync(file)


def flush_folder(folder: Path) -> None:
    """Make the names in a folder as durable as what they name, where folders can be flushed."""
    if sys.platform != "win32":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def home(variable: str, otherwise: str) -> Path:
    """Return the folder of Discreet in one of the user's base directories."""
    found = Path(os.environ.get(variable) or "")
    return (found if found.is_absolute() else Path.home() / otherwise) / "discreet"


def state_home() -> Path:
    """Return where this machine keeps anchors and keys of vaults in databases."""
    return home("XDG_STATE_HOME", ".local/state")


def data_home() -> Path:
    """Return where this machine keeps rows of vaults in databases."""
    return home("XDG_DATA_HOME", ".local/share")


def _is_beside_vault(path: Path) -> bool:
    """Return whether the place is a database, or named after one or after an anchor, as -wal, .data and .draws are."""
    name = path.name
    ends = [at for at, letter in enumerate(name) if letter in ".-" and at] + [len(name)]
    return any(_is_vault(path.with_name(name[:end])) for end in ends)


def _is_vault(path: Path) -> bool:
    return _head(path).startswith(_DATABASE) or _ANCHOR in _head(path.with_name(f"{path.name}.anchor"))


def _is_in_vault(path: Path) -> bool:
    """Return whether the place lies, wherever links lead, in the folder of a vault's rows or of this machine's keys."""
    try:
        real = path.parent.resolve()
        homes = state_home().resolve(), data_home().resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that no file can have, nobody's home
        return False
    folders = [each for each in (real, *real.parents) if each.name]
    return any(each in homes or (each.suffix in _FOLDERS and _is_vault(each.with_name(each.stem))) for each in folders)


def _head(path: Path) -> bytes:
    """Return the first bytes of a file, wherever a link leads; none where it cannot be read."""
    try:
        if not path.is_file():
            return b""
        found = path.stat()
        known = _DATABASES.get((found.st_dev, found.st_ino))
        if known is not None and known.exists() and known.samefile(path):
            return _DATABASE
        with path.open("rb") as file:
            return file.read(32)
    except (OSError, ValueError):
        return b""


def _never(path: Path, why: str) -> Refusal:
    return Occupied(f"file {path}", why=why, fix="choose another name; no option overwrites it", value=str(path))


def _unwritten(path: Path) -> BadParameter:
    fix = "use a folder that exists and that you may write to"
    return BadParameter("path", str(path), why="the file cannot be written", fix=fix)
