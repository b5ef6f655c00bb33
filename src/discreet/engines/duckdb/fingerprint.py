"""Fingerprints of files: how a changed source is noticed. They are kept inside the vault and shown to nobody.

A digest of the rows would tell two neighbouring tables apart, so that no fingerprint may enter a key, a chain, a
receipt or a certificate; the digest is keyed besides, so that who sees one cannot test a guess of the data.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from discreet.engines.duckdb.files import files
from discreet.engines.source import Source, SourceChanged, SourceMissing

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


def _settled(stored: Mapping[str, Any]) -> bool:
    """Whether the files were old enough, when they were stamped, that a later change must show."""
    return all(int(times) < stored["taken"] - _COARSE for _, _, *both, _ in stored["stamp"] for times in both)
