"""Scalar subqueries: one number about other rows, which is bought first and then stands in the question as a constant.

`WHERE cost > (SELECT AVG(cost) FROM visits)` compares rows with everyone's mean. The mean is a question of its own: its
noisy answer is public, and the outer question is about a constant, like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.plan.sql.formula import Tested
from discreet.plan.sql.grouping import ScalarSubquery, SqlStatement
from discreet.plan.sql.parse import Bounds
from discreet.plan.sql.relations import Relations
from discreet.plan.sql.scope import Catalogue
from discreet.plan.sql.source import SqlText

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


MOST_SCALARS = 4
# Digits of a noisy number that are kept, decimal places at most, and the largest one: noise drowns what is finer.
DIGITS, PLACES, LARGEST = 9, Fraction(1, 10**9), Fraction(10**15)
# What is supposed before a number is bought: one that nobody writes.
SUPPOSED = Fraction(123456789, 10**9)
# What is read as a table, a list of values or a test of rows is no number.
_ELSEWHERE = frozenset(
    {"from", "join", "in", "exists", "union", "except", "intersect", "cte", "any", "all", "subquery", "lateral"}
)
_CORRELATED = "its rows follow from the row that asks, so that every row would need a noisy number of its own"
_FIX = "ask for one number about all rows, or for the numbers of groups with GROUP BY, and join these as a public table"


def scalars_of(
    source: SqlText,
    tree: Node,
    catalogue: Catalogue,
    bounds: dict[int, Bounds],
    values: Sequence[Fraction],
    read: Callable[[Node, Relations], SqlStatement],
) -> tuple[ScalarSubquery, ...]:
    """Return the scalar subqueries of a question, each replaced in the tree by its value.

    That is the one given, and the last one for all others.

    They are read in the order in which they are written, each with the values of those before.
    """
    found: list[ScalarSubquery] = []
    for node in [*_scalars(tree)]:
        if len(found) == MOST_SCALARS:
            why = f"a question compares with at most {MOST_SCALARS} numbers that are bought first"
            raise source.refused(node, why, "ask for the others before, and write them as constants")
        relations = _relations(source, node, catalogue, bounds)
        if any(True for _ in _scalars(node.this)):
            raise source.refused(node, "a number that is bought first stands in another one", "ask for it by itself")
        if relations.within(node.this).inner(node.this).outer:
            raise source.refused(node, _CORRELATED, _FIX)
        statement = read(node.this, relations)
        if len(statement.columns) != 1 or isinstance(statement.columns[0][1], Tested) or not _is_bare(statement):
            raise source.refused(node, "a subquery in the place of a number has one column", "select one aggregate")
        found.append(ScalarSubquery(statement, source.span(node), source.written(node)))
        number = values[min(len(found), len(values)) - 1]
        node.replace(_constant(source, node, number))
    return tuple(found)


def settled_number(value: Fraction) -> Fraction:
    """Return a noisy number as it stands in the question that it is bought for: with nine digits, within limits.

    The same answer gives the same question, which is then a replay.
    """
    cut = min(max(value, Fraction(-LARGEST)), Fraction(LARGEST))
    found = Context(prec=DIGITS).divide(Decimal(cut.numerator), Decimal(cut.denominator))
    return Fraction(round(Fraction(found) / PLACES) * PLACES)


def _is_bare(statement: SqlStatement) -> bool:
    return statement.having is None and statement.limit is None and not statement.offset and not statement.order


def _scalars(tree: Node) -> Iterator[Node]:
    """Yield the subqueries in the place of a number, in the order of the text; none that is inside of another."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        parent = node.parent
        if node.key == "subquery" and parent is not None and parent.key not in _ELSEWHERE and node.this.key == "select":
            yield node
        else:
            waiting += reversed([*node.iter_expressions()])


def _relations(source: SqlText, node: Node, catalogue: Catalogue, bounds: dict[int, Bounds]) -> Relations:
    """Return the reader of a subquery, which knows what the WITH of every SELECT around it names before it."""
    found = Relations(source, catalogue, bounds=bounds)
    around: list[Node] = []
    parent = node.parent
    while parent is not None:
        around.append(parent)
        parent = parent.parent
    for each in reversed(around):
        if each.args.get("with_") is not None:
            found = found.within(each, before=around)
    return found


def _constant(source: SqlText, node: Node, number: Fraction) -> Node:
    """Write a number in the place of a subquery."""
    from sqlglot import exp

    start, end = source.span(node)
    text = format(Decimal(abs(number).numerator) / Decimal(abs(number).denominator), "f")
    made = exp.Literal.number(text)
    made.meta.update(start=start, end=end - 1)
    return exp.Neg(this=made) if number < 0 else made
