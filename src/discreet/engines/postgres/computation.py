"""What PostgreSQL computes while rows are read: refused where one row could make it fail, or decide about others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from discreet.core.errors import Refusal

if TYPE_CHECKING:
    import psycopg

# A materialized view holds rows that are computed already; what it was made of is not looked at.
_READ = """
WITH RECURSIVE under AS (
  SELECT %s::oid AS oid
  UNION
  SELECT found.oid FROM under JOIN pg_class AS c USING (oid), LATERAL (
    SELECT i.inhrelid AS oid FROM pg_inherits AS i WHERE i.inhparent = c.oid
    UNION ALL
    SELECT d.refobjid FROM pg_rewrite AS r JOIN pg_depend AS d
      ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
    WHERE r.ev_class = c.oid AND c.relkind = 'v'
  ) AS found
)
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relkind::text, c.relrowsecurity,
       (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attgenerated = 'v' AND NOT a.attisdropped),
       (SELECT r.ev_action::text FROM pg_rewrite AS r WHERE r.ev_class = c.oid AND c.relkind = 'v')
FROM under JOIN pg_class AS c USING (oid) JOIN pg_namespace AS n ON n.oid = c.relnamespace ORDER BY c.oid
"""
# Comparisons of two values of one type, or of two integers: whatever they hold, they are true, false or null.
_COMPARISONS = """
SELECT o.oid::bigint FROM pg_operator AS o
JOIN pg_type AS l ON l.oid = o.oprleft JOIN pg_type AS r ON r.oid = o.oprright
WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprname IN ('=', '<>', '<', '<=', '>', '>=')
  AND ((l.typname IN ('int2', 'int4', 'int8') AND r.typname IN ('int2', 'int4', 'int8')) OR (l.oid = r.oid
       AND l.typname IN ('bool', 'float4', 'float8', 'numeric', 'text', 'bpchar', 'uuid', 'date', 'timestamp',
                         'timestamptz')))
"""
_TABLES = {"r", "p", "m"}  # plain and partitioned tables, materialized views
# The nodes of a view that shows columns of one table, of the rows for which plain comparisons hold.
_PLAIN = {"QUERY", "RANGETBLENTRY", "RTEPERMISSIONINFO", "ALIAS", "FROMEXPR", "RANGETBLREF", "TARGETENTRY", "VAR"}
_PLAIN |= {"CONST", "OPEXPR", "BOOLEXPR", "NULLTEST", "BOOLEANTEST", "RELABELTYPE"}
_ONCE = ("{QUERY ", "{RANGETBLREF ")
_NODE, _OPERATOR, _LIMIT = (
    re.compile(r"\{([A-Z]+)"),
    re.compile(r":opno (\d+)"),
    re.compile(r":limit(?:Count|Offset) \{"),
)


def check_stored(path: str, oid: int, connection: psycopg.Connection[Any]) -> None:
    """Refuse a table whose rows are computed when they are read.

    Guarantee: what is read of a row of an accepted source is stored, and no other row decides whether it is read: the
    source is a table, a partitioned one, a materialized view, or a view that shows columns of one of these for the rows
    on which plain comparisons hold. So no row can make a question fail by what the database computes of it.
    """
    comparisons = {str(number) for (number,) in connection.execute(_COMPARISONS).fetchall()}
    for name, kind, secured, generated, rule in connection.execute(_READ, [oid]).fetchall():
        why = None
        if kind == "v":
            why = None if _is_plain(rule, comparisons) else f"the view {name} computes what it shows"
        elif kind not in _TABLES:
            why = f"{name} is not stored in this database"
        if generated:
            why = f"{generated} of {name} is generated whenever it is read"
        if secured:
            why = f"{name} has row security, whose policies are computed for every row"
        if why is not None:
            why += ": one row could make every question fail, or decide which others are read"
            fix = "store the rows: CREATE MATERIALIZED VIEW stored AS SELECT ... FROM it, and register that"
            raise Refusal(f"source {path}", why=why, fix=fix, value=path)


def _is_plain(rule: str, comparisons: set[str]) -> bool:
    """Say whether a view shows columns of one relation, of the rows for which plain comparisons hold, and all those."""
    return (
        all(rule.count(node) == 1 for node in _ONCE)
        and {*_NODE.findall(rule)} <= _PLAIN
        and {*_OPERATOR.findall(rule)} <= comparisons
        and not _LIMIT.search(rule)
    )
