"""Homes: each engine's `source` module, which tells about the sources that it reads and computes over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from discreet.engines import registry
from discreet.engines.engine import Engine
from discreet.engines.source import Source


class Home(Protocol):
    """What each engine's module does; nothing here tells a record, and only `fingerprint` may look at any.

    `ENGINE` is the name of its folder; `SHARES` are the other engines whose sources may be the same rows as its own.
    """

    ENGINE: str
    SHARES: frozenset[str]

    def settle(self, source: Source) -> Source:
        """Return the source as it is stored: resolved, and checked to be there."""

    def describe(self, source: Source) -> dict[str, str]:
        """Return the physical type of every column, in order, by the names that `engines.physical` knows."""

    def from_sql(self, source: Source) -> str:
        """Return what stands after FROM to read the rows in this engine."""

    def fingerprint(self, source: Source, key: bytes) -> dict[str, Any]:
        """Return what tells a later change; it stays inside the vault."""

    def check_unchanged(
        self, name: str, source: Source, stored: Mapping[str, Any], key: bytes
    ) -> dict[str, Any] | None:
        """Refuse a source that changed; return a renewed fingerprint where only the stamp did."""

    def same(self, one: Source, other: Source) -> bool:
        """Whether both reach the same rows; one of them is read by this engine, the other by it or one in `SHARES`."""

    def opened(self, sources: Sequence[Source], secret: bytes) -> Engine:
        """Return an engine, to be entered, that can read all of these."""


def home_of(source: Source) -> Home:
    """Return the home of a source; its engine's packages are imported when they are first needed."""
    return cast(Home, registry.part(source.engine, "source"))


def same(one: Source, other: Source) -> bool:
    """Whether two sources are known to reach the same rows, by an engine that can tell of both."""
    for mine, theirs in ((one, other), (other, one)):
        home = home_of(mine)
        if theirs.engine in {home.ENGINE, *home.SHARES}:
            return home.same(mine, theirs)
    return False
