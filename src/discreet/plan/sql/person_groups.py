"""Person groups: an inner SELECT with GROUP BY the identifier, which makes one row for each person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.plan.nodes import columns_of, tables_of
from discreet.plan.person_plans import WORDS, own_value, people_plan
from discreet.plan.sql.aggregates import Measures
from discreet.plan.sql.expressions import rows_of
from discreet.plan.sql.refusals import is_aggregate, label, unused
from discreet.plan.sql.scope import Scope, ScopeTable, identifier, named, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot.expressions import Expr as Node

    from discreet.core.schema import Table
    from discreet.plan.sql.parse import Bounds
    from discreet.plan.sql.source import SqlText


def people_scope(
    source: SqlText, scope: Scope, node: Node, tables: Mapping[str, Table], bounds: dict[int, Bounds]
) -> Scope:
    """Return the relation of one row for each person that an inner SELECT with GROUP BY means, given its rows.

    It is that of `per_person` in Python: the same plan, and so the same entry in the ledger.
    """
    owner = _check_person(source, scope, node, tables).owner
    measures = Measures(rows_of(source, scope), bounds)
    person: str | None = None
    made: dict[str, object] = {}
    for each in node.expressions:
        value = each.this if each.key == "alias" else each
        title = identifier(each.args["alias"])[0] if each.key == "alias" else None
        if scope.is_person(value):
            person = title or value.name
            continue
        if not is_aggregate(value):
            why = f"beside the identifier there are aggregates of each person's rows: {WORDS}"
            raise source.refused(each, why, "name each of them with AS, and compute with the names in the outer SELECT")
        taken = {known.lower() for known in made}
        if title is not None and named(dict(made), title, quoted=False) is not None:
            why = f"two columns would be called {title!r}"
            raise source.refused(each, why, "give one of them another name with AS")
        aggregate = measures.read(value)
        name = title or unused(label(source.written(value)), taken)
        try:
            own_value(name, aggregate)
        except Refusal as refusal:
            why = f"of a person's rows there are {WORDS}"
            raise source.refused(value, why, "write one of these, and aggregate it in the outer SELECT") from refusal
        made[name] = aggregate
    if not made:
        fix = "leave GROUP BY out, or name aggregates: SUM(cost) AS total"
        raise source.refused(node, "nothing is computed for each person", fix)
    try:
        read = {name: tables[name] for name in tables_of(scope.plan)}
        plan = people_plan(scope.plan, made.items(), read)
        columns = columns_of(plan, read)
    except Refusal as refusal:
        raise source.translated(node, refusal) from refusal
    return Scope(plan, columns, (ScopeTable(None, {name: name for name in made}, person, owner),), scope.size + 1)


def _check_person(source: SqlText, scope: Scope, node: Node, tables: Mapping[str, Table]) -> ScopeTable:
    """Return the table whose people an inner GROUP BY names; anything else is refused."""
    group = node.args["group"]
    people = [part.person for part in scope.parts if part.person is not None]
    word = source.keyword("GROUP", source.span(node))
    linked = [via for name in tables_of(scope.plan) if (via := tables[name].unit.via) is not None]
    if not people and linked:
        why = f"whose rows these are is told by a link, {linked[0].words}, and not by a column that is named here"
        fix = f"join {linked[0].table}, and GROUP BY what identifies people, or group in the outermost SELECT"
        raise source.refused(word, why, fix)
    if not people:
        why = "rows are protected here, not people, so groups of groups have no bound that is known in advance"
        raise source.refused(word, why, "group in the outermost SELECT alone")
    fix = f"GROUP BY {spelled(people[0])} alone, or group in the outermost SELECT"
    if any(value for name, value in group.args.items() if name != "expressions" and value not in (None, False, [], ())):
        raise source.refused(word, "within a question only people are grouped by", fix)
    found = [scope.person(_meant(node, each)) for each in group.expressions]
    for part, each in zip(found, group.expressions, strict=True):
        if part is None:
            why = "groups of groups have no bound that is known in advance, unless the inner groups are people"
            raise source.refused(each, why, fix)
    having = node.args.get("having")
    if having is not None:
        why = "what was computed for each person is a table, which the outer SELECT narrows"
        raise source.refused(source.keyword("HAVING"), why, "name the aggregate with AS, and write WHERE outside")
    return next(part for part in found if part is not None)


def _meant(node: Node, item: Node) -> Node:
    """Return what an item of GROUP BY stands for: an ordinal, or a name that the SELECT gave."""
    if item.key == "literal" and not item.is_string and item.name.isdecimal() and len(item.name) < 6:
        place = int(item.name)
        if 1 <= place <= len(node.expressions):
            found: Node = node.expressions[place - 1]
            inner: Node = found.this
            return inner if found.key == "alias" else found
    return item
