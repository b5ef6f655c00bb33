"""What Spark reads: folders of Parquet files, here or at a URL, and catalog tables; and how a change is noticed."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from discreet.core.errors import BadParameter, Refusal
from discreet.engines import source as files_here
from discreet.engines.csv_dialect import SourceMissing, missing
from discreet.engines.fingerprint import SourceChanged
from discreet.engines.source import Source
from discreet.engines.spark.moments import as_integers, in_milliseconds, moment_sql
from discreet.engines.spark.options import Cluster
from discreet.engines.spark.session import session, withheld

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

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
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_GLOB = re.compile(r"([{}\[\]*?\\])")
_ENDINGS = "*.{parquet,pq,PARQUET,PQ}"
# Clocks of file systems are coarse: a file changed again within this time of its stamp might look unchanged.
_COARSE_SECONDS = 2.0
_STORED = ("MANAGED", "EXTERNAL")

Listing = list[tuple[str, int, int]]  # name, bytes, milliseconds since 1970


def settle(source: Source) -> Source:
    """Return the source as it is stored: a folder's path absolute; checked to be there."""
    found = replace(source, path=_local(source.path)) if _is_here(source) else source
    if _is_here(found):
        found = replace(found, path=_as_files(found).resolved().path)
    if not _listed(found):
        raise missing(source.path, "Spark finds no files there")
    return found


def describe(source: Source) -> dict[str, str]:
    """Return the physical type of every column, from the schema alone, by DuckDB's names.

    Parquet files whose schemas differ are refused: reading one as the other could fail on a record.
    """
    if _is_here(source):
        files_here.describe(_as_files(source))
    found = session(master_of(source))
    try:
        with withheld():
            schema = _table(found, source).schema
            merged = None if _cluster(source).catalog else _folder(found, source, merge=True).schema
    except Refusal:
        raise missing(source.path, "Spark cannot read its schema") from None
    if merged is not None and {field.name: field.dataType for field in merged} != {
        field.name: field.dataType for field in schema
    }:
        why, fix = "the schemas of its files differ", "write all files of one table with one schema"
        raise BadParameter("source", source.path, why=why, fix=fix)
    _check_moments(found, source)
    return {field.name: _name(field.dataType) for field in schema}


def read(found: SparkSession, source: Source) -> DataFrame:
    """Read the rows of a source; bytes that are no UTF-8 become U+FFFD, and texts compare by their bytes alone.

    Otherwise two texts that Spark tells apart could be one to us, and which of their counts we saw a matter of chance.
    """
    from pyspark.sql.types import StringType

    frame = _table(found, source)
    schema, coarse = frame.schema, _coarse(found, source, frame)
    if coarse:
        frame = _folder(found, source, schema=as_integers(schema, coarse))
    columns = []
    for field in schema:
        quoted = read_as = "`" + field.name.replace("`", "``") + "`"
        if field.name in coarse:
            read_as = moment_sql(quoted, field.dataType.simpleString())
        if isinstance(field.dataType, StringType):
            read_as = f"make_valid_utf8({quoted})"
            if field.dataType != StringType():  # a collation of its own
                read_as = f"collate({read_as}, 'UTF8_BINARY')"
        columns.append(f"{read_as} AS {quoted}")
    return frame.selectExpr(*columns)


def fingerprint(source: Source, key: bytes) -> dict[str, Any]:
    """Return what `check_unchanged` will want to see: names, sizes and times of all files, and their keyed digest.

    Contents are not read, for there may be too many of them: what replaces a file of the same name, size and time, is
    not noticed. Files changed in the last two seconds are waited for, so that a change of theirs would show.
    """
    listing = _listed(source)
    fresh = max((changed for _, _, changed in listing), default=0) / 1000 + _COARSE_SECONDS - time.time()
    if 0 < fresh <= _COARSE_SECONDS:
        time.sleep(fresh)
        listing = _listed(source)
    return {"stamp": [list(each) for each in listing], "digest": _digest(listing, key)}


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
    """Whether two sources share a file, by whatever names they reach it; either may be files that DuckDB reads."""
    if one.path == other.path and one.kind == other.kind:
        return True
    if _is_here(one) and _is_here(other):
        return files_here.same_files(_as_files(one), _as_files(other))
    return bool({name for name, _, _ in _listed(one)} & {name for name, _, _ in _listed(other)})


def master_of(source: Source) -> str | None:
    """Return where Spark has to run for this source, if it matters."""
    return _cluster(source).master


def _cluster(source: Source) -> Cluster:
    return source.options if isinstance(source.options, Cluster) else Cluster()


def _is_here(source: Source) -> bool:
    """Whether the path leads to files of this machine's file system."""
    return not _cluster(source).catalog and (not _URL.match(source.path) or source.path.startswith("file:/"))


def _local(url: str) -> str:
    """Return a file: URL as a path, and a path as it is."""
    return unquote(urlsplit(url).path) if url.startswith("file:/") else url


def _as_files(source: Source) -> Source:
    return Source("parquet", source.path) if source.kind == "spark" else source


def _table(found: SparkSession, source: Source) -> DataFrame:
    return found.table(source.path) if _cluster(source).catalog else _folder(found, source)


def _coarse(found: SparkSession, source: Source, frame: DataFrame) -> frozenset[str]:
    """Return the columns that hold moments in milliseconds; every file has the same, as `describe` has seen to."""
    moments = any(field.dataType.simpleString().startswith("timestamp") for field in frame.schema)
    return (
        in_milliseconds(found, _parquet(source, frame)[:1])[0] if moments and _parquet(source, frame) else frozenset()
    )


def _check_moments(found: SparkSession, source: Source) -> None:
    """Refuse what would be computed while rows are read, where that could fail: views, milliseconds of the catalog."""
    with withheld():
        if _cluster(source).catalog and found.catalog.getTable(source.path).tableType not in _STORED:
            why = "it is a view, computed when it is read: one row could make every question fail"
            raise BadParameter("source", source.path, why=why, fix="write its rows to a table, and register that")
        coarse = {*in_milliseconds(found, _parquet(source, _table(found, source)))}
    if len(coarse) > 1:
        why, fix = "its files count moments in different units", "write all files of one table with one schema"
        raise BadParameter("source", source.path, why=why, fix=fix)
    if _cluster(source).catalog and (names := sorted(*coarse)):
        why = "Spark converts milliseconds while it reads a catalog table, and one value could make every question fail"
        fix = f"register its folder, or write {', '.join(names)} in microseconds"
        raise BadParameter("source", source.path, why=why, fix=fix)


def _parquet(source: Source, frame: DataFrame) -> list[str]:
    """Return the Parquet files that a frame reads, as Java opens them."""
    if _is_here(source):
        return [str(file) for file in files_here.files(_as_files(source))]
    return [unquote(file) for file in frame.inputFiles() if file.lower().endswith((".parquet", ".pq"))]


def _folder(found: SparkSession, source: Source, *, merge: bool = False, schema: StructType | None = None) -> DataFrame:
    # Searched by names alone, a folder called year=2024 adds no column, whose type would be guessed.
    reader = found.read.option("recursiveFileLookup", True).option("mergeSchema", merge)
    reader = reader if schema is None else reader.schema(schema)
    if _is_here(source):
        return reader.parquet(*(_GLOB.sub(r"\\\1", str(file)) for file in files_here.files(_as_files(source))))
    return reader.option("pathGlobFilter", _ENDINGS).parquet(source.path)


def _listed(source: Source) -> Listing:
    """Return the files of a source, in the order of their names."""
    if _is_here(source):
        stats = [(str(file), file.stat()) for file in files_here.files(_as_files(source))]
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
    if _cluster(source).catalog:
        paths = [_GLOB.sub(r"\\\1", unquote(_local(file))) for file in found.table(source.path).inputFiles()]
    else:
        reader, paths = reader.option("pathGlobFilter", _ENDINGS), [source.path]
    if not paths:
        return []
    rows = reader.load(paths).selectExpr("path", "length", "unix_millis(modificationTime)").collect()
    return sorted((_local(str(name)), int(size), int(changed)) for name, size, changed in rows)


def _digest(listing: Sequence[tuple[str, int, int]], key: bytes) -> str:
    return blake2b(json.dumps(listing).encode(), key=key, digest_size=32).hexdigest()


def _name(kind: DataType) -> str:
    """Return DuckDB's name of a type; of what it does not know, Spark's own."""
    text = kind.simpleString()
    if text.startswith("decimal("):
        return text.upper()
    return "VARCHAR" if text.startswith("string") else _NAMES.get(text, text.upper())
