"""Subqueries in conditions: EXISTS and IN over rows of the same person, as flags of the rows that ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.core.schema import Table, flag
from discreet.core.value import dataclass, replace
from discreet.plan.expressions import Expression, Name
from discreet.plan.match import Comparison, check_comparison, check_match
from discreet.plan.nodes import Filter, MarkJoin
from discreet.plan.sql.expressions import rows_of
from discreet.plan.sql.joins import Pair, by_person, columns_in, same_person
from discreet.plan.sql.refusals import unused
from discreet.plan.sql.scope import Scope
from discreet.plan.sql.source import SqlText

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot.expressions import Expr as Node

_ORDERS = {"neq": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_TURNED = {"!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NAME = "exists"


@dataclass(frozen=True, slots=True)
class InnerSelect:
    """A SELECT inside a condition: its tables, what in its WHERE is about them alone, and what is about outer rows."""

    node: Node
    scope: Scope
    outer: list[Node]


@dataclass(slots=True)
class Subqueries:
    """Reads conditions with subqueries over rows of the same person: each becomes a flag of the row, named `exists`.

    `x NOT IN (SELECT y ...)` is what SQL says where the subquery names the person; where only the key says whose rows
    they are, a null key is nobody's, and is in no list.

    `read` reads the SELECT inside one; `marks` are the expressions that subqueries became, by their nodes.

    Guarantee: rows of other persons decide nothing; see `MarkJoin`.
    """

    source: SqlText
    scope: Scope
    tables: Mapping[str, Table]
    read: Callable[[Node], InnerSelect]
    marks: dict[int, Expression] = field(default_factory=dict)

    def condition(self, node: Node) -> Scope:
        """Return the rows for which a condition is true, with the flags that it asks for."""
        for each in outermost(node):
            self.marks[id(each)] = self._marked(each, node)
        rows = rows_of(self.source, self.scope, self.marks)
        return self.scope.now(Filter(self.scope.plan, rows.condition(node)))

    def _marked(self, node: Node, within: Node) -> Expression:
        if node.key == "exists":
            return self._exists(node, self._inner(node, node.this), [])
        value, query = node.this, node.args["query"]
        inner = self._inner(node, query.this if query.key == "subquery" else query)
        listed = inner.node.expressions
        if len(listed) != 1 or listed[0].unalias().key != "column" or value.key != "column":
            why = "IN compares one column of this row with one of the rows of the subquery"
            raise self.source.refused(node, why, "write x IN (SELECT y FROM ...), or EXISTS")
        pair = value, listed[0].unalias()
        found = self._exists(node, inner, [pair])
        parent = node.parent
        while parent is not None and parent.key == "paren":
            parent = parent.parent
        if parent is None or parent.key != "not":
            self._check_place(node, within)
            return found
        self._check_place(parent, within)
        return self._in_or_unknown(node, inner, pair, found)

    def _in_or_unknown(self, node: Node, inner: InnerSelect, pair: Pair, found: Expression) -> Expression:
        """Return what NOT IN leaves out: rows that are in, and those of which a null leaves it unknown."""
        mine = self.scope.person(pair[0]) is None
        missing = Name(self.scope.column(pair[0], self.source)).is_null() if mine else None
        if not self._is_correlated(inner):
            # The values are those of everyone: keys, of which rows that have none are nobody's.
            return found if missing is None else found | missing
        if inner.scope.person(pair[1]) is None:
            theirs = inner.scope.now(Filter(inner.scope.plan, Name(inner.scope.column(pair[1], self.source)).is_null()))
            found = found | self._exists(node, InnerSelect(inner.node, theirs, inner.outer), [])
        return found if missing is None else found | (missing & self._exists(node, inner, []))

    def _is_correlated(self, inner: InnerSelect) -> bool:
        """Say whether the WHERE of a subquery says by itself whose rows it is about."""
        found = (self._sides(each, inner.scope) for each in inner.outer if each.key == "eq")
        return any(
            same_person(each[0], self.scope, inner.scope, self.source, self.tables)
            for each in found
            if each is not None
        )

    def _check_place(self, node: Node, within: Node) -> None:
        """Refuse IN where its being unknown would not be the same as its being false."""
        place = node
        while place is not within and place.parent is not None:
            place = place.parent
            if place.key not in ("and", "or", "paren"):
                why = "a null among the values of a subquery leaves unknown what this is"
                raise self.source.refused(node, why, "write EXISTS (SELECT * FROM ... WHERE ...)")

    def _inner(self, node: Node, select: Node) -> InnerSelect:
        if select.key != "select":
            raise self.source.refused(
                node, "a subquery here is one SELECT", "write EXISTS (SELECT * FROM ... WHERE ...)"
            )
        return self.read(select)

    def _exists(self, node: Node, inner: InnerSelect, pairs: list[Pair]) -> Expression:
        """Add a flag that says whether the person has such rows."""
        found, compare, others = list(pairs), None, []
        for each in inner.outer:
            sides = self._sides(each, inner.scope)
            if sides is None:
                others.append(each)
            elif each.key == "eq":
                found.append(sides[0])
            elif compare is None:
                compare = each, sides
            else:
                why = "besides what is equal, one comparison with the rows of the subquery can be bounded"
                raise self.source.refused(each, why, "ask with one of the comparisons, or join the tables")
        if not any(same_person(pair, self.scope, inner.scope, self.source, self.tables) for pair in found):
            why = "a subquery is about the rows of the same person: those of others would decide whose rows count"
            raise self.source.refused(node, why, by_person(self.scope, inner.scope, self.tables, "WHERE"))
        on = tuple(dict.fromkeys(pair for each in found for pair in self._on(each, inner.scope)))
        comparison: Comparison | None = None
        if compare is not None:
            at, ((mine, theirs), order) = compare
            comparison = self.scope.column(mine, self.source), order, inner.scope.column(theirs, self.source)
        try:
            check_match(self.scope.columns, inner.scope.columns, "the subquery", on)
            if comparison is not None:
                check_comparison(self.scope.columns, inner.scope.columns, comparison)
        except Refusal as refusal:
            raise self.source.translated(node if compare is None else at, refusal) from refusal
        name = unused(_NAME, {each.lower() for each in self.scope.columns})
        plan = MarkJoin(self.scope.plan, inner.scope.plan, on, comparison, name)
        columns = {**self.scope.columns, name: flag(nullable=False).named(name)}
        self.scope = replace(self.scope.now(plan, columns), size=self.scope.size + inner.scope.size + 1)
        made: Expression = Name(name)
        for each in others:  # what is about this row alone
            made = made & rows_of(self.source, self.scope).condition(each).fill_null(False)
        return made

    def _on(self, pair: Pair, inner: Scope) -> Iterator[tuple[str, str]]:
        """Yield the columns that are compared; a person, or a reference to one, is no such column."""
        named = self.scope.person(pair[0]) is not None or inner.person(pair[1]) is not None
        if named and same_person(pair, self.scope, inner, self.source, self.tables):
            return
        yield self.scope.column(pair[0], self.source), inner.column(pair[1], self.source)

    def _sides(self, node: Node, inner: Scope) -> tuple[Pair, str] | None:
        """Return two columns that are compared, ours first, and how; None for what is about this row alone."""
        while node.key == "paren":
            node = node.this
        columns = columns_in(node)
        if not any(inner.knows(each) for each in columns):
            return None
        one, two = node.this, node.args.get("expression")
        if node.key not in ("eq", *_ORDERS) or two is None or {one.key, two.key} != {"column"}:
            why = "a condition on this row and the rows of the subquery compares one column of each"
            raise self.source.refused(node, why, "write it as a.x = b.y, or a.x < b.y")
        order = _ORDERS.get(node.key, "==")
        return ((two, one), _TURNED.get(order, order)) if inner.knows(one) else ((one, two), order)


def outermost(node: Node) -> Iterator[Node]:
    """Yield EXISTS and IN over subqueries, but for those inside of others."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if found.key == "exists" or (found.key == "in" and found.args.get("query") is not None):
            yield found
        else:
            waiting += reversed([*found.iter_expressions()])


def has_subquery(node: Node) -> bool:
    """Say whether a condition asks about rows of a subquery."""
    return next(outermost(node), None) is not None
