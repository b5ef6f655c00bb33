"""Frames: the rows of a source as Spark reads them, by the names of files alone and with no type guessed."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from discreet.engines.duckdb.files import files
from discreet.engines.source import Source
from discreet.engines.spark.moments import as_integers, in_milliseconds, moment_sql
from discreet.engines.spark.options import Cluster

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
GLOB = re.compile(r"([{}\[\]*?\\])")
ENDINGS = "*.{parquet,pq,PARQUET,PQ}"


def view_name(source: Source) -> str:
    """Return the name of the view under which an engine that was opened for the source reads it."""
    return f'"~source {blake2b(source.to_json().encode(), digest_size=12).hexdigest()}"'


def read(found: SparkSession, source: Source) -> DataFrame:
    """Read the rows of a source; bytes that are no UTF-8 become U+FFFD, and texts compare by their bytes alone.

    Otherwise two texts that Spark tells apart could be one to us, and which of their counts we saw a matter of chance.
    """
    from pyspark.sql.types import StringType

    frame = table_frame(found, source)
    schema, coarse = frame.schema, _coarse(found, source, frame)
    if coarse:
        frame = folder_frame(found, source, schema=as_integers(schema, coarse))
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


def master_of(source: Source) -> str | None:
    """Return where Spark has to run for this source, if it matters."""
    return cluster_of(source).master


def cluster_of(source: Source) -> Cluster:
    """Return where Spark runs for a source; files that DuckDB reads say nothing of it."""
    return source.options if isinstance(source.options, Cluster) else Cluster()


def is_here(source: Source) -> bool:
    """Whether the path leads to files of this machine's file system."""
    return not cluster_of(source).catalog and (not _URL.match(source.path) or source.path.startswith("file:/"))


def local_path(url: str) -> str:
    """Return a file: URL as a path, and a path as it is."""
    return unquote(urlsplit(url).path) if url.startswith("file:/") else url


def as_files(source: Source) -> Source:
    """Return the Parquet files of a source that is here, as DuckDB would read them."""
    return Source("parquet", source.path) if source.kind == "spark" else source


def table_frame(found: SparkSession, source: Source) -> DataFrame:
    """Return a catalog table, or the files of a folder, as Spark types them."""
    return found.table(source.path) if cluster_of(source).catalog else folder_frame(found, source)


def _coarse(found: SparkSession, source: Source, frame: DataFrame) -> frozenset[str]:
    """Return the columns that hold moments in milliseconds; every file has the same, as `describe` has seen to."""
    moments = any(field.dataType.simpleString().startswith("timestamp") for field in frame.schema)
    first = parquet_files(source, frame)[:1] if moments else []
    return in_milliseconds(found, first)[0] if first else frozenset()


def parquet_files(source: Source, frame: DataFrame) -> list[str]:
    """Return the Parquet files that a frame reads, as Java opens them."""
    if is_here(source):
        return [str(file) for file in files(as_files(source))]
    return [unquote(file) for file in frame.inputFiles() if file.lower().endswith((".parquet", ".pq"))]


def folder_frame(
    found: SparkSession, source: Source, *, merge: bool = False, schema: StructType | None = None
) -> DataFrame:
    """Return the files of a folder; `merge` has Spark look at the schemas of all, `schema` says what to read."""
    # Searched by names alone, a folder called year=2024 adds no column, whose type would be guessed.
    reader = found.read.option("recursiveFileLookup", True).option("mergeSchema", merge)
    reader = reader if schema is None else reader.schema(schema)
    if is_here(source):
        return reader.parquet(*(GLOB.sub(r"\\\1", str(file)) for file in files(as_files(source))))
    return reader.option("pathGlobFilter", ENDINGS).parquet(source.path)
