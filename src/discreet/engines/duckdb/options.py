"""The kinds of source that DuckDB reads: CSV and Parquet files, and copies of rows from memory."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from discreet.core.column import check_name
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass, replace
from discreet.engines.duckdb.files import PARQUET, files_of
from discreet.engines.source import Source, SourceKind, SourceOptions, missing

_CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Csv(SourceOptions):
    """The dialect of a CSV file: declared, never sniffed; `quote=None` says that quotes are characters like others.

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
                check_names(names)

    @property
    def unsettled(self) -> Self:
        """The dialect as it was declared, before a header was read."""
        return replace(self, columns=None)


KINDS = {
    "csv": SourceKind(Csv, written="csv(path, ...)"),
    "parquet": SourceKind(written="parquet(path)"),
    "memory-copy": SourceKind(),
}


def csv(
    path: str | Path,
    *,
    delimiter: str = ",",
    quote: str | None = '"',
    header: bool = True,
    names: tuple[str, ...] | None = None,
) -> Source:
    """Describe a CSV file (.gz too); every column is read as text, whatever the records look like."""
    return Source("csv", str(path), Csv(delimiter, quote, header, None if names is None else tuple(names)))


def parquet(path: str | Path) -> Source:
    """Describe a Parquet file, a folder of them, or a pattern."""
    return Source("parquet", str(path))


def located(text: str) -> Source:
    """Return the source that a path means, by its ending; a folder holds Parquet files."""
    lower = text.lower()
    if lower.endswith(_CSV):
        return csv(text, delimiter="\t" if ".tsv" in lower[-7:] else ",")
    if lower.endswith(PARQUET) or Path(text).is_dir():
        return parquet(text)
    if not files_of(text) and not _WILD & set(text):
        raise missing(text, "there is no such file")
    why = f"its ending is none of {', '.join((*_CSV, *PARQUET))}"
    raise BadParameter("source", text, why=why, fix="say what it is: csv(path, delimiter=...) or parquet(path)")


def check_names(names: tuple[str, ...]) -> None:
    """Refuse names of columns that engines could not tell apart."""
    if not names:
        raise BadParameter("names", names, why="a table has columns", fix="give the names of all columns in order")
    seen: dict[str, str] = {}
    for name in names:
        check_name("names", name)
        if name.casefold() in seen:
            why = f"the file has a column {seen[name.casefold()]!r} already, and capital letters do not count"
            raise BadParameter("names", name, why=why, fix="name each column once: csv(path, names=(...))")
        seen[name.casefold()] = name
