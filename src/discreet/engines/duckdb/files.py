"""The files of a source: a file, the Parquet files of a folder, or what fits a pattern.

Fingerprints notice a changed source. They are kept inside the vault and shown to nobody: a digest of the rows would
tell two neighbouring tables apart, so no fingerprint may enter a key, a chain, a receipt or a certificate; the digest
is also keyed, so that whoever sees one cannot test a guess of the data.
"""

from __future__ import annotations

import glob
import os
import re
import time
from collections.abc import Mapping
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from discreet.core.file import SOURCES, keep_source
from discreet.engines.source import Source, SourceChanged, SourceMissing, missing

PARQUET = (".parquet", ".pq")


def files(source: Source) -> list[Path]:
    """Return the files of a source, in the order of their names, or refuse a source without any."""
    found = files_of(source.path, pattern=source.kind != "csv")
    if source.kind == "csv" and (not found or not found[0].is_file()):
        raise missing(source.path, "a CSV source is one file, and there is none")
    if not found:
        raise missing(source.path, "there are no Parquet files")
    if source.path not in SOURCES:
        keep_source(source.path, partial(reads, source.path))
    return found


def files_of(path: str, *, pattern: bool = True) -> list[Path]:
    """Return the files a path means: itself, the Parquet files of a folder, or what fits a pattern."""
    if pattern and Path(path).resolve() == Path(Path(path).resolve().anchor):
        raise missing(path, "this is all that there is on the machine, and not the folder of one table")
    try:
        return _files_of(Path(path), path, pattern)
    except OSError:  # a folder that may not be entered, or one that is gone while it is looked through
        raise missing(path, "it cannot be looked through") from None


def _files_of(whole: Path, path: str, pattern: bool) -> list[Path]:
    if not pattern or whole.is_file():
        return [whole] if whole.is_file() else []
    if whole.is_dir():
        # Files whose names begin with . or _ are the notes of other programs (_SUCCESS, .crc).
        return sorted(
            file for file in whole.rglob("*") if file.name.lower().endswith(PARQUET) and file.name[0] not in "._"
        )
    return sorted(Path(found) for found in glob.glob(path, recursive=True) if Path(found).is_file())  # noqa: PTH207


def reads(path: str, place: Path) -> bool:
    """Whether a file at a place is read as rows of the source with that path, or would be if it were there."""
    try:
        own = place.parent.resolve() / place.name
        if any(own == file.resolve() or _same(own, file) for file in files_of(path)):
            return True
    except (OSError, RuntimeError, ValueError):  # what cannot be looked at is not written either
        return False
    whole = Path(path)
    if not _WILD & set(path):
        return own == whole.resolve() or (whole.is_dir() and whole.resolve() in own.parents)
    first = next(at for at, part in enumerate(whole.parts) if _WILD & set(part))
    base, rest = Path(*whole.parts[:first]).resolve(), whole.parts[first:]
    ways = {own, Path(os.path.abspath(place))}  # a link may lie behind a star  # noqa: PTH100
    return any(re.fullmatch(_pattern(rest), str(way.relative_to(base))) for way in ways if way.is_relative_to(base))


_WILD = frozenset("*?[")


def _pattern(parts: tuple[str, ...]) -> str:
    """Return the regular expression of a pattern: ** stands for any folders, none included."""
    texts = ["(?:.*/)?" if part == "**" else _part(part) + "/" for part in parts]
    return "".join(texts).removesuffix("/")


def _part(part: str) -> str:
    signs = {"*": "[^/]*", "?": "[^/]"}
    found = re.split(r"(\*+|\?|\[[^]]+\])", part)
    return "".join(
        signs.get(text[:1], text.replace("[!", "[^")) if number % 2 else re.escape(text)
        for number, text in enumerate(found)
    )


def _same(one: Path, other: Path) -> bool:
    return one.exists() and one.samefile(other)


def same_files(one: Source, other: Source) -> bool:
    """Whether two sources share a file, by whatever paths they reach it."""
    identities = [{_identity(file) for file in files_of(source.path)} for source in (one, other)]
    return one.path == other.path or bool(identities[0] & identities[1])


def _identity(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_dev, status.st_ino


_CHUNK = 1 << 20

# Clocks of file systems are coarse: a file changed again within this time of its stamp might look unchanged.
_COARSE = 2_000_000_000


def stamp(source: Source) -> list[list[int | str]]:
    """Return name, size, times and inode of every file: what changes when a file does, at no cost."""
    found: list[list[int | str]] = []
    for file in files(source):
        status = file.stat()
        found.append([str(file), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino])
    return found


def digest(source: Source, key: bytes) -> str:
    """Return a keyed digest of the contents of all files; neither names nor order matter."""
    parts = []
    for path in files(source):
        part = blake2b(key=key, digest_size=32)
        try:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    part.update(chunk)
        except OSError:
            why, fix = "it cannot be read", "give yourself the right to read it"
            raise SourceMissing(f"source {path}", why=why, fix=fix, value=str(path)) from None
        parts.append(part.digest())
    return blake2b(b"".join(sorted(parts)), key=key, digest_size=32).hexdigest()


def fingerprint(source: Source, key: bytes) -> dict[str, Any]:
    """Return what `check_unchanged` will want to see: the stamp, when it was taken, and the digest."""
    taken = time.time_ns()
    return {"taken": taken, "stamp": stamp(source), "digest": digest(source, key)}


def check_unchanged(name: str, source: Source, stored: Mapping[str, Any], key: bytes) -> dict[str, Any] | None:
    """Refuse a source that changed; return a renewed fingerprint where only the stamp did, else None.

    The text names the table and not the file: an analyst may read it.
    """
    taken = time.time_ns()
    try:
        now = stamp(source)
        if now == stored["stamp"] and _settled(stored):
            return None
        if digest(source, key) == stored["digest"]:
            return {"taken": taken, "stamp": now, "digest": stored["digest"]}
    except SourceMissing:
        why, fix = "its files are not where they were registered", f"put them back, or run discreet refresh {name}"
        raise SourceMissing(f"the source of {name!r} is missing", why=why, fix=fix, value=name) from None
    why = "its rows are no longer those that were registered, and answers name the version they are about"
    fix = f"run discreet refresh {name}, which keeps the budget and counts a new version"
    raise SourceChanged(f"the source of {name!r} changed", why=why, fix=fix, value=name)


def is_untouched(source: Source, stored: Mapping[str, Any]) -> bool:
    """Whether the stamp of a source that is one file is as it was; of more files this would be a search."""
    if len(stored["stamp"]) != 1 or stored["stamp"][0][0] != source.path or not _settled(stored):
        return False
    try:
        status = os.stat(source.path)  # noqa: PTH116  (this is the hot path)
    except (OSError, ValueError):
        return False
    times = [status.st_mtime_ns, status.st_ctime_ns]
    return bool(stored["stamp"][0] == [source.path, status.st_size, *times, status.st_ino])


def _settled(stored: Mapping[str, Any]) -> bool:
    """Whether the files were old enough, when they were stamped, that a later change must show."""
    return all(int(times) < stored["taken"] - _COARSE for _, _, *both, _ in stored["stamp"] for times in both)
