"""The catalogue of a vault in PostgreSQL: what the server says is there, compared with what was made."""

from __future__ import annotations

from collections.abc import Callable

from discreet.ledger.postgres.schema import TABLES, TRIGGERS, functions
from discreet.ledger.refusals import Tampered

Fact = tuple[object, ...]
Ask = Callable[[str, tuple[str, ...]], list[Fact]]

# Each question lists everything of its sort in the schema, so nothing more is there than what was made.
_RELATIONS = """
SELECT c.relname::text, c.relkind::text, c.relpersistence::text, c.relrowsecurity, c.relhasrules, c.relispartition,
       EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = c.oid OR i.inhparent = c.oid),
       EXISTS (SELECT FROM pg_catalog.aclexplode(c.relacl) AS a WHERE a.grantee = 0)
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind <> 'i'
"""
_COLUMNS = """
SELECT c.relname::text, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull,
       coalesce(l.collname::text, ''), a.atthasdef, a.attidentity::text, a.attgenerated::text
FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
WHERE n.nspname = %s AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
"""
_CONSTRAINTS = """
SELECT c.relname::text, k.contype::text, k.convalidated, k.condeferrable,
       (SELECT string_agg(a.attname, ',' ORDER BY p.place) FROM unnest(k.conkey) WITH ORDINALITY AS p (number, place)
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = p.number),
       coalesce(f.relname::text, ''),
       CASE WHEN k.contype = 'c' THEN pg_catalog.pg_get_constraintdef(k.oid) ELSE k.confdeltype::text END
FROM pg_catalog.pg_constraint AS k JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_class AS f ON f.oid = k.confrelid
WHERE n.nspname = %s AND k.contype <> 'n'
"""
_TRIGGERS = """
SELECT c.relname::text, t.tgname::text, t.tgtype::int, t.tgenabled::text, t.tgqual IS NULL, p.proname::text
FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_class AS c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
WHERE n.nspname = %s AND (NOT t.tgisinternal OR t.tgenabled <> 'O')
"""
_FUNCTIONS = """
SELECT p.proname::text, p.prosrc, l.lanname::text, p.prosecdef, p.proconfig IS NULL
FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = %s
"""
_INDEXES = """
SELECT c.relname::text, i.indisprimary, i.indisvalid
FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s
"""
_OPEN = """
SELECT a.privilege_type::text FROM pg_catalog.pg_namespace AS n, pg_catalog.aclexplode(n.nspacl) AS a
WHERE n.nspname = %s AND a.grantee = 0
"""


def check(ask: Ask, schema: str) -> None:
    """Refuse a schema that is not exactly as it was made, or that everyone may use."""
    for what, question, expected in (
        ("a table", _RELATIONS, _relations()),
        ("a column", _COLUMNS, _columns()),
        ("a constraint", _CONSTRAINTS, _constraints()),
        ("an index", _INDEXES, {(name, True, True) for name in TABLES}),
        ("a trigger", _TRIGGERS, _triggers()),
        ("a function", _FUNCTIONS, _functions(schema)),
        ("who may use it", _OPEN, set()),
    ):
        found = ask(question, (schema,))
        if len(found) != len(set(found)) or set(found) != expected:
            raise Tampered("the schema of the vault", why=f"{what} was changed, added or removed")


def _relations() -> set[Fact]:
    return {(name, "r", "p", False, False, False, False, False) for name in TABLES}


def _columns() -> set[Fact]:
    return {
        (table, column, kind.removesuffix("?"), "?" not in kind, "C" if kind.startswith("text") else "", False, "", "")
        for table, made in TABLES.items()
        for column, kind in made.columns.items()
    }


def _constraints() -> set[Fact]:
    found: set[Fact] = set()
    for table, made in TABLES.items():
        found.add((table, "p", True, False, ",".join(made.key), "", " "))
        found |= {(table, "f", True, False, ",".join(columns), other, "a") for columns, other in made.references}
        if made.check:
            found.add((table, "c", True, False, made.key[0], "", f"CHECK {made.check}"))
    return found


def _triggers() -> set[Fact]:
    return {("entries", name, number, "O", True, function) for name, (_, function, number) in TRIGGERS.items()}


def _functions(schema: str) -> set[Fact]:
    return {(name, body, "plpgsql", False, True) for name, body in functions(schema).items()}
