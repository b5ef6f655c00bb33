"""The files of a source: a file, the Parquet files of a folder, or what fits a pattern."""

from __future__ import annotations

import glob
import os
import re
from functools import partial
from pathlib import Path

from discreet.core.file import keep_source
from discreet.engines.source import Source, missing

PARQUET = (".parquet", ".pq")


def files(source: Source) -> list[Path]:
    """Return the files of a source, in the order of their names, or refuse a source without any."""
    found = files_of(source.path, pattern=source.kind != "csv")
    if source.kind == "csv" and (not found or not found[0].is_file()):
        raise missing(source.path, "a CSV source is one file, and there is none")
    if not found:
        raise missing(source.path, "there are no Parquet files")
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
