"""Clauses: which parts a SELECT may have, here and inside others; every other part is refused by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.plan.sql.names import spelled
from discreet.plan.sql.source import SqlText

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

OUTER = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "with_")

# The word each clause begins with, why it is refused, and what to write.
_CLAUSES: dict[str, tuple[str, str, str]] = {
    "group": (
        "GROUP",
        "groups of groups have no bound that is known in advance",
        "group in the outermost SELECT alone",
    ),
    "having": ("HAVING", "an inner HAVING would need noise of its own", "move it to the outermost SELECT"),
    "order": ("ORDER", "the order of rows changes no aggregate", "leave it out, or move it to the outermost SELECT"),
    "limit": (
        "LIMIT",
        "which rows come first may depend on one person, who would push others out",
        "say which rows are wanted in WHERE",
    ),
    "offset": ("OFFSET", "which rows come first may depend on one person", "say which rows are wanted in WHERE"),
    "distinct": (
        "DISTINCT",
        "whether two rows are equal may depend on another person",
        "GROUP BY the columns, or write COUNT(DISTINCT id)",
    ),
    "into": ("INTO", "a question changes nothing", "keep the answer: answer.to_parquet('answer.parquet')"),
    "locks": ("FOR", "a question changes nothing, and locks nothing", "leave it out"),
    "hint": ("/*+", "engines get our own SQL, without hints", "leave it out"),
    "pivots": ("PIVOT", "its columns would be the values of rows", "GROUP BY the column instead"),
    "qualify": ("QUALIFY", "a window looks at other people's rows", "write HAVING, or ORDER BY and LIMIT"),
    "windows": ("WINDOW", "a window looks at other people's rows", "write GROUP BY, and rank the answer"),
    "sample": ("TABLESAMPLE", "rows are sampled by the curator, who counts what that saves", "leave it out"),
    "laterals": ("LATERAL", "what it returns differs from row to row", "join a public table with ON"),
    "connect": (
        "CONNECT",
        "a table that is made of itself has no bound on how often a row is in it",
        "name each step in WITH",
    ),
    "match": ("MATCH_RECOGNIZE", "a pattern over rows looks at other people's rows", "leave it out"),
    "joins": ("JOIN", "tables are joined in FROM", "write FROM a JOIN b ON ..."),
    "where": ("WHERE", "conditions stand in the SELECT itself", "move it inside the brackets"),
    "by_name": ("BY", "columns are matched by their place", "write UNION ALL"),
}
_ANY = "leave it out"


def check_outer(source: SqlText, node: Node) -> None:
    """Refuse the parts of the outermost SELECT that have no meaning here."""
    _check(source, node, OUTER)


def check_inner(source: SqlText, node: Node, *known: str) -> None:
    """Refuse the parts of a SELECT, a subquery or a union inside FROM that would need to know other rows."""
    _check(source, node, known)


def check_table(source: SqlText, node: Node) -> None:
    """Refuse everything about a table but its name and its alias."""
    if node.this is None or node.this.key != "identifier":
        why = "functions that return tables read files or make rows up"
        raise source.refused(node, why, "name a table of the session")
    if node.args.get("db") or node.args.get("catalog"):
        raise source.refused(node, "tables are known by one name", f"write FROM {spelled(node.name)}")
    _check(source, node, ("this", "alias"))


def _check(source: SqlText, node: Node, known: tuple[str, ...]) -> None:
    for name, value in node.args.items():
        if name in known or value in (None, False, [], ()):
            continue
        word, why, fix = _CLAUSES.get(name, (name.strip("_").upper(), "this part is not understood here", _ANY))
        raise source.refused(source.keyword(word, _around(source, node)), why, fix)


def _around(source: SqlText, node: Node) -> tuple[int, int]:
    """Return where the clauses of a node may stand: from its first word on."""
    if node.parent is None:
        return 0, len(source.text)
    start, _ = source.span(node)
    return (
        (max(0, source.text.upper().rfind("SELECT", 0, start)), len(source.text))
        if node.key == "select"
        else (start, len(source.text))
    )
