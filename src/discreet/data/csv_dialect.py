"""The dialect of a CSV file: declared, never sniffed, and the names in its first line."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

from discreet.core.column import check_name
from discreet.core.errors import BadParameter, Refusal

# A header longer than this is no header; reading on would be reading records.
_MOST_HEADER = 1 << 20


class SourceMissing(Refusal, FileNotFoundError):
    """A source whose files are not there, or cannot be read as what they should be."""

    def __str__(self) -> str:
        return Refusal.__str__(self)  # OSError would print an errno


@dataclass(frozen=True, slots=True)
class Csv:
    """The dialect of a CSV file: declared, never sniffed; `quote=None` says that every line is one record.

    Where `header` is true the first line is skipped, and names the columns unless `names` does. `columns` has the names
    in the end, once `settle` has looked.
    """

    delimiter: str = ","
    quote: str | None = '"'
    header: bool = True
    names: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, value in (("delimiter", self.delimiter), ("quote", self.quote)):
            if value is None and name == "quote":
                continue
            if not isinstance(value, str) or len(value) != 1 or value in "\r\n\0" or not value.isascii():
                why, fix = "it has to be one ASCII character, and not the end of a line", "use ',', ';', '|' or a tab"
                raise BadParameter(name, value, why=why, fix=fix)
        if self.delimiter == self.quote:
            why = "fields cannot be separated and enclosed by one character"
            raise BadParameter("quote", self.quote, why=why, fix="use another, or None for a file without quotes")
        if self.names is None and not self.header:
            why = "a file without a header does not say what its columns are called"
            raise BadParameter("names", None, why=why, fix="give the names of all columns, in their order")
        for names in (self.names, self.columns):
            if names is not None:
                _check_names(names)


def header_of(path: Path, dialect: Csv) -> tuple[str, ...]:
    """Return the names in the first line of a file; columns without a name get one by their place."""
    try:
        with gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb") as file:
            text = file.readline(_MOST_HEADER).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError):
        raise missing(str(path), "its first line cannot be read as UTF-8 text") from None
    names = _split(text, dialect)
    if not names:
        why = "it is empty, so that there is no line of names"
        fix = "write the names into its first line, or give them: csv(path, header=False, names=(...))"
        raise SourceMissing(f"source {path}", why=why, fix=fix, value=str(path))
    named = tuple(name.strip() or f"column{number}" for number, name in enumerate(names))
    _check_names(named)
    return named


def _split(line: str, dialect: Csv) -> list[str]:
    if dialect.quote is None:
        return line.rstrip("\r\n").split(dialect.delimiter) if line.strip() else []
    if line.count(dialect.quote) % 2:
        why, fix = "a quoted name goes on in the next line", "name the columns yourself: csv(path, names=(...))"
        raise BadParameter("header", line, why=why, fix=fix)
    return next(csv.reader([line], delimiter=dialect.delimiter, quotechar=dialect.quote), [])


def _check_names(names: tuple[str, ...]) -> None:
    if not names:
        raise BadParameter("names", names, why="a table has columns", fix="give the names of all columns in order")
    seen: dict[str, str] = {}
    for name in names:
        check_name("names", name)
        if name.casefold() in seen:
            why = f"the file has a column {seen[name.casefold()]!r} already, and capital letters do not count"
            raise BadParameter("names", name, why=why, fix="name each column once: csv(path, names=(...))")
        seen[name.casefold()] = name


def missing(path: str, why: str) -> SourceMissing:
    """Return the refusal of a file that is not there or not what it should be."""
    return SourceMissing(f"source {path}", why=why, fix="give the path of a file that can be read", value=path)
