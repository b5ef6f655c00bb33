"""Rows: reads what is computed from one row, a rule for each kind of node; the rules are in families beside it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from discreet.core.column import Column
from discreet.core.errors import Refusal, UnknownName
from discreet.core.value import dataclass
from discreet.plan.expressions import Arithmetic, Expression, Literal, Logic, Name
from discreet.plan.sql.refusals import reason
from discreet.plan.sql.scope import Scope
from discreet.plan.sql.source import SqlText, exact
from discreet.plan.types import type_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

Rule: TypeAlias = "Callable[[Rows, Node], Expression]"

# Types and bounds are derived several times over, so what is larger would take seconds.
LARGEST = 2_000
# As Python writes it up to here, (a & b) & c; longer runs are halved, so they stay shallow.
LONGEST_RUN = 60


@dataclass(frozen=True, slots=True)
class Rows:
    """Reads expressions over the rows of a scope; `marks` are those that subqueries became, by their nodes.

    What no rule reads may be the word of a function, each a file of its own: these are loaded where one is needed.
    """

    source: SqlText
    scope: Scope
    rules: Mapping[str, Rule]
    called: Callable[[], Mapping[str, Rule]]
    functions: Callable[[], tuple[str, ...]]
    marks: Mapping[int, Expression] = field(default_factory=dict)
    _made: dict[int, tuple[Expression, Node]] = field(default_factory=dict)

    def read(self, node: Node) -> Expression:
        """Return the expression that a node means, or refuse it."""
        if id(node) in self.marks:
            return self.marks[id(node)]
        rule = self._rule(node)
        if rule is None:
            raise self.unknown(node)
        try:
            made = rule(self, node)
        except Refusal as refusal:
            raise self.source.translated(node, refusal) from refusal
        if made.size > LARGEST:
            why = f"what is computed from one row has at most {LARGEST:,} names, constants and signs"
            raise self.refused(node, why, "put long lists into a public table, and join it")
        self._made[id(made)] = (made, node)
        return made

    def typed(self, node: Node) -> tuple[Expression, Column]:
        """Return an expression with its type; one that has none is refused where it goes wrong."""
        made = self.read(node)
        return made, self.type_of(made, node)

    def type_of(self, made: Expression, node: Node) -> Column:
        """Return the type of an expression, or refuse the smallest part of it that has none."""
        try:
            return type_of(made, self.scope.columns)
        except Refusal as refusal:
            raise self._smallest(made, node, refusal) from refusal

    def condition(self, node: Node) -> Expression:
        """Return what is true or false for a row."""
        made, column = self.typed(node)
        if column.kind != "flag":
            why = f"a condition is true or false, and this is a {column.kind}"
            raise self.refused(node, why, "compare it with something, as in age >= 18")
        return made

    def refused(self, node: Node, why: str, fix: str) -> Refusal:
        """Return the refusal of a node."""
        return self.source.refused(node, why, fix)

    def knows(self, node: Node) -> bool:
        """Say whether a rule reads a node, whatever is in it."""
        return self._rule(node) is not None and (node.key != "anonymous" or node.name.upper() in self.functions())

    def unknown(self, node: Node) -> Refusal:
        """Return the refusal of a node that no rule reads."""
        return self.refused(node, *self._reason(node))

    def only(self, node: Node, *known: str) -> None:
        """Refuse a node with more to it than is known here, so nothing is read over."""
        for name, value in node.args.items():
            if name not in known and value not in (None, False, [], ()):
                word = name.strip("_").replace("_", " ")
                raise self.refused(node, f"its {word} is not understood", "leave that part out")

    def _rule(self, node: Node) -> Rule | None:
        return self.rules.get(node.key) or self.called().get(node.key)

    def _smallest(self, made: Expression, node: Node, refusal: Refusal) -> Refusal:
        while True:
            for part in made.parts:
                try:
                    type_of(part, self.scope.columns)
                except Refusal as inner:
                    made, refusal = part, inner
                    node = self._made.get(id(made), (made, node))[1]
                    break
            else:
                return self.source.translated(node, refusal)

    def _reason(self, node: Node) -> tuple[str, str]:
        why, fix = reason(node)
        if why:
            return why, fix
        name = node.name if node.key == "anonymous" else self.source.written(node).partition("(")[0].strip()
        unknown = UnknownName("function", name.upper(), self.functions())
        fix = (
            f"did you mean {' or '.join(unknown.near)}?"
            if unknown.near
            else "the functions that there are stand in docs/sql.md"
        )
        return f"{name.upper()} is not among the functions that mean the same on every engine", fix


def run(node: Node, *keys: str) -> list[Node]:
    """Return the operands of a run such as a AND b AND c, from left to right, without going down one by one."""
    found = []
    while node.key in keys:
        found.append(node)
        node = node.this
    return [node, *reversed(found)]


def joined(word: str, parts: list[Expression]) -> Expression:
    """Join booleans by and, or: from the left as Python does, by halves where they are many."""
    return _folded(parts, lambda one, two: Logic(word, (one, two)))  # type: ignore[arg-type]


def added(parts: list[Expression]) -> Expression:
    """Add numbers up: from the left as Python does, by halves where they are many."""
    return _folded(parts, lambda one, two: Arithmetic("+", one, two))


def _folded(parts: list[Expression], join: Callable[[Expression, Expression], Expression]) -> Expression:
    if len(parts) <= LONGEST_RUN:
        made = parts[0]
        for part in parts[1:]:
            made = join(made, part)
        return made
    while len(parts) > 1:
        pairs = [join(one, two) for one, two in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def constant(made: Expression) -> bool:
    """Say whether an expression is a constant."""
    return isinstance(made, Literal)


def _column(rows: Rows, node: Node) -> Expression:
    if node.this.key == "star":
        raise rows.refused(node, "* stands for rows, and rows are never shown", "name the columns")
    return Name(rows.scope.column(node, rows.source))


def _literal(rows: Rows, node: Node) -> Expression:
    if node.is_string:
        return Literal(node.name)
    value = exact(node.name)
    if value is None:
        raise rows.refused(node, "this is not a number of at most a hundred digits", "write it in digits, as in 1e-9")
    return Literal(value)


def _boolean(_rows: Rows, node: Node) -> Expression:
    return Literal(bool(node.this))


def day(rows: Rows, node: Node) -> Expression:
    """Return the constant of DATE '2024-02-29'."""
    try:
        return Literal(dt.date.fromisoformat(node.name))
    except ValueError as error:
        raise rows.refused(node, "this is not a day", "write DATE '2024-02-29'") from error


RULES: dict[str, Rule] = {"column": _column, "literal": _literal, "boolean": _boolean}
