"""Scope: which names a SELECT may speak of, how they are spelled, and which columns of the plan they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from discreet.core.column import Column
from discreet.core.errors import UnknownName
from discreet.core.schema import Table
from discreet.core.value import dataclass, replace
from discreet.plan.nodes import Plan, Public
from discreet.plan.referents import Origin
from discreet.plan.sql.parse import MOST_TEXT
from discreet.plan.sql.refusals import Span, SqlRefused
from discreet.plan.sql.source import SqlText

if TYPE_CHECKING:
    from sqlglot import Token
    from sqlglot.expressions import Expr as Node


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The names of private tables, how one is looked up, public tables, and keys that were given for columns."""

    names: Sequence[str]
    table: Callable[[str], Table]
    public: Mapping[str, Public]
    keys: Mapping[str, Sequence[object]]


_WORDS = re.compile(r"[a-z]+")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHOLE = frozenset({"IDENTIFIER", "STRING"})  # what stood in quotes, and is no word of another name


def spelled(name: str) -> str:
    """Write a name as a question has to: in double quotes, unless it is one plain word that SQL has no use for."""
    if _PLAIN.fullmatch(name) and [token.token_type.name for token in _tokens(name)] == ["VAR"]:
        return name
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Write a text as SQL has it, in single quotes."""
    return "'" + value.replace("'", "''") + "'"


def nearest(unknown: UnknownName) -> str:
    """Say which names there are, as SQL spells them."""
    if unknown.near:
        return f"did you mean {' or '.join(map(spelled, unknown.near))}?"
    return f"use one of {', '.join(map(spelled, unknown.known))}" if unknown.known else unknown.fix


def split_name(refusal: SqlRefused, catalogue: Catalogue) -> SqlRefused | None:
    """Return the refusal of a name or a key of several words that lacks its quotes, where that is what was refused."""
    tokens = _tokens(refusal.text) if len(refusal.text) <= MOST_TEXT else []
    said = {token.text.lower() for token in tokens}
    fixes = dict(_quoted(catalogue, said))
    plain = {name.lower() for name in fixes}
    for name in sorted(fixes, key=lambda each: (-len(each), each)):  # the longest first: one name may begin another
        if _PLAIN.fullmatch(name) or not said.issuperset(_WORDS.findall(name.lower())):
            continue
        words = [token.text.lower() for token in _tokens(name)]
        # Where each word is a column by itself, a - b may well be meant.
        if len(words) < 2 or all(word in plain for word in words if _PLAIN.fullmatch(word)):
            continue
        for span in _spans(tokens, words, refusal.span):
            why = f"{name} is one name, and without quotes SQL reads its words one by one"
            return SqlRefused(refusal.text, span, why=why, fix=fixes[name])
    return None


def _quoted(catalogue: Catalogue, words: set[str]) -> Iterator[tuple[str, str]]:
    """Name the declared keys and the columns of the tables that a question speaks of, each with how it is written."""
    tables = [catalogue.table(title) for title in catalogue.names if title.lower() in words]
    keys = (key for table in tables for column in table.columns for key in column.keys or ())
    yield from ((key, f"text goes in single quotes: {text(key)}") for key in keys if isinstance(key, str))
    people = [table.unit.identifier for table in tables if table.unit.identifier is not None]
    public = (name for title, table in catalogue.public.items() if title.lower() in words for name in table.names)
    for name in (*(name for table in tables for name in table), *people, *public):
        yield name, f"write {spelled(name)}, in double quotes"


def _spans(tokens: Sequence[Token], words: Sequence[str], at: Span) -> Iterable[Span]:
    """Return where a run of words stands that is, or is next to, what was refused."""
    written = [None if token.token_type.name in _WHOLE else token.text.lower() for token in tokens]
    for first in range(len(tokens) - len(words) + 1):
        last = first + len(words) - 1
        before, after = tokens[max(first - 1, 0)], tokens[min(last + 1, len(tokens) - 1)]
        if written[first : last + 1] == list(words) and before.start < at[1] and at[0] <= after.end:
            yield tokens[first].start, tokens[last].end + 1


def _tokens(text: str) -> list[Token]:
    """Return the words and signs of a text; none, where a quote in it does not end."""
    from sqlglot import tokenize
    from sqlglot.errors import TokenError

    try:
        return tokenize(text)
    except TokenError:
        return []


# More nodes than a person writes, and few enough for plans to be walked.
MOST_NODES = 150

# Where a text may stand in the place of a column.
_BESIDE = frozenset({"eq", "neq", "in", "if", "case", "coalesce", "nullif", "like", "ilike"})


@dataclass(frozen=True, slots=True)
class ScopeTable:
    """One table of a FROM: its name there, its columns by the names SQL has for them, and the name of the person.

    `owner` is the column of a table that identifies people, or a key that is their identifier.
    """

    alias: str | None
    names: Mapping[str, str]
    person: str | None = None
    owner: Origin | None = None


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
        whose = next((part for part in self.parts if part.person is not None), None)
        person, owner = (None, None) if whose is None else (whose.person, whose.owner)
        return replace(self, parts=(ScopeTable(alias, names, person, owner),))

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
        texts = [each in self.columns and _is_text(self.columns[each]) for each in found]
        return node.name if texts and all(texts) else None

    def is_person(self, node: Node) -> bool:
        """Say whether a name is that of the column which identifies people."""
        return self.person(node) is not None

    def person(self, node: Node) -> ScopeTable | None:
        """Return the table whose people a name identifies, if it is such a name."""
        if node.key != "column" or node.this.key != "identifier":
            return None
        name, quoted = _name(node.this)
        table = node.args.get("table")
        parts = [part for part in self.parts if table is None or _is(part, *_name(table))]
        return next((part for part in parts if part.person is not None and _same(part.person, name, quoted)), None)

    def knows(self, node: Node) -> bool:
        """Say whether a column may be one of these tables."""
        if node.key != "column" or node.this.key != "identifier":
            return False
        table = node.args.get("table")
        parts = [part for part in self.parts if table is None or _is(part, *_name(table))]
        return any(_knows(part, *_name(node.this)) for part in parts) or self.is_person(node)

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


def place_of(person: str | None, node: Node) -> int | None:
    """Return the place at which a subquery lists the person."""
    select = node.this if node.key == "subquery" else node
    names = [each.alias_or_name.lower() for each in select.args.get("expressions") or ()]
    return names.index(person.lower()) if person is not None and person.lower() in names else None


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
