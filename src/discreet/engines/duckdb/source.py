"""Files: the home of CSV and Parquet files, which DuckDB reads; see `discreet.engines.home.Home`."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.fingerprint import check_unchanged as check_unchanged
from discreet.engines.fingerprint import fingerprint as fingerprint
from discreet.engines.source import Source, relation_sql
from discreet.engines.source import describe as describe
from discreet.engines.source import same_files as same
from discreet.engines.source import settle as settle

__all__ = ["ENGINE", "check_unchanged", "describe", "fingerprint", "from_sql", "opened", "same", "settle"]

ENGINE = "duckdb"


def from_sql(source: Source) -> str:
    """Return what stands after FROM to read the rows."""
    return relation_sql(source)[0]


def opened(sources: Sequence[Source], secret: bytes) -> DuckDBEngine:  # noqa: ARG001  (files need nothing to be opened)
    """Return an engine, to be entered, that can read all of these."""
    return DuckDBEngine(secret)
