"""Joins: with public tables by equal values, and between private tables on the person."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.plan.nodes import Join, PersonJoin, Public, added, check_join, check_match, public
from discreet.plan.sql.names import spelled
from discreet.plan.sql.refusals import unused
from discreet.plan.sql.rows import run
from discreet.plan.sql.scope import Scope, ScopeTable, identifier, named, qualified
from discreet.plan.sql.source import SqlText, exact

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

Datum = Fraction | str | bool | dt.date | None


def public_of(source: SqlText, node: Node, name: str | None, columns: list[str]) -> Public:
    """Return VALUES as a public table."""
    alias = node.args.get("alias")
    if alias is not None and not columns:
        columns = [each.name for each in alias.args.get("columns") or ()]
        name = name or alias.name
    rows = [each.expressions if each.key == "tuple" else [each] for each in node.expressions]
    if not columns or name is None:
        fix = "write WITH floors(ward, floor) AS (VALUES ('A', 1), ('B', 2))"
        raise source.refused(node, "the table and its columns need names", fix)
    for row, each in zip(rows, node.expressions, strict=True):
        if len(row) != len(columns):
            why = f"this row has {len(row)} values, and there are {len(columns)} columns"
            raise source.refused(each, why, "give each row all of its values")
    data = {title: [_constant(source, row[place]) for row in rows] for place, title in enumerate(columns)}
    try:
        return public(name, data)
    except Refusal as refusal:
        raise source.translated(node, refusal) from refusal


def _constant(source: SqlText, node: Node) -> Datum:
    match node.key:
        case "literal" if node.is_string:
            return str(node.name)
        case "literal":
            number = exact(node.name)
            if number is not None:
                return number
        case "neg" if node.this.key == "literal" and not node.this.is_string:
            number = exact(node.this.name)
            if number is not None:
                return -number
        case "boolean":
            return bool(node.this)
        case "null":
            return None
        case "cast" if node.this.is_string and str(node.args["to"]).upper() == "DATE":
            try:
                return dt.date.fromisoformat(node.this.name)
            except ValueError:
                pass
    raise source.refused(node, "a public table has constants", "write numbers, texts in quotes, or DATE '2024-02-29'")


Item = Scope | Public
Pair = tuple["Node", "Node"]

_ON = "rows are joined by equal values"


def joined(source: SqlText, items: Sequence[tuple[tuple[Item, Node], Node | None]]) -> Scope:
    """Return the tables of a FROM, joined one after the other."""
    (first, node), _ = items[0]
    others = list(items[1:])
    for _, join in others:
        if join is not None:
            _check(source, join)
    if isinstance(first, Public):
        # An inner join is the same from either side, and the private table leads.
        if not others or isinstance(others[0][0][0], Public):
            why = "it is public, so there is nothing to protect"
            raise source.refused(node, why, "join a table of the session, or read it as it is")
        (second, other), join = others.pop(0)
        assert join is not None
        assert isinstance(second, Scope)
        scope = _with_public(source, second, first, _title(node, first), join)
    else:
        scope = first
    for (item, other), join in others:
        assert join is not None
        if isinstance(item, Public):
            scope = _with_public(source, scope, item, _title(other, item), join)
        else:
            scope = _with_private(source, scope, item, join)
    return scope


def _check(source: SqlText, join: Node) -> None:
    side, kind, method = (str(join.args.get(name) or "").upper() for name in ("side", "kind", "method"))
    if method:
        word = method.split()[0]
        why = (
            "which columns a join is by would change with the tables"
            if word == "NATURAL"
            else "only equal values are joined"
        )
        raise source.refused(source.keyword(word), why, "write JOIN ... USING (ward)")
    if side or kind not in ("", "INNER"):
        if kind == "CROSS":
            raise source.refused(source.keyword("CROSS"), _ON, "write JOIN ... USING (ward)")
        why = "rows without a partner are left out, so no column becomes null"
        raise source.refused(source.keyword(side or kind), why, "write JOIN, and ask about the others by themselves")
    for name in ("global_", "hint", "match_condition", "directed", "expressions", "pivots", "nearest"):
        if join.args.get(name):
            raise source.refused(join, "this part of a join is not understood", "write JOIN ... USING (ward)")
    if not join.args.get("on") and not join.args.get("using"):
        why = "without a condition every row would meet every other"
        raise source.refused(join.this, why, "write JOIN ... ON visits.ward = wards.ward, or USING (ward)")


def _title(node: Node, public: Public) -> str:
    alias = node.args.get("alias")
    if alias is not None and alias.this is not None:
        return identifier(alias.this)[0]
    return node.name if node.key == "table" else public.name


def _with_public(source: SqlText, scope: Scope, public: Public, title: str, join: Node) -> Scope:
    """Add the columns of a public table; a column that was matched by is ours under either name."""
    theirs = Scope(scope.plan, {}, (ScopeTable(title, {name: name for name in public.names}),))
    pairs = _pairs(source, join, scope, theirs)
    on = tuple((scope.column(ours, source), theirs.column(other, source)) for ours, other in pairs)
    try:
        check_join(scope.columns, public, on)
    except Refusal as refusal:
        raise source.translated(join.args.get("on") or join, refusal) from refusal
    more = added(public, on)
    for column in more:
        if any((column.name or "").lower() == each.lower() for each in scope.columns):
            why = f"both tables have a column {column.name!r}, and they are not matched by it"
            raise source.refused(join.this, why, "give the public column another name")
    matched = {other: ours for ours, other in on}
    part = ScopeTable(title, {name: matched.get(name, name) for name in public.names})
    columns = {**scope.columns, **{column.name or "": column for column in more}}
    made = scope.now(Join(scope.plan, public, on), columns)
    return replace(made, parts=(*scope.parts, part))


def _with_private(source: SqlText, scope: Scope, other: Scope, join: Node) -> Scope:
    """Add the columns of a private table to the rows of the same person; other equal values may be asked for too."""
    pairs = _pairs(source, join, scope, other)
    people = [pair for pair in pairs if scope.is_person(pair[0]) and other.is_person(pair[1])]
    if not people:
        why = "private tables are joined on the person: a row is paired only with rows of the same person"
        raise source.refused(join.args.get("on") or join, why, _by_person(scope, other))
    on = tuple((scope.column(one, source), other.column(two, source)) for one, two in pairs if (one, two) not in people)
    (part,) = other.parts
    taken = {name.lower() for name in scope.columns}
    matched = {theirs: ours for ours, theirs in on}
    names: dict[str, str] = {}
    brought: list[tuple[str, str]] = []
    for shown, column in part.names.items():
        if column in matched:
            names[shown] = matched[column]
            continue
        new = unused(column, taken)
        taken.add(new.lower())
        names[shown] = new
        brought.append((new, column))
    columns = {**scope.columns, **{new: other.columns[old].named(new) for new, old in brought}}
    try:
        check_match(scope.columns, other.columns, "the other table", on)
        plan = PersonJoin(scope.plan, other.plan, on, None, tuple(brought))
    except Refusal as refusal:
        raise source.translated(join, refusal) from refusal
    return Scope(plan, columns, (*scope.parts, replace(part, names=names)), scope.size + other.size + 1)


def _by_person(scope: Scope, other: Scope) -> str:
    """Say how two private tables are joined, by what each calls the person."""
    ours, theirs = (next((part for part in each.parts if part.person), None) for each in (scope, other))
    if ours is None or theirs is None:
        return "protect people, not rows, when the tables are registered"
    one, two = ours.person or "", theirs.person or ""
    if one.lower() == two.lower():
        return f"write JOIN ... USING ({spelled(one)})"
    return f"write JOIN ... ON {qualified(ours, one)} = {qualified(theirs, two)}"


def _pairs(source: SqlText, join: Node, ours: Scope, theirs: Scope) -> list[Pair]:
    """Return the columns that a join says are equal, ours first."""
    if join.args.get("using"):
        return [(_column(each), _column(each)) for each in join.args["using"]]
    first, *others = run(join.args["on"], "and")
    found = []
    for each in (first, *(other.expression for other in others)):
        node = each
        while node.key == "paren":
            node = node.this
        if node.key != "eq" or node.this.key != "column" or node.expression.key != "column":
            raise source.refused(each, _ON, "write ON visits.ward = wards.ward AND ..., and other conditions in WHERE")
        one, two = node.this, node.expression
        found.append((two, one) if _belongs(one, theirs) and not _belongs(one, ours) else (one, two))
    return found


def _belongs(node: Node, scope: Scope) -> bool:
    table = node.args.get("table")
    name, quoted = identifier(node.this)
    parts = [part for part in scope.parts if table is None or named([part.alias or ""], *identifier(table))]
    return any(named(part.names, name, quoted) or scope.is_person(node) for part in parts)


def _column(node: Node) -> Node:
    """Return a name of USING as a column."""
    from sqlglot import exp

    if node.key == "column":
        return node
    made = exp.Column(this=node.copy())
    made.this.meta.update(node.meta)
    return made
