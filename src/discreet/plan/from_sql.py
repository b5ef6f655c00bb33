"""From SQL: reads one SELECT into a plan, keys and aggregates, and what is done to their answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.value import replace
from discreet.plan.aggregates import Aggregate, Max, Min, People, Quantile
from discreet.plan.sql.aggregates import Measures
from discreet.plan.sql.expressions import rows_of
from discreet.plan.sql.formula import Formula, KeyOf, Measured, Ordering, is_shown, kind_of, kind_of_key
from discreet.plan.sql.grouping import Grouping, SqlStatement, grouped
from discreet.plan.sql.outer import Outer, has_aggregate
from discreet.plan.sql.parse import Options, parsed
from discreet.plan.sql.refusals import SqlRefused, is_aggregate, label, unused
from discreet.plan.sql.relations import Relations, check_outer
from discreet.plan.sql.scalars import SUPPOSED, scalars_of
from discreet.plan.sql.scope import Catalogue, identifier, split_name
from discreet.plan.sql.source import SqlText

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

MOST_COLUMNS = 200
MOST_ORDERINGS = 20


def from_sql(text: str, catalogue: Catalogue, values: Sequence[Fraction] = (SUPPOSED,)) -> SqlStatement:
    """Read a question in SQL, or refuse it with the place, the reason and a rewrite.

    `values` are those of its first scalar subqueries, which were bought already; the last is supposed for the others.

    Guarantee: nothing of the text goes further than the names and constants that the plan keeps; no engine and no
    record is touched, and what is not understood is refused, never passed on.
    """
    try:
        return _statement(text, catalogue, values)
    except SqlRefused as refusal:
        split = split_name(refusal, catalogue)
        if split is None:
            raise
        raise split from refusal


def _statement(text: str, catalogue: Catalogue, values: Sequence[Fraction]) -> SqlStatement:
    source, options, tree = parsed(text)
    select, bounds = outer_select(source, tree), dict(options.bounds)

    def scalar(node: Node, relations: Relations) -> SqlStatement:
        return _read(source, options, node, relations, keys={}, bought=frozenset(values))

    first = scalars_of(source, select, catalogue, bounds, values, scalar)
    relations, bought = Relations(source, catalogue, bounds=bounds), frozenset(values) if first else frozenset()
    found = _read(source, options, select, relations, keys=catalogue.keys, bought=bought)
    if bounds:
        unread = next(iter(bounds.values()))
        raise source.refused(unread.span, "bounds belong into SUM, AVG and the like", "leave them out here")
    return replace(found, first=first)


def _read(
    source: SqlText,
    options: Options,
    select: Node,
    relations: Relations,
    *,
    keys: Mapping[str, Sequence[object]],
    bought: frozenset[Fraction],
) -> SqlStatement:
    """Read one SELECT: the question itself, or a scalar subquery of it; what is `bought` decides no keys."""
    check_outer(source, select)
    scope = relations.within(select).select(select)
    grouping = grouped(source, scope, select, keys, relations.tables, bought)
    measures = Measures(rows_of(source, grouping.scope), relations.bounds, _taken(grouping))
    kinds = {name: kind_of_key(grouping.scope.columns[name]) for name in grouping.written}
    outer = Outer(measures.rows, measures, grouping.written, kinds)
    titles, columns = _columns(source, select, grouping, outer)
    outer.aliases.update({**{title: KeyOf(name) for name, title in titles.items()}, **dict(columns)})
    having = _having(source, select, outer)
    order = tuple(_order(source, select, outer))
    aggregates = tuple((name, aggregate) for aggregate, name in measures.known.items())
    if grouping.sets:
        _check_totals(source, measures, aggregates)
    return SqlStatement(
        source=source,
        options=options,
        plan=grouping.scope.plan,
        keys=grouping.keys,
        aggregates=aggregates,
        titles=tuple(titles.values()),
        columns=columns,
        sets=grouping.sets,
        having=having,
        order=order,
        limit=whole(source, select.args.get("limit"), "LIMIT"),
        offset=whole(source, select.args.get("offset"), "OFFSET") or 0,
        spans={**grouping.spans, **measures.spans},
    )


def outer_select(source: SqlText, tree: Node) -> Node:
    """Return the SELECT that a question is."""
    while tree.key == "subquery" and not any(value for name, value in tree.args.items() if name != "this"):
        tree = tree.this
    if tree.key in ("union", "except", "intersect"):
        why = "the parts of a union are answers of their own"
        fix = "ask for each by itself, or unite the tables in FROM: FROM (SELECT ... UNION ALL SELECT ...) AS both"
        raise source.refused(source.keyword(tree.key.upper()), why, fix)
    if tree.key != "select":
        why = "a question is a SELECT"
        raise source.refused((0, len(source.text)), why, "write SELECT COUNT(*) FROM visits")
    return tree


def _taken(grouping: Grouping) -> set[str]:
    return {title.lower() for title in (*grouping.titles, *grouping.titles.values())}


def _columns(
    source: SqlText, select: Node, grouping: Grouping, outer: Outer
) -> tuple[dict[str, str], tuple[tuple[str, Formula], ...]]:
    """Return the keys under the names they are shown by, and the columns of the answer."""
    listed = select.expressions
    if len(listed) > MOST_COLUMNS:
        why = f"a question has at most {MOST_COLUMNS} columns"
        raise source.refused(listed[MOST_COLUMNS], why, "ask for fewer")
    plain = [(each, each.this if each.key == "alias" else each) for each in listed]
    for each, value in plain:
        if value.key == "star" or (value.key == "column" and value.this.key == "star"):
            why = "single rows are never shown"
            raise source.refused(each, why, "name aggregates: SELECT COUNT(*), AVG(cost) FROM ...")
    # Aggregates that stand alone come first, so they are measured under their own names.
    names = {}
    for each, value in plain:
        if is_aggregate(value):
            names[id(each)] = outer.measures.name(value, each.alias or None)
    columns: dict[str, Formula] = {}
    taken = {title.lower() for title in grouping.titles.values()}
    for each, value in plain:
        made: Formula = Measured(names[id(each)]) if id(each) in names else outer.read(value)
        if isinstance(made, KeyOf):
            continue
        if not has_aggregate(value):
            raise source.refused(each, "nothing is measured here", "write an aggregate: COUNT(*), AVG(cost)")
        title = identifier(each.args["alias"])[0] if each.key == "alias" else None
        if title is not None and title.lower() in taken:
            why = f"two columns of the answer would be called {title!r}"
            raise source.refused(each, why, "give one of them another name with AS")
        shown = title or (made.name if isinstance(made, Measured) and made.name.lower() not in taken else None)
        shown = shown or unused(label(source.written(value)), taken)
        taken.add(shown.lower())
        columns[shown] = made
        if not is_shown(made, outer.kinds):
            why = "a column of an answer is a number, or compares two by <, <=, > or >="
            raise source.refused(each, why, "compute it from the answer")
    if not columns:
        why = "nothing is measured: the keys of groups are declared, or bought with what is measured in them"
        raise source.refused(select.expressions[0] if listed else (0, 6), why, "add COUNT(*)")
    _check_names(source, [*grouping.titles.values()], [*columns])
    return dict(grouping.titles), tuple(columns.items())


def _check_names(source: SqlText, titles: list[str], columns: list[str]) -> None:
    """Refuse, before anything is paid, an answer two of whose columns, or ends of intervals, would have one name."""
    names = [*titles, *(f"{name}{end}" for name in columns for end in ("", "_low", "_high"))]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        why = f"two columns of the answer, or the ends of their intervals, would be called {twice!r}"
        raise source.refused(source.keyword("SELECT"), why, "give one of them another name with AS")


def _having(source: SqlText, select: Node, outer: Outer) -> Formula | None:
    clause = select.args.get("having")
    if clause is None:
        return None
    made = outer.read(clause.this)
    if kind_of(made, outer.kinds) != "flag":
        raise source.refused(clause.this, "a condition is true or false", "compare it, as in HAVING COUNT(*) > 100")
    if not any(isinstance(part, Measured) for part in _parts(made)):
        why = "it asks about keys alone, which WHERE does before anything is measured"
        raise source.refused(clause.this, why, "write it in WHERE")
    return made


def _parts(formula: Formula) -> Iterator[Formula]:
    waiting: list[Formula] = [formula]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += getattr(found, "parts", ()) or ([found.of] if hasattr(found, "of") else [])


_NULLS_FIRST = re.compile(r"\bnulls\s+first\b", re.IGNORECASE)


def _order(source: SqlText, select: Node, outer: Outer) -> Iterator[Ordering]:
    clause = select.args.get("order")
    items = clause.expressions if clause is not None else []
    if len(items) > MOST_ORDERINGS:
        why = f"rows are ordered by at most {MOST_ORDERINGS} columns"
        raise source.refused(items[MOST_ORDERINGS], why, "order by fewer")
    for each in items:
        outer.rows.only(each, "this", "desc", "nulls_first")
        node = each.this
        if node.key == "literal" and not node.is_string:
            listed = select.expressions
            place = int(node.name) if node.name.isdecimal() and len(node.name) < 6 else 0
            if not 1 <= place <= len(listed):
                why = f"there is no column {node.name} in this SELECT, which has {len(listed)}"
                raise source.refused(node, why, "count from 1, or write the column")
            node = listed[place - 1]
            made = outer.read(node.this if node.key == "alias" else node)
        else:
            made = outer.alias(node) or outer.read(node)
        # The parser has an order for nulls where none is written: that is for keys. Values that are missing come last.
        first = bool(each.args.get("nulls_first")) and (isinstance(made, KeyOf) or _NULLS_FIRST.search(source.text))
        yield Ordering(made, bool(each.args.get("desc")), bool(first))


def whole(source: SqlText, node: Node | None, word: str) -> int | None:
    """Return the number of LIMIT or OFFSET."""
    if node is None:
        return None
    value = node.args.get("expression")
    extra = [name for name, each in node.args.items() if each and name != "expression"]
    if extra or value is None or value.key != "literal" or not value.name.isdecimal() or len(value.name) > 9:
        why = "a number of rows is an integer"
        raise source.refused(source.keyword(word if node.key != "fetch" else "FETCH"), why, "write LIMIT 10 OFFSET 20")
    return int(value.name)


def _check_totals(source: SqlText, measures: Measures, aggregates: tuple[tuple[str, Aggregate], ...]) -> None:
    """Refuse totals of what cannot be added up over groups."""
    for name, aggregate in aggregates:
        if isinstance(aggregate, Quantile | Min | Max):
            why = "the quantile of all rows does not follow from the quantiles of groups, so ROLLUP cannot compute it"
            raise source.refused(measures.spans[name], why, "ask twice: with GROUP BY, and without it")
        if isinstance(aggregate, People):
            why = "one person may be in several groups, so the people of groups do not add up"
            raise source.refused(measures.spans[name], why, "ask twice: with GROUP BY, and without it")
