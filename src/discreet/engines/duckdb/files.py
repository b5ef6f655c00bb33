"""The files of a source: a file, the Parquet files of a folder, or what fits a pattern."""

from __future__ import annotations

import glob
from pathlib import Path

from discreet.engines.source import Source, missing

PARQUET = (".parquet", ".pq")


def files(source: Source) -> list[Path]:
    """Return the files of a source, in the order of their names, or refuse a source without any."""
    found = files_of(source.path, pattern=source.kind != "csv")
    if source.kind == "csv" and (not found or not found[0].is_file()):
        raise missing(source.path, "a CSV source is one file, and there is none")
    if not found:
        raise missing(source.path, "there are no Parquet files")
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


def same_files(one: Source, other: Source) -> bool:
    """Whether two sources share a file, by whatever paths they reach it."""
    identities = [{_identity(file) for file in files_of(source.path)} for source in (one, other)]
    return one.path == other.path or bool(identities[0] & identities[1])


def _identity(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_dev, status.st_ino
