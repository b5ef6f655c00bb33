"""Homes: who can tell about a source and compute over it: files and DuckDB, a PostgreSQL database, or Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from discreet.engines.engine import Engine
from discreet.engines.source import Source

_MODULES = {"postgres": "discreet.engines.postgres.source", "spark": "discreet.engines.spark.engine"}
_FILES = "discreet.engines.duckdb.source"


class Home(Protocol):
    """What each engine's module does; nothing here tells a record, and only `fingerprint` may look at any."""

    ENGINE: str

    def settle(self, source: Source) -> Source:
        """Return the source as it is stored: resolved, and checked to be there."""

    def describe(self, source: Source) -> dict[str, str]:
        """Return the physical type of every column, in order, by the names that `plan.physical` knows."""

    def from_sql(self, source: Source) -> str:
        """Return what stands after FROM to read the rows in this engine."""

    def fingerprint(self, source: Source, key: bytes) -> dict[str, Any]:
        """Return what tells a later change; it stays inside the vault."""

    def check_unchanged(
        self, name: str, source: Source, stored: Mapping[str, Any], key: bytes
    ) -> dict[str, Any] | None:
        """Refuse a source that changed; return a renewed fingerprint where only the stamp did."""

    def same(self, one: Source, other: Source) -> bool:
        """Whether both reach the same rows."""

    def opened(self, sources: Sequence[Source], secret: bytes) -> Engine:
        """Return an engine, to be entered, that can read all of these."""


def home_of(source: Source) -> Home:
    """Return the home of a source; its engine's packages are imported when they are first needed."""
    return cast(Home, import_module(_MODULES.get(source.kind, _FILES)))


def same(one: Source, other: Source) -> bool:
    """Whether two sources are known to reach the same rows; Spark tells of the files that DuckDB reads, too."""
    for mine, theirs in ((one, other), (other, one)):
        if mine.kind == "spark":
            return home_of(mine).same(mine, theirs)
    home = home_of(one)
    return home is home_of(other) and home.same(one, other)
