"""Joins: with public tables by equal values, and between private tables on the person."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.core.schema import Table
from discreet.core.value import replace
from discreet.plan.match import check_match
from discreet.plan.nodes import Filter, Join, PersonJoin, Project, Public, added, check_join, public, tables_of
from discreet.plan.referents import most_partners, origin, referent
from discreet.plan.sql.expressions import rows_of
from discreet.plan.sql.refusals import SqlRefused, unused
from discreet.plan.sql.rows import run
from discreet.plan.sql.scope import Scope, ScopeTable, identifier, named, qualified, spelled
from discreet.plan.sql.source import SqlText, exact

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

Datum = Fraction | str | bool | dt.date | None


def values_of(node: Node) -> Node | None:
    """Return VALUES, also where the parser put a SELECT * around it."""
    if node.key == "values":
        return node
    if node.key == "select" and node.args.get("from_") is not None:
        inner: Node = node.args["from_"].this
        plain = {name for name, value in node.args.items() if value} == {"expressions", "from_"}
        if inner.key == "values" and plain and [each.key for each in node.expressions] == ["star"]:
            return inner
    return None


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

ON = "rows are joined by equal values"


def joined(
    source: SqlText, items: Sequence[tuple[tuple[Item, Node], Node | None]], tables: Mapping[str, Table]
) -> Scope:
    """Return the tables of a FROM, joined one after the other."""
    (first, node), _ = items[0]
    others = list(items[1:])
    if isinstance(first, Public):
        # An inner join is the same from either side, and the private table leads.
        if not others or isinstance(others[0][0][0], Public):
            raise unprotected(source, node)
        (second, other), join = others.pop(0)
        assert join is not None
        assert isinstance(second, Scope)
        scope = with_public(source, second, first, title_of(node, first), join)
    else:
        scope = first
    for (item, other), join in others:
        assert join is not None
        if is_left(join):
            scope = left_joined(source, scope, item, join, tables)
        elif isinstance(item, Public):
            scope = with_public(source, scope, item, title_of(other, item), join)
        else:
            scope = with_private(source, scope, item, join, None, tables)
    return scope


def unprotected(source: SqlText, node: Node) -> SqlRefused:
    """Return the refusal of a question that reads public tables alone."""
    why = "it is public, so there is nothing to protect"
    return source.refused(
        node,
        why,
        "join it to a table of the session, or ask about it by itself, which is free, and write what it answers",
    )


def check_join_words(source: SqlText, join: Node) -> None:
    """Refuse joins other than inner ones and LEFT JOIN."""
    side, kind, method = (str(join.args.get(name) or "").upper() for name in ("side", "kind", "method"))
    if method:
        word = method.split()[0]
        why = (
            "which columns a join is by would change with the tables"
            if word == "NATURAL"
            else "only equal values are joined"
        )
        raise source.refused(source.keyword(word), why, "write JOIN ... USING (ward)")
    if side == "RIGHT":
        why = "the rows that are kept lead"
        raise source.refused(source.keyword(side), why, "write the tables the other way round, with LEFT JOIN")
    if side not in ("", "LEFT") or kind not in ("", "INNER", "CROSS", "OUTER"):
        why = "rows without a partner are kept on one side, which leads"
        raise source.refused(source.keyword(side or kind), why, "write LEFT JOIN, or JOIN")
    for name in ("global_", "hint", "match_condition", "directed", "expressions", "pivots", "nearest"):
        if join.args.get(name):
            raise source.refused(join, "this part of a join is not understood", "write JOIN ... USING (ward)")


def is_left(join: Node | None) -> bool:
    """Say whether rows without a partner are kept."""
    return join is not None and bool(join.args.get("side"))


def is_bare(join: Node) -> bool:
    """Say whether a join says nothing of what is equal, as a comma does; then WHERE has to."""
    return not join.args.get("on") and not join.args.get("using")


def unjoined(source: SqlText, join: Node) -> SqlRefused:
    """Return the refusal of a table that nothing joins to the others."""
    if join.args.get("kind") == "CROSS":
        return source.refused(source.keyword("CROSS"), ON, "write JOIN ... USING (ward)")
    why = "without a condition every row would meet every other"
    return source.refused(join.this, why, "write JOIN ... ON visits.ward = wards.ward, or USING (ward)")


def title_of(node: Node, public: Public) -> str:
    """Return what a public table is called in a FROM."""
    alias = node.args.get("alias")
    if alias is not None and alias.this is not None:
        return identifier(alias.this)[0]
    return node.name if node.key == "table" else public.name


def with_public(
    source: SqlText, scope: Scope, public: Public, title: str, join: Node, pairs: list[Pair] | None = None
) -> Scope:
    """Add the columns of a public table; a column that was matched by is ours under either name.

    `pairs` are the columns that are equal, ours first; those that the join names where there are none.
    """
    theirs = Scope(scope.plan, {}, (ScopeTable(title, {name: name for name in public.names}),))
    pairs = _pairs(source, join, scope, theirs) if pairs is None else pairs
    matched = {theirs.column(other, source) for _, other in pairs}
    scope = _apart(scope, {name.lower() for name in public.names if name not in matched})
    on = tuple((scope.column(ours, source), theirs.column(other, source)) for ours, other in pairs)
    try:
        check_join(scope.columns, public, on)
    except Refusal as refusal:
        raise source.translated(join.args.get("on") or join, refusal) from refusal
    more, names = added(public, on), {other: ours for ours, other in on}
    part = ScopeTable(title, {name: names.get(name, name) for name in public.names})
    columns = {**scope.columns, **{column.name or "": column for column in more}}
    made = scope.now(Join(scope.plan, public, on), columns)
    return replace(made, parts=(*scope.parts, part))


def _apart(scope: Scope, names: set[str]) -> Scope:
    """Return the scope with new names for columns that have one of these, so that a table may be joined twice."""
    taken = {each.lower() for each in scope.columns} | names
    new: dict[str, str] = {}
    for column in scope.columns:
        new[column] = unused(column, taken) if column.lower() in names else column
        taken.add(new[column].lower())
    if all(name == column for column, name in new.items()):
        return scope
    columns = {new[old]: column.named(new[old]) for old, column in scope.columns.items()}
    parts = tuple(
        replace(part, names={shown: new[column] for shown, column in part.names.items()}) for part in scope.parts
    )
    plan = Project(scope.plan, tuple((name, old) for old, name in new.items()))
    return Scope(plan, columns, parts, scope.size + 1)


def with_private(
    source: SqlText,
    scope: Scope,
    other: Scope,
    join: Node,
    pairs: list[Pair] | None,
    tables: Mapping[str, Table],
    *,
    outer: bool = False,
) -> Scope:
    """Add the columns of a private table to the rows of the same person; other equal values may be asked for too.

    `outer` keeps rows without a partner, with nulls in the place of its columns.
    """
    pairs = _pairs(source, join, scope, other) if pairs is None else pairs
    if not any(same_person(pair, scope, other, source, tables) for pair in pairs):
        why = "private tables are joined on the person: a row is paired only with rows of the same person"
        raise source.refused(join.args.get("on") or join, why, by_person(scope, other, tables, "JOIN ... ON"))
    # A person, or a reference to one, is no column that is compared: people are equal in any case.
    people = [pair for pair in pairs if scope.person(pair[0]) or other.person(pair[1])]
    people = [pair for pair in people if same_person(pair, scope, other, source, tables)]
    left = (pair for pair in pairs if pair not in people)
    on = tuple(dict.fromkeys((scope.column(one, source), other.column(two, source)) for one, two in left))
    (part,) = other.parts
    taken = {name.lower() for name in scope.columns}
    matched = {theirs: ours for ours, theirs in on}
    names: dict[str, str] = {}
    brought: list[tuple[str, str]] = []
    for shown, column in part.names.items():
        if column in matched and not outer:  # theirs is null where there is no partner
            names[shown] = matched[column]
            continue
        new = unused(column, taken)
        taken.add(new.lower())
        names[shown] = new
        brought.append((new, column))
    read = {new: other.columns[old].named(new) for new, old in brought}
    read = {new: replace(column, nullable=True) for new, column in read.items()} if outer else read
    columns = {**scope.columns, **read}
    try:
        check_match(scope.columns, other.columns, "the other table", on)
        plan = PersonJoin(scope.plan, other.plan, on, most_partners(other.plan, on, tables), tuple(brought), outer)
    except Refusal as refusal:
        raise source.translated(join, refusal) from refusal
    return Scope(plan, columns, (*scope.parts, replace(part, names=names)), scope.size + other.size + 1)


def left_joined(source: SqlText, scope: Scope, item: Item, join: Node, tables: Mapping[str, Table]) -> Scope:
    """Add the columns of a private table, where the person has such rows; all rows stay.

    What ON says of the other table alone narrows it before it is joined.
    """
    if isinstance(item, Public):
        why = "a public table says the same of everyone, and what it does not list would be null"
        raise source.refused(source.keyword("LEFT"), why, "write JOIN, or list all values in it")
    if is_bare(join):
        raise unjoined(source, join)
    if join.args.get("using"):
        return with_private(source, scope, item, join, None, tables, outer=True)
    pairs: list[Pair] = []
    for each in conjuncts(join.args["on"]):
        if each.key == "eq" and {each.this.key, each.expression.key} == {"column"}:
            one, two = each.this, each.expression
            turned = item.knows(one) and not scope.knows(one)
            if (item if not turned else scope).knows(two) and (scope if not turned else item).knows(one):
                pairs.append((two, one) if turned else (one, two))
                continue
        if any(not item.knows(column) for column in columns_in(each)):
            why = "the ON of a LEFT JOIN says what is equal, and which rows of the other table may be partners"
            raise source.refused(each, why, "write conditions on the rows that are kept in WHERE")
        rows = rows_of(source, item)
        item = item.now(Filter(item.plan, rows.condition(each)))
    if not pairs:
        raise unjoined(source, join)
    return with_private(source, scope, item, join, pairs, tables, outer=True)


def conjuncts(node: Node) -> list[Node]:
    """Return the conditions that AND joins, without the brackets around each."""
    while node.key == "paren":
        node = node.this
    if node.key != "and":
        return [node]
    first, *others = run(node, "and")
    return [each for part in (first, *(other.expression for other in others)) for each in conjuncts(part)]


def columns_in(node: Node) -> list[Node]:
    """Return the columns that are named in a part of a question."""
    from sqlglot import exp

    return [*node.find_all(exp.Column)]


def same_person(pair: Pair, scope: Scope, other: Scope, source: SqlText, tables: Mapping[str, Table]) -> bool:
    """Say whether two columns that are equal name one person: the person, or one row of a table that others refer to.

    Guarantee: none; every join of private tables demands the same person by itself.
    """
    one, two = scope.person(pair[0]), other.person(pair[1])
    if one is not None and two is not None:
        return True
    sides = ((scope, pair[0], one), (other, pair[1], two))
    if not all(whose is not None or side.knows(node) for side, node, whose in sides):
        return False
    first, second = (
        referent(origin(side.plan, side.column(node, source)) if whose is None else whose.owner, tables)
        for side, node, whose in sides
    )
    return first is not None and first == second


def by_person(scope: Scope, other: Scope, tables: Mapping[str, Table], word: str) -> str:
    """Say how two private tables meet: by a link between them, or by what each calls the person."""
    for side, linked in ((scope, other), (other, scope)):
        links = (tables[name].unit.via for name in tables_of(side.plan))
        for via in links:
            if via is not None and via.table in tables_of(linked.plan):
                return f"write {word} {spelled(via.column)} = {spelled(via.key)}"
    ours, theirs = (next((part for part in each.parts if part.person), None) for each in (scope, other))
    if ours is None or theirs is None:
        return "protect people, not rows, when the tables are registered"
    one, two = ours.person or "", theirs.person or ""
    if one.lower() == two.lower() and word != "WHERE":
        return f"write JOIN ... USING ({spelled(one)})"
    return f"write {word} {qualified(ours, one)} = {qualified(theirs, two)}"


def _pairs(source: SqlText, join: Node, ours: Scope, theirs: Scope) -> list[Pair]:
    """Return the columns that a join says are equal, ours first."""
    if join.args.get("using"):
        return [(named_column(each), named_column(each)) for each in join.args["using"]]
    first, *others = run(join.args["on"], "and")
    found = []
    for each in (first, *(other.expression for other in others)):
        node = each
        while node.key == "paren":
            node = node.this
        if node.key != "eq" or node.this.key != "column" or node.expression.key != "column":
            raise source.refused(each, ON, "write ON visits.ward = wards.ward AND ..., and other conditions in WHERE")
        one, two = node.this, node.expression
        found.append((two, one) if _belongs(one, theirs) and not _belongs(one, ours) else (one, two))
    return found


def _belongs(node: Node, scope: Scope) -> bool:
    table = node.args.get("table")
    name, quoted = identifier(node.this)
    parts = [part for part in scope.parts if table is None or named([part.alias or ""], *identifier(table))]
    return any(named(part.names, name, quoted) or scope.is_person(node) for part in parts)


def named_column(node: Node) -> Node:
    """Return a name of USING as a column."""
    from sqlglot import exp

    if node.key == "column":
        return node
    made = exp.Column(this=node.copy())
    made.this.meta.update(node.meta)
    return made
