"""What PostgreSQL's catalog holds true of a table: its keys, its references, and which tables lie beside it."""

from __future__ import annotations

from discreet.engines.postgres.catalog import found, quoted_name, reached, split
from discreet.engines.postgres.options import Server
from discreet.engines.source import Constraints, ForeignKey, Sibling, Source

# Keys of plain columns, whole and valid; the primary one first, then the shortest.
_UNIQUE = """
SELECT ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place)
             JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
             WHERE k.place <= i.indnkeyatts ORDER BY k.place)
FROM pg_index AS i
WHERE i.indrelid = %s AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
ORDER BY NOT i.indisprimary, i.indnkeyatts, i.indexrelid
"""
_FOREIGN = """
SELECT n.nspname::text, f.relname::text,
       ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY AS k(number, place)
             JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.number ORDER BY k.place),
       ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY AS k(number, place)
             JOIN pg_attribute AS a ON a.attrelid = c.confrelid AND a.attnum = k.number ORDER BY k.place)
FROM pg_constraint AS c JOIN pg_class AS f ON f.oid = c.confrelid JOIN pg_namespace AS n ON n.oid = f.relnamespace
WHERE c.contype = 'f' AND c.conrelid = %s ORDER BY c.conname
"""
_BESIDE = """
SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND has_any_column_privilege(c.oid, 'SELECT')
ORDER BY 1
"""


def constraints(source: Source) -> Constraints:
    """Return the keys of a table and the foreign keys that lead from it, as its database declares them."""
    with reached(source) as connection:
        oid = found(source, connection)
        unique = [tuple(names) for (names,) in connection.execute(_UNIQUE, [oid]).fetchall()]
        rows = connection.execute(_FOREIGN, [oid]).fetchall()
    foreign = [ForeignKey(tuple(columns), path_of(schema, table), tuple(keys)) for schema, table, columns, keys in rows]
    return Constraints(tuple(dict.fromkeys(unique)), tuple(foreign))


def siblings(source: Source) -> tuple[Sibling, ...]:
    """Return the tables of the schema that a table lies in, as far as the role may read them."""
    assert isinstance(source.options, Server)
    url, (schema, _) = source.options.url, split(source.path)
    with reached(source) as connection:
        names = [name for (name,) in connection.execute(_BESIDE, [schema]).fetchall()]
    paths = [path_of(schema, name) for name in names]
    return tuple(
        Sibling(name, Source(source.kind, path, source.options), f"{url}#{path}")
        for name, path in zip(names, paths, strict=True)
    )


def path_of(schema: str, table: str) -> str:
    """Return the path of a table; a schema that could be mistaken stands in double quotes."""
    return f"{quoted_name(schema)}.{table}" if "." in schema or '"' in schema else f"{schema}.{table}"
