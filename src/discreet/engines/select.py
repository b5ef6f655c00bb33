"""SELECT: the one shape every statement is put together from."""

from __future__ import annotations

from collections.abc import Iterable


def named(sql: str) -> str:
    """Put a SELECT after FROM, under a name, which some engines insist on and nothing refers to."""
    return f'({sql}) AS "~q"'


def select(what: str | Iterable[str], source: str, *, where: str = "", by: Iterable[str] = ()) -> str:
    """Write a SELECT; the source is another one, or what stands after FROM by itself."""
    columns = what if isinstance(what, str) else ", ".join(what)
    clauses = ["SELECT", columns, "FROM", named(source) if source.startswith("SELECT ") else source]
    if where:
        clauses += ["WHERE", where]
    if groups := ", ".join(by):
        clauses += ["GROUP BY", groups]
    return " ".join(clauses)
