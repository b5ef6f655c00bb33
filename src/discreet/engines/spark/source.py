"""What Spark reads, and how a change is noticed: the home of folders and catalog tables; see `engines.source.Home`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from discreet.core.errors import BadParameter, Refusal
from discreet.engines.duckdb import source as files_here
from discreet.engines.duckdb.files import files, same_files
from discreet.engines.engine import Allotment
from discreet.engines.source import Constraints, Sibling, Source, SourceChanged, SourceMissing, missing
from discreet.engines.spark.engine import SparkEngine
from discreet.engines.spark.frames import (
    ENDINGS,
    GLOB,
    as_files,
    cluster_of,
    folder_frame,
    is_here,
    local_path,
    master_of,
    parquet_files,
    table_frame,
)
from discreet.engines.spark.frames import view_name as from_sql
from discreet.engines.spark.moments import in_milliseconds
from discreet.engines.spark.session import session, withheld

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

__all__ = [
    "ENGINE",
    "SHARES",
    "check_unchanged",
    "constraints",
    "describe",
    "fingerprint",
    "from_sql",
    "holds_unique",
    "is_untouched",
    "opened",
    "same",
    "settle",
    "siblings",
]

ENGINE = "spark"
# The files that DuckDB reads here may be the same.
SHARES = frozenset({"duckdb"})
# DuckDB's names of Spark's types.
_NAMES = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "string": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
    "binary": "BLOB",
}
# Clocks of file systems are coarse: a file changed again within this time of its stamp might look unchanged.
_COARSE_SECONDS = 2.0
_STORED = ("MANAGED", "EXTERNAL")

Listing = list[tuple[str, int, int]]  # name, bytes, milliseconds since 1970


def settle(source: Source) -> Source:
    """Return the source as it is stored: a folder's path absolute; checked to be there."""
    found = replace(source, path=local_path(source.path)) if is_here(source) else source
    if is_here(found):
        found = replace(found, path=as_files(found).resolved().path)
    if not _listed(found):
        raise missing(source.path, "Spark finds no files there")
    return found


def describe(source: Source) -> dict[str, str]:
    """Return the physical type of every column, from the schema alone, by DuckDB's names.

    Parquet files whose schemas differ are refused: reading one as the other could fail on a record.
    """
    if is_here(source):
        files_here.describe(as_files(source))
    found = session(master_of(source))
    try:
        with withheld():
            schema = table_frame(found, source).schema
            merged = None if cluster_of(source).catalog else folder_frame(found, source, merge=True).schema
    except Refusal:
        raise missing(source.path, "Spark cannot read its schema") from None
    if merged is not None and {field.name: field.dataType for field in merged} != {
        field.name: field.dataType for field in schema
    }:
        why, fix = "the schemas of its files differ", "write all files of one table with one schema"
        raise BadParameter("source", source.path, why=why, fix=fix)
    _check_moments(found, source)
    return {field.name: _name(field.dataType) for field in schema}


def fingerprint(source: Source, key: bytes) -> dict[str, Any]:
    """Return what `check_unchanged` will want to see: names, sizes and times of all files, and their keyed digest.

    Contents are not read, for there may be too many of them: what replaces a file of the same name, size and time, is
    not noticed. Files changed in the last two seconds are waited for, so a change of theirs would show.
    """
    listing = _listed(source)
    fresh = max((changed for _, _, changed in listing), default=0) / 1000 + _COARSE_SECONDS - time.time()
    if 0 < fresh <= _COARSE_SECONDS:
        time.sleep(fresh)
        listing = _listed(source)
    return {"stamp": [list(each) for each in listing], "digest": _digest(listing, key)}


def is_untouched(source: Source, stored: Mapping[str, Any]) -> bool:  # noqa: ARG001
    """Never: its files are looked for, perhaps in a store that is far away."""
    return False


def check_unchanged(name: str, source: Source, stored: Mapping[str, Any], key: bytes) -> dict[str, Any] | None:
    """Refuse a source whose files are not those that were registered.

    The text names the table and not the place: an analyst may read it.
    """
    try:
        listing = _listed(source)
    except SourceMissing:
        listing = []
    if not listing:
        why, fix = "its files are not where they were registered", f"put them back, or run discreet refresh {name}"
        raise SourceMissing(f"the source of {name!r} is missing", why=why, fix=fix, value=name) from None
    if _digest(listing, key) != stored["digest"]:
        why = "its files are no longer those that were registered, and answers name the version they are about"
        fix = f"run discreet refresh {name}, which keeps the budget and counts a new version"
        raise SourceChanged(f"the source of {name!r} changed", why=why, fix=fix, value=name)
    return None


def same(one: Source, other: Source) -> bool:
    """Whether two sources share a file, by any names they reach it; either may be files that DuckDB reads."""
    if one.path == other.path and one.kind == other.kind:
        return True
    if is_here(one) and is_here(other):
        return same_files(as_files(one), as_files(other))
    return bool({name for name, _, _ in _listed(one)} & {name for name, _, _ in _listed(other)})


def _check_moments(found: SparkSession, source: Source) -> None:
    """Refuse what would be computed while rows are read, where that could fail: views, milliseconds of the catalog."""
    with withheld():
        if cluster_of(source).catalog and found.catalog.getTable(source.path).tableType not in _STORED:
            why = "it is a view, computed when it is read: one row could make every question fail"
            raise BadParameter("source", source.path, why=why, fix="write its rows to a table, and register that")
        coarse = {*in_milliseconds(found, parquet_files(source, table_frame(found, source)))}
    if len(coarse) > 1:
        why, fix = "its files count moments in different units", "write all files of one table with one schema"
        raise BadParameter("source", source.path, why=why, fix=fix)
    if cluster_of(source).catalog and (names := sorted(*coarse)):
        why = "Spark converts milliseconds while it reads a catalog table, and one value could make every question fail"
        fix = f"register its folder, or write {', '.join(names)} in microseconds"
        raise BadParameter("source", source.path, why=why, fix=fix)


def holds_unique(source: Source, column: str) -> bool:  # noqa: ARG001  (files have no constraints)
    """Whether what stores the rows guarantees that no two of them have equal values of a column: files never do."""
    return False


def constraints(source: Source) -> Constraints:  # noqa: ARG001  (files have none)
    """Return what a catalogue says of keys and references: of files nothing."""
    return Constraints()


def siblings(source: Source) -> Sequence[Sibling]:  # noqa: ARG001  (files have no catalogue)
    """Return the tables beside one in its catalogue: files have none."""
    return ()


def opened(
    sources: Sequence[Source],
    secret: bytes,
    allotment: Allotment | None = None,  # noqa: ARG001  (of the machine here; Spark has limits of its own)
) -> SparkEngine:
    """Return an engine, to be entered, that can read all of these."""
    return SparkEngine(sources, secret)


def _listed(source: Source) -> Listing:
    """Return the files of a source, in the order of their names."""
    if is_here(source):
        stats = [(str(file), file.stat()) for file in files(as_files(source))]
        return [(name, status.st_size, status.st_mtime_ns // 1_000_000) for name, status in stats]
    found = session(master_of(source))
    try:
        with withheld():
            return _asked(found, source)
    except Refusal:
        raise missing(source.path, "Spark cannot list its files") from None


def _asked(found: SparkSession, source: Source) -> Listing:
    """Ask Spark for names, sizes and times, whatever file system they are on; no content is read for it."""
    reader = found.read.format("binaryFile").option("recursiveFileLookup", True)
    if cluster_of(source).catalog:
        paths = [GLOB.sub(r"\\\1", unquote(local_path(file))) for file in found.table(source.path).inputFiles()]
    else:
        reader, paths = reader.option("pathGlobFilter", ENDINGS), [source.path]
    if not paths:
        return []
    rows = reader.load(paths).selectExpr("path", "length", "unix_millis(modificationTime)").collect()
    return sorted((local_path(str(name)), int(size), int(changed)) for name, size, changed in rows)


def _digest(listing: Sequence[tuple[str, int, int]], key: bytes) -> str:
    return blake2b(json.dumps(listing).encode(), key=key, digest_size=32).hexdigest()


def _name(kind: DataType) -> str:
    """Return DuckDB's name of a type; of what it does not know, Spark's own."""
    text = kind.simpleString()
    if text.startswith("decimal("):
        return text.upper()
    return "VARCHAR" if text.startswith("string") else _NAMES.get(text, text.upper())
