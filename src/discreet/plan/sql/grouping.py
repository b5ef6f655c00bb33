"""Grouping: GROUP BY columns, expressions, ordinals and aliases, and ROLLUP and CUBE over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal, UnknownName
from discreet.core.schema import Table
from discreet.core.value import dataclass
from discreet.plan.aggregates import Aggregate
from discreet.plan.expressions import Expression, Literal, Name
from discreet.plan.keys import KeyedRows, Keys, keys_of
from discreet.plan.nodes import Derive, Plan
from discreet.plan.sql.expressions import rows_of
from discreet.plan.sql.formula import Formula, Ordering
from discreet.plan.sql.outer import has_aggregate
from discreet.plan.sql.parse import Options
from discreet.plan.sql.refusals import Span, label, unused
from discreet.plan.sql.scope import Scope, identifier
from discreet.plan.sql.source import SqlText

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


GroupingSets = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ScalarSubquery:
    """A subquery that stands for one number: the question that it is, and where it is written."""

    statement: SqlStatement
    span: Span
    written: str


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """What a SELECT asks. `plan`, `keys` and `aggregates` are what is paid for; all the rest is done to the answer.

    `titles` are the keys under the names the answer shows, `columns` its columns; `sets` are the keys that are kept in
    each of the grouping sets of a ROLLUP. `spans` says where keys and aggregates stand.
    """

    source: SqlText
    options: Options
    plan: Plan
    keys: Keys | None
    aggregates: tuple[tuple[str, Aggregate], ...]
    titles: tuple[str, ...]
    columns: tuple[tuple[str, Formula], ...]
    sets: GroupingSets
    having: Formula | None
    order: tuple[Ordering, ...]
    limit: int | None
    offset: int
    spans: Mapping[str, Span]
    first: tuple[ScalarSubquery, ...] = ()


# Noise would drown the groups of so many.
MOST_COLUMNS = 20
MOST_CUBE = 6


@dataclass(frozen=True, slots=True)
class Grouping:
    """The rows with their keys derived, the keys, how each was written, under which name it is shown, and where."""

    scope: Scope
    keys: Keys | None
    written: Mapping[str, Expression]
    titles: Mapping[str, str]
    spans: Mapping[str, Span]
    sets: GroupingSets = ()


@dataclass(frozen=True, slots=True)
class _Item:
    node: Node
    made: Expression
    title: str


def grouped(
    source: SqlText,
    scope: Scope,
    select: Node,
    given: Mapping[str, Sequence[object]],
    tables: Mapping[str, Table],
    bought: frozenset[Fraction],
) -> Grouping:
    """Read GROUP BY; without one there is one group, of all rows. Comparisons with what is `bought` narrow no keys."""
    group = select.args.get("group")
    if group is None:
        if given:
            raise source.translated(source.keyword("SELECT"), UnknownName("key column", next(iter(given)), ()))
        return Grouping(scope, None, {}, {}, {})
    nodes, kept = _nodes(source, group)
    if len(nodes) > MOST_COLUMNS:
        why = f"a question is grouped by at most {MOST_COLUMNS} columns"
        raise source.refused(nodes[MOST_COLUMNS], why, "group by fewer columns")
    items = [_item(source, scope, select, node) for node in nodes]
    written: dict[str, Expression] = {}
    titles: dict[str, str] = {}
    spans: dict[str, Span] = {}
    for item in items:
        if any(known.same_as(item.made) for known in written.values()):
            raise source.refused(item.node, "it is grouped by already", "name each key once")
        scope, name = _key(source, scope, item)
        written[name], titles[name], spans[name] = item.made, item.title, source.span(item.node)
    keys = _keys(source, scope, titles, spans, given, KeyedRows(scope.plan, tables, bought))
    names = list(written)
    sets = tuple(tuple(names[place] for place in each) for each in kept)
    if sets and keys.selected:
        missing = next(key.name for key in keys.columns if key.values is None)
        why = "the totals of a ROLLUP are sums over declared keys, and these were not declared"
        raise source.refused(spans[missing], why, f"pass keys={{'{titles[missing]}': [...]}}, or leave ROLLUP out")
    return Grouping(scope, keys, written, titles, spans, sets)


def _nodes(source: SqlText, group: Node) -> tuple[list[Node], list[tuple[int, ...]]]:
    """Return the items of GROUP BY, and for ROLLUP and CUBE which of them each grouping set keeps."""
    for name in ("all", "totals", "grouping_sets"):
        if group.args.get(name):
            raise source.refused(source.keyword("GROUP"), "which keys there are is said by name", "list the columns")
    nodes: list[Node] = []
    kept: list[tuple[int, ...]] = []
    behind = [*(group.args.get("rollup") or ()), *(group.args.get("cube") or ())]
    for each in (*group.expressions, *behind):
        if each.key == "groupingsets" or (each.key in ("rollup", "cube") and kept):
            why = "the grouping sets of a question are those of one ROLLUP or one CUBE"
            raise source.refused(each, why, "write GROUP BY ROLLUP (ward, urgent), or ask several questions")
        if each.key == "cube" and len(each.expressions or nodes) > MOST_CUBE:
            raise source.refused(each, f"a CUBE has at most {MOST_CUBE} columns", "write ROLLUP, or fewer columns")
        if each.key in ("rollup", "cube"):
            before = tuple(range(len(nodes))) if each.expressions else ()
            inside = each.expressions or nodes[:]
            nodes += inside if each.expressions else []
            kept = [before + tuple(len(before) + place for place in chosen) for chosen in _sets(each.key, len(inside))]
        else:
            nodes.append(each)
            kept = [(*chosen, len(nodes) - 1) for chosen in kept]
    return nodes, kept


def _sets(word: str, size: int) -> list[tuple[int, ...]]:
    if word == "rollup":
        return [tuple(range(most)) for most in range(size, -1, -1)]
    return [chosen for most in range(size, -1, -1) for chosen in combinations(range(size), most)]


def _item(source: SqlText, scope: Scope, select: Node, node: Node) -> _Item:
    """Return one item: an ordinal, a name of the SELECT, a column, or an expression."""
    chosen = _meant(source, scope, select, node)
    value = chosen.this if chosen.key == "alias" else chosen
    if has_aggregate(value):
        raise source.refused(node, "groups are made before anything is aggregated", "group by a column")
    made, _ = rows_of(source, scope).typed(value)
    if isinstance(made, Literal):
        raise source.refused(node, "a constant divides nothing", "group by a column, or leave GROUP BY out")
    return _Item(node, made, _title(source, scope, select, value, made))


def _meant(source: SqlText, scope: Scope, select: Node, node: Node) -> Node:
    listed: list[Node] = select.expressions
    if node.key == "literal" and not node.is_string:
        place = int(node.name) if node.name.isdecimal() and len(node.name) < 6 else 0
        if not 1 <= place <= len(listed):
            why = f"there is no column {node.name} in this SELECT, which has {len(listed)}"
            raise source.refused(node, why, "count from 1, or write the column")
        return listed[place - 1]
    if node.key == "column" and node.args.get("table") is None and not _is_column(source, scope, node):
        name, quoted = identifier(node.this)
        for each in listed:
            if each.key == "alias" and (each.alias == name or (not quoted and each.alias.lower() == name.lower())):
                return each
    return node


def _is_column(source: SqlText, scope: Scope, node: Node) -> bool:
    try:
        scope.column(node, source)
    except Refusal:
        return False
    return True


def _title(source: SqlText, scope: Scope, select: Node, value: Node, made: Expression) -> str:
    """Return the name of a key in the answer: its alias in the SELECT, else its own, else its SQL."""
    for each in select.expressions:
        if each.key != "alias" or has_aggregate(each):
            continue
        try:
            same = rows_of(source, scope).read(each.this).same_as(made)
        except Refusal:
            continue
        if same:
            return identifier(each.args["alias"])[0]
    return made.name if isinstance(made, Name) and value.key == "column" else label(source.written(value))


def _key(source: SqlText, scope: Scope, item: _Item) -> tuple[Scope, str]:
    if isinstance(item.made, Name):
        return scope, item.made.name
    name = unused(item.title, {each.lower() for each in scope.columns})
    column = rows_of(source, scope).type_of(item.made, item.node).named(name)
    return scope.now(Derive(scope.plan, name, item.made), {**scope.columns, name: column}), name


def _keys(
    source: SqlText,
    scope: Scope,
    titles: Mapping[str, str],
    spans: Mapping[str, Span],
    given: Mapping[str, Sequence[object]],
    rows: KeyedRows,
) -> Keys:
    plain = {title: name for name, title in titles.items()} | {name: name for name in titles}
    for title in given:
        if title not in plain:
            raise source.translated(source.keyword("GROUP"), UnknownName("key column", title, plain))
    listed = {plain[title]: values for title, values in given.items()}
    for name in titles:
        try:
            keys_of((name,), scope.columns, {name: listed[name]} if name in listed else None, rows)
        except Refusal as refusal:
            raise source.translated(spans[name], refusal) from refusal
    try:
        return keys_of(tuple(titles), scope.columns, listed, rows)
    except Refusal as refusal:
        raise source.translated(source.keyword("GROUP"), refusal) from refusal
