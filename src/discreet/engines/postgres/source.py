"""PostgreSQL: the home of tables in a database, which computes over them; see `discreet.engines.source.Home`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.errors import BadParameter
from discreet.engines.engine import Allotment
from discreet.engines.postgres.catalog import columns, found, is_unique, quoted_name, reached, seen, split
from discreet.engines.postgres.computation import check_stored
from discreet.engines.postgres.constraints import constraints as constraints
from discreet.engines.postgres.constraints import path_of
from discreet.engines.postgres.constraints import siblings as siblings
from discreet.engines.postgres.engine import PostgresEngine as PostgresEngine
from discreet.engines.postgres.options import Server
from discreet.engines.source import Source, SourceChanged, SourceMissing

ENGINE = "postgres"
SHARES: frozenset[str] = frozenset()


def settle(source: Source) -> Source:
    """Return the source as it is stored, once its table was found to be readable and its role to have what it needs."""
    with reached(source) as connection:
        check_stored(source.path, found(source, connection), connection)
    return Source(source.kind, path_of(*split(source.path)), source.options)


def describe(source: Source) -> dict[str, str]:
    """Return the physical type of every column that the role may read, in order; no record is looked at."""
    return columns(source)


def from_sql(source: Source) -> str:
    """Return what stands after FROM to read the rows: the table by its full name."""
    return ".".join(map(quoted_name, split(source.path)))


def fingerprint(source: Source, key: bytes) -> dict[str, Any]:
    """Return which table it is, and a stamp of what changes when its rows do.

    The stamp is made of the files of the table and of its partitions, of the numbers, names, types and definitions of
    their columns, of the server's counters of rows that were inserted, updated and deleted, and of when these began
    anew; of a view, of its definition and of the same for all that it reads. So it costs no look at any row, and may
    notice too much: VACUUM FULL, CLUSTER, a change that was rolled back and a reset of any counters of the database
    (which a crash of the server is) look like changes. What it notices late: a session reports its counts up to a
    second after it committed, or when it is next idle. What it does not notice: changed rows where `track_counts` is
    off.
    """
    now = seen(source)
    digest = hashlib.blake2b(now.identity.encode(), key=key, digest_size=32).hexdigest()
    return {"stamp": now.stamp(key), "digest": digest}


def is_untouched(source: Source, stored: Mapping[str, Any]) -> bool:  # noqa: ARG001
    """Never: the database has to be asked."""
    return False


def check_unchanged(name: str, source: Source, stored: Mapping[str, Any], key: bytes) -> dict[str, Any] | None:
    """Refuse a table that changed; the text names the table and not the place: an analyst may read it."""
    try:
        now = fingerprint(source, key)
    except SourceMissing:
        why, fix = "its database does not answer, or no longer has it", f"bring it back, or run discreet refresh {name}"
        raise SourceMissing(f"the source of {name!r} is missing", why=why, fix=fix, value=name) from None
    if now == dict(stored):
        return None
    why = "its rows are no longer those that were registered, and answers name the version they are about"
    fix = f"run discreet refresh {name}, which keeps the budget and counts a new version"
    raise SourceChanged(f"the source of {name!r} changed", why=why, fix=fix, value=name)


def same(one: Source, other: Source) -> bool:
    """Whether two sources share rows: the same table, whatever URL leads there, or a view and what it reads."""
    if one.path == other.path and one.options == other.options:
        return True
    return bool(seen(one).relations & seen(other).relations)


def holds_unique(source: Source, column: str) -> bool:
    """Whether a valid constraint or index of the database guarantees that no two rows share a value of a column."""
    return is_unique(source, column)


def opened(
    sources: Sequence[Source],
    secret: bytes,
    allotment: Allotment | None = None,  # noqa: ARG001  (of the machine here; the server has limits of its own)
) -> PostgresEngine:
    """Return an engine, to be entered, that can read all of these: tables of one database, found by one URL."""
    urls = [source.options.url for source in sources if isinstance(source.options, Server)]
    if len(urls) < len(sources) or len(set(urls)) != 1:
        why = "a question is computed in one database, over one connection"
        raise BadParameter("source", [source.path for source in sources], why=why, fix="register them by the same URL")
    return PostgresEngine(urls[0], secret)
