"""Scope: which names a SELECT may speak of, and which columns of the plan they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from discreet.core.column import Column
from discreet.core.errors import UnknownName
from discreet.plan.nodes import Plan
from discreet.plan.sql.names import nearest, spelled, text
from discreet.plan.sql.source import SqlText

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

# More nodes than a person writes, and few enough for plans to be walked.
MOST_NODES = 150

# Where a text may stand in the place of a column.
_BESIDE = frozenset({"eq", "neq", "in", "if", "case", "coalesce", "nullif", "like", "ilike"})


@dataclass(frozen=True, slots=True)
class ScopeTable:
    """One table of a FROM: its name there, its columns by the names SQL has for them, and the name of the person."""

    alias: str | None
    names: Mapping[str, str]
    person: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """A plan, its columns, and the tables they came from."""

    plan: Plan
    columns: Mapping[str, Column]
    parts: tuple[ScopeTable, ...]
    size: int = field(default=1)

    def now(self, plan: Plan, columns: Mapping[str, Column] | None = None) -> Scope:
        """Return the scope one step of the plan later."""
        return replace(self, plan=plan, columns=self.columns if columns is None else columns, size=self.size + 1)

    def called(self, alias: str | None) -> Scope:
        """Return the scope as one table of another FROM, under a name of its own."""
        names: dict[str, str] = {}
        for part in self.parts:
            for name, column in part.names.items():
                names.setdefault(name, column)
        person = next((part.person for part in self.parts if part.person is not None), None)
        return replace(self, parts=(ScopeTable(alias, names, person),))

    def column(self, node: Node, source: SqlText) -> str:
        """Return the column of the plan that a name means, or refuse it with the nearest."""
        parts, (name, quoted) = self.parts_of(node, source), _name(node.this)
        found = _found(parts, name, quoted)
        if len(found) == 1:
            return found.pop()
        if found:
            tables = " and ".join(repr(part.alias) for part in parts if _knows(part, name, quoted))
            raise source.refused(
                node, f"{tables} both have {name!r}", f"write {qualified(parts[0], name)}, for example"
            )
        if self.is_person(node):
            why = f"{name!r} identifies people: it can only be counted"
            raise source.refused(node, why, f"write COUNT(DISTINCT {spelled(name)}), or COUNT(*)")
        meant = self._text(node)
        if meant is not None:
            why = "there is no column of that name"
            raise source.refused(node, why, f"text goes in single quotes: {text(meant)}")
        raise _unknown("column", node, name, [known for part in parts for known in part.names], source)

    def _text(self, node: Node) -> str | None:
        """Return the text that a name without a column may have been meant as: a key, or what a text is compared with.

        Keys are those that were declared; no others are known.
        """
        if node.args.get("table") is not None or node.parent is None or node.parent.key not in _BESIDE:
            return None
        keys = [key for column in self.columns.values() for key in column.keys or () if isinstance(key, str)]
        for key in sorted(keys, key=lambda key: key != node.name):
            if key.lower() == node.name.lower():
                return key
        other = node.parent.this
        if node.arg_key not in ("expression", "expressions") or other is None or other.key != "column":
            return None
        found = _found(self.parts, *_name(other.this))
        return node.name if found and all(_is_text(self.columns[each]) for each in found) else None

    def is_person(self, node: Node) -> bool:
        """Say whether a name is that of the column which identifies people."""
        if node.key != "column" or node.this.key != "identifier":
            return False
        name, quoted = _name(node.this)
        table = node.args.get("table")
        parts = [part for part in self.parts if table is None or _is(part, *_name(table))]
        return any(part.person is not None and _same(part.person, name, quoted) for part in parts)

    def parts_of(self, node: Node, source: SqlText) -> tuple[ScopeTable, ...]:
        """Return the tables that a column may be of: all of them, or the one that is named before it."""
        for extra in ("db", "catalog", "join_mark"):
            if node.args.get(extra):
                raise source.refused(node, "a column has the name of its table before it, and no more", "write v.age")
        table = node.args.get("table")
        if table is None:
            return self.parts
        name, quoted = _name(table)
        found = tuple(part for part in self.parts if _is(part, name, quoted))
        if not found:
            raise _unknown("table", table, name, [part.alias for part in self.parts if part.alias], source)
        return found


def named(names: Mapping[str, object] | list[str], name: str, quoted: bool) -> str | None:
    """Return the name that is meant: exactly so where it was quoted, in any case of letters where it was not."""
    if name in names:
        return name
    found = [known for known in names if _same(known, name, quoted)]
    return found[0] if len(found) == 1 else None


def identifier(node: Node) -> tuple[str, bool]:
    """Return a name, and whether it stood in quotes."""
    return _name(node)


def _name(node: Node) -> tuple[str, bool]:
    return node.name, bool(node.args.get("quoted"))


def _same(known: str, name: str, quoted: bool) -> bool:
    return known == name or (not quoted and known.lower() == name.lower())


def _is(part: ScopeTable, name: str, quoted: bool) -> bool:
    return part.alias is not None and _same(part.alias, name, quoted)


def qualified(part: ScopeTable, name: str) -> str:
    """Write a column behind its table, as in visits."Patient ID"."""
    return spelled(name) if part.alias is None else f"{spelled(part.alias)}.{spelled(name)}"


def _found(parts: tuple[ScopeTable, ...], name: str, quoted: bool) -> set[str]:
    return {column for part in parts for known, column in part.names.items() if _same(known, name, quoted)}


def _is_text(column: Column) -> bool:
    return column.kind == "text" or any(isinstance(key, str) for key in column.keys or ())


def _knows(part: ScopeTable, name: str, quoted: bool) -> bool:
    return any(_same(known, name, quoted) for known in part.names)


def _unknown(kind: str, node: Node, name: str, known: list[str], source: SqlText) -> Exception:
    unknown = UnknownName(kind, name, known)
    return source.refused(node, unknown.why, nearest(unknown))
