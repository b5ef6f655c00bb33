"""What PostgreSQL's catalog reveals a table: who it is, what its columns are, and whether it changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.errors import Refusal
from discreet.engines.postgres.computation import check_stored
from discreet.engines.postgres.engine import connected, import_psycopg
from discreet.engines.postgres.options import Server
from discreet.engines.source import Source, SourceMissing

if TYPE_CHECKING:
    import psycopg

# Tests run on it and on the newest one.
LEAST_VERSION = 16
_MOST_DIGITS = 37  # of a number that 126 bits hold
_KINDS = "rvmfp"  # tables, views, materialized views, foreign and partitioned tables

_NAMES = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "text": "VARCHAR",
    "varchar": "VARCHAR",
    "bpchar": "VARCHAR",
    "name": "VARCHAR",
    "uuid": "UUID",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
}

_FOUND = """
SELECT c.oid::bigint, c.relkind::text,
       has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT'),
       has_database_privilege(current_database(), 'TEMP'),
       current_setting('server_version_num')::integer / 10000, current_setting('server_encoding'),
       quote_ident(current_database()::text), quote_ident(current_user::text)
FROM (SELECT 1) AS one
LEFT JOIN (pg_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.oid)
  ON n.nspname = %s AND c.relname = %s AND c.relkind::text = ANY (%s)
"""
_ALIKE = """
SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE lower(c.relname) = lower(%s) AND c.relkind::text = ANY (%s) ORDER BY 1 LIMIT 3
"""
# A domain is read as what it is a domain of; a type that someone made is known by its kind alone.
_COLUMNS = """
WITH RECURSIVE typed AS (
  SELECT a.attnum, a.attname, a.atttypid AS type, a.atttypmod AS modifier
  FROM pg_attribute AS a
  WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
  UNION ALL
  SELECT d.attnum, d.attname, t.typbasetype, CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE d.modifier END
  FROM typed AS d JOIN pg_type AS t ON t.oid = d.type WHERE t.typtype = 'd'
)
SELECT attname::text, t.typname::text, t.typtype::text, t.typnamespace = 'pg_catalog'::regnamespace, modifier,
       format_type(type, modifier)
FROM typed JOIN pg_type AS t ON t.oid = type WHERE t.typtype <> 'd' ORDER BY attnum
"""
# All relations under one: its partitions and children, and, of a view, what its rule depends on. With each what changes
# when its rows do, and what its columns are: numbers, names, types, what rows hold that are older than a column, the
# labels of enums, also below domains and arrays. A column that is dropped and added again, or two that change names,
# leave the files as they were. Sizes are not asked for: that would wait for anyone who has locked a table.
_UNDER = """
WITH RECURSIVE under AS (
  SELECT %s::oid AS oid
  UNION
  SELECT found.oid FROM under, LATERAL (
    SELECT i.inhrelid AS oid FROM pg_inherits AS i WHERE i.inhparent = under.oid
    UNION ALL
    SELECT d.refobjid FROM pg_rewrite AS r JOIN pg_depend AS d
      ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
    WHERE r.ev_class = under.oid
  ) AS found
)
SELECT c.oid::bigint, c.relkind::text, c.relfilenode::bigint, c.relrowsecurity, c.relforcerowsecurity,
       pg_stat_get_tuples_inserted(c.oid), pg_stat_get_tuples_updated(c.oid), pg_stat_get_tuples_deleted(c.oid),
       CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
       (SELECT json_agg(json_build_array(
          a.attnum, a.attname, a.atttypid::bigint, a.atttypmod, a.attcollation::bigint, a.attisdropped, a.attgenerated,
          CASE WHEN a.attgenerated <> '' THEN pg_get_expr(g.adbin, g.adrelid) END, a.attmissingval::text,
          (WITH RECURSIVE typed AS (
             SELECT a.atttypid AS type
             UNION
             SELECT unnest(ARRAY[t.typbasetype, t.typelem]) FROM typed JOIN pg_type AS t ON t.oid = type
           )
           SELECT json_agg(json_build_array(e.oid::bigint, e.enumlabel) ORDER BY e.oid)
           FROM typed JOIN pg_enum AS e ON e.enumtypid = type)
        ) ORDER BY a.attnum)::text
        FROM pg_attribute AS a LEFT JOIN pg_attrdef AS g ON g.adrelid = a.attrelid AND g.adnum = a.attnum
        WHERE a.attrelid = c.oid AND a.attnum > 0)
FROM under JOIN pg_class AS c USING (oid) ORDER BY c.oid
"""
# When counters began again, since they may come back to what they were: those of this database, when someone reset any
# of them, and those of the whole server, which a crash, a restored backup or a promoted standby begins again.
_IDENTITY = """
SELECT (SELECT system_identifier FROM pg_control_system())::text, oid::bigint,
       extract(epoch FROM pg_stat_get_db_stat_reset_time(oid))::text,
       extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time())::text
FROM pg_database WHERE datname = current_database()
"""

# Of whole numbers and texts alone, which are unequal to the server where they are unequal here. A table with children
# is read with their rows, which its index does not cover; a column of another collation may take unequal texts for one.
_UNIQUE = """
SELECT EXISTS (
  SELECT FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
  JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
  WHERE i.indrelid = %s AND i.indisunique AND i.indisvalid AND i.indisready AND i.indpred IS NULL AND i.indexprs IS NULL
    AND i.indnkeyatts = 1 AND a.attname = %s
    AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'text'::regtype, 'varchar'::regtype,
                       'uuid'::regtype)
    AND c.relkind = 'r' AND NOT EXISTS (SELECT FROM pg_inherits AS h WHERE h.inhparent = c.oid)
)
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """A table as its database has it: its number, what is under it and changes when rows do, and since when."""

    server: str
    database: int
    oid: int
    under: tuple[tuple[Any, ...], ...]
    resets: tuple[str | None, ...]

    @property
    def identity(self) -> str:
        """Which table it is, of which database, of which server, whatever URL leads there."""
        return f"{self.server}/{self.database}/{self.oid}"

    @property
    def relations(self) -> frozenset[tuple[str, int, int]]:
        """All relations that hold rows of it."""
        return frozenset((self.server, self.database, oid) for oid, *_ in self.under)

    def stamp(self, key: bytes) -> str:
        """Return a keyed digest of what changes when rows do."""
        return hashlib.blake2b(repr((self.under, self.resets)).encode(), key=key, digest_size=32).hexdigest()


def seen(source: Source) -> Seen:
    """Look a table up, or refuse as `found` does."""
    with reached(source) as connection:
        oid = found(source, connection)
        # A snapshot of the counters that this session took earlier would hide what others have done since.
        connection.execute("SELECT pg_stat_clear_snapshot()")
        under = connection.execute(_UNDER, [oid]).fetchall()
        server, database, *resets = connection.execute(_IDENTITY).fetchall()[0]
    return Seen(server, database, oid, tuple(under), tuple(resets))


def columns(source: Source) -> dict[str, str]:
    """Return the columns that the role may read, in order, with their types by the names that plans know."""
    with reached(source) as connection:
        oid = found(source, connection)
        check_stored(source.path, oid, connection)
        rows = connection.execute(_COLUMNS, [oid]).fetchall()
    return {name: _physical(*described) for name, *described in rows}


def is_unique(source: Source, column: str) -> bool:
    """Whether the database itself holds a column of a table unique, by an index that is valid for all that is read."""
    with reached(source) as connection:
        oid = found(source, connection)
        ((unique,),) = connection.execute(_UNIQUE, [oid, column]).fetchall()
    return bool(unique)


@contextmanager
def reached(source: Source) -> Iterator[psycopg.Connection[Any]]:
    """Connect to the database of a source, or say that it does not answer, or no longer; what it says is not told."""
    assert isinstance(source.options, Server)
    driver = import_psycopg()
    try:
        with connected(source.options.url) as connection:
            yield connection
    except Refusal:  # some are errors of the operating system too
        raise
    except (driver.Error, OSError):
        why = f"the database {source.options.shown} does not let us in, or does not answer"
        fix = "check that the server runs, and that role and password (PGPASSWORD, ~/.pgpass) are right"
        raise SourceMissing(f"source {source.path}", why=why, fix=fix, value=source.path) from None


def found(source: Source, connection: psycopg.Connection[Any]) -> int:
    """Return the number of a table that can be read and computed over, or refuse with what is missing."""
    schema, table = split(source.path)
    row = connection.execute(_FOUND, [schema, table, list(_KINDS)]).fetchall()[0]
    oid, _, readable, temporary, version, encoding, database, role = row
    if version < LEAST_VERSION:
        why = f"the server is PostgreSQL {version}, and statements are written for {LEAST_VERSION} and newer ones"
        raise Refusal(f"source {source.path}", why=why, fix=f"use PostgreSQL {LEAST_VERSION} or newer", value=version)
    if encoding != "UTF8":
        why = f"its database is encoded as {encoding}, and text is compared by its UTF-8 bytes"
        raise Refusal(f"source {source.path}", why=why, fix="use a database with the encoding UTF8", value=encoding)
    if oid is None:
        alike = [name for (name,) in connection.execute(_ALIKE, [table, list(_KINDS)]).fetchall()]
        fix = f"did you mean {' or '.join(alike)}" if alike else "write schema.table, with the letters it was made with"
        raise SourceMissing(f"source {source.path}", why="there is no such table", fix=fix, value=source.path)
    quoted = f"{quoted_name(schema)}.{quoted_name(table)}"
    if not readable:
        fix = f"GRANT USAGE ON SCHEMA {quoted_name(schema)} TO {role}; GRANT SELECT ON {quoted} TO {role}"
        raise Refusal(f"source {source.path}", why=f"the role {role} may not read it", fix=fix, value=source.path)
    if not temporary:
        why = f"the role {role} may not make temporary tables, which hold what is computed on the way"
        raise Refusal(
            f"source {source.path}", why=why, fix=f"GRANT TEMP ON DATABASE {database} TO {role}", value=source.path
        )
    return int(oid)


def split(path: str) -> tuple[str, str]:
    """Return schema and table of a path; a schema whose name has a point in it is written in double quotes."""
    if path.startswith('"') and '".' in path:
        schema, _, table = path[1:].partition('".')
    else:
        schema, _, table = path.partition(".")
    return schema.strip('"'), table[1:-1] if table[:1] == table[-1:] == '"' and len(table) > 1 else table


def quoted_name(name: str) -> str:
    """Quote a name of the catalog, which is never too long."""
    return '"' + name.replace('"', '""') + '"'


def _physical(name: str, kind: str, own: bool, modifier: int, written: str) -> str:
    """Return a type by the name that plans know; what they do not know keeps its own, and cannot be read."""
    if kind == "e":
        return "VARCHAR" if not own else written
    if name != "numeric" or not own:
        return _NAMES.get(name, written) if own else written
    if modifier < 0:
        return "NUMERIC"
    digits, places = (modifier - 4) >> 16, ((modifier - 4) & 0x7FF ^ 1024) - 1024
    # Digits before the point that are always zero count, and so do places that are always zero.
    whole = max(digits + max(-places, 0), places)
    # Counted in its last place a longer one would fit no integer; it is read as one without a limit.
    return f"DECIMAL({whole},{max(places, 0)})" if whole <= _MOST_DIGITS else "NUMERIC"
