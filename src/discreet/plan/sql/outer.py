"""The outermost SELECT: arithmetic on aggregates, HAVING and ORDER BY, which are done to the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.core.value import dataclass
from discreet.plan.expressions import Expression, Literal
from discreet.plan.sql.aggregates import Measures
from discreet.plan.sql.formula import (
    Clipped,
    Computed,
    Constant,
    Formula,
    KeyOf,
    Kinds,
    Measured,
    RoundedFormula,
    Tested,
    kind_of,
)
from discreet.plan.sql.refusals import is_aggregate
from discreet.plan.sql.rows import LONGEST_RUN, Rows, run
from discreet.plan.sql.scope import identifier

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_TESTS = {"eq": "==", "neq": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}


@dataclass(frozen=True, slots=True)
class Outer:
    """Reads formulas over the keys and aggregates of a question; `aliases` are columns named before."""

    rows: Rows
    measures: Measures
    keys: Mapping[str, Expression]
    kinds: Kinds
    aliases: dict[str, Formula] = field(default_factory=dict)

    def read(self, node: Node) -> Formula:
        """Return the formula that a node means, or refuse it."""
        if is_aggregate(node):
            return Measured(self.measures.name(node))
        key = self.key(node)
        if key is not None:
            return KeyOf(key)
        rule = _RULES.get(node.key)
        if rule is not None:
            return self._checked(rule(self, node), node)
        if not self.rows.knows(node):
            self.rows.read(node)  # what is unknown everywhere says so
        why = "of aggregates only sums, products, quotients, comparisons and rounding are made"
        raise self.rows.refused(node, why, "compute it from the answer")

    def _checked(self, made: Formula, node: Node) -> Formula:
        if kind_of(made, self.kinds) is None:
            why = "numbers, texts, days and booleans go with their own kind, and keys are not computed with"
            raise self.rows.refused(node, why, "compare numbers with numbers, and days with DATE '2024-02-29'")
        return made

    def key(self, node: Node) -> str | None:
        """Return the key that a node is: one without aggregates, written like an item of GROUP BY."""
        if not self.keys or node.key in ("literal", "null", "boolean") or has_aggregate(node):
            return None
        try:
            made = self.rows.read(node)
        except Refusal:
            return None
        return next((name for name, known in self.keys.items() if known.same_as(made)), None)

    def alias(self, node: Node) -> Formula | None:
        """Return the column of the SELECT that a bare name means."""
        if node.key != "column" or node.args.get("table") is not None:
            return None
        name, quoted = identifier(node.this)
        found = [
            made
            for known, made in self.aliases.items()
            if known == name or (not quoted and known.lower() == name.lower())
        ]
        return found[0] if found else None

    def raw(self, node: Node) -> Refusal:
        """Return the refusal of a name that is neither grouped nor aggregated."""
        named = self.alias(node)
        if named is None:
            column = self.rows.scope.column(node, self.rows.source)
            rows = "belongs to single rows, which are never shown"
            why = f"{column!r} {'is neither grouped nor aggregated' if self.keys else rows}"
            written = self.rows.source.written(node)
            return self.rows.refused(node, why, f"GROUP BY {written}, or aggregate it, as in COUNT({written})")
        return self.rows.refused(
            node, "a name of this SELECT stands for a column of the answer", "repeat the expression"
        )

    def number(self, node: Node) -> Fraction:
        """Return a constant number."""
        made = self.rows.read(node)
        if isinstance(made, Literal) and isinstance(made.value, Fraction):
            return made.value
        raise self.rows.refused(node, "a number is expected here", "write a constant")


def has_aggregate(node: Node) -> bool:
    """Say whether there is an aggregate in a part of the tree."""
    return any(is_aggregate(each) for each in node.walk())


def _constant(outer: Outer, node: Node) -> Formula:
    made = outer.rows.read(node)
    if not isinstance(made, Literal):
        raise outer.rows.refused(node, "this is not a constant", "group by it, or aggregate it")
    return Constant(made.value)


def _named(outer: Outer, node: Node) -> Formula:
    found = outer.alias(node)
    if found is None:
        raise outer.raw(node)
    return found


def _operands(outer: Outer, node: Node, *keys: str) -> list[Node]:
    found = run(node, *keys)
    if len(found) > LONGEST_RUN:
        why = f"of an answer at most {LONGEST_RUN} columns are joined by one sign"
        raise outer.rows.refused(node, why, "compute it from the answer")
    return found


def _chain(outer: Outer, node: Node) -> Formula:
    first, *others = _operands(outer, node, *(("add", "sub") if node.key in ("add", "sub") else (node.key,)))
    made = outer.read(first)
    for each in others:
        made = Computed(_SIGNS[each.key], (made, outer.read(each.expression)))  # type: ignore[arg-type]
    return made


def _connected(outer: Outer, node: Node) -> Formula:
    first, *others = _operands(outer, node, node.key)
    return Tested(node.key, (outer.read(first), *(outer.read(each.expression) for each in others)))  # type: ignore[arg-type]


def _inner(outer: Outer, node: Node) -> Formula:
    return outer.read(node.this)


def _negative(outer: Outer, node: Node) -> Formula:
    if node.this.key == "literal":
        return Constant(-outer.number(node.this))
    return Computed("negative", (outer.read(node.this),))


def _absolute(outer: Outer, node: Node) -> Formula:
    return Computed("absolute", (outer.read(node.this),))


def _root(outer: Outer, node: Node) -> Formula:
    return Computed("root", (outer.read(node.this),))


def _null_if(outer: Outer, node: Node) -> Formula:
    return Computed("null_if", (outer.read(node.this), Constant(outer.number(node.expression))))


def _rounded(outer: Outer, node: Node) -> Formula:
    outer.rows.only(node, "this", "decimals")
    places = outer.number(node.args["decimals"]) if node.args.get("decimals") is not None else Fraction(0)
    if places.denominator != 1 or abs(places) > 20:
        raise outer.rows.refused(node, "the places to round to are an integer from -20 to 20", "write ROUND(x, 2)")
    return RoundedFormula(outer.read(node.this), int(places))


def _clipped(outer: Outer, node: Node) -> Formula:
    """Read LEAST and GREATEST of an aggregate and a constant."""
    parts = [node.this, *node.expressions]
    numbers = [each for each in parts if not has_aggregate(each)]
    if len(parts) != 2 or len(numbers) != 1:
        raise outer.rows.refused(node, "an aggregate is cut off at a constant", "write GREATEST(COUNT(*), 0)")
    of = outer.read(next(each for each in parts if each is not numbers[0]))
    bound = outer.number(numbers[0])
    return Clipped(of, None, bound) if node.key == "least" else Clipped(of, bound, None)


def _compared(outer: Outer, node: Node) -> Formula:
    return Tested(_TESTS[node.key], (outer.read(node.this), outer.read(node.expression)))  # type: ignore[arg-type]


def _between(outer: Outer, node: Node) -> Formula:
    outer.rows.only(node, "this", "low", "high")
    of = outer.read(node.this)
    low, high = outer.read(node.args["low"]), outer.read(node.args["high"])
    return Tested("and", (Tested(">=", (of, low)), Tested("<=", (of, high))))


def _is(outer: Outer, node: Node) -> Formula:
    if node.expression.key != "null":
        raise outer.rows.refused(node, "IS asks for NULL here", "write = to compare")
    return Tested("is_null", (outer.read(node.this),))


def _in(outer: Outer, node: Node) -> Formula:
    outer.rows.only(node, "this", "expressions")
    return Tested("is_in", (outer.read(node.this), *(outer.read(each) for each in node.expressions)))


def _not(outer: Outer, node: Node) -> Formula:
    return Tested("not", (outer.read(node.this),))


def _day(outer: Outer, node: Node) -> Formula:
    if has_aggregate(node):
        raise outer.rows.refused(node, "an aggregate is a number already", "leave the CAST out, or write ROUND")
    return _constant(outer, node)


_RULES: dict[str, Callable[[Outer, Node], Formula]] = {
    **dict.fromkeys(_SIGNS, _chain),
    **dict.fromkeys(_TESTS, _compared),
    **dict.fromkeys(("and", "or"), _connected),
    **dict.fromkeys(("literal", "boolean"), _constant),
    **dict.fromkeys(("least", "greatest"), _clipped),
    "column": _named,
    "paren": _inner,
    "neg": _negative,
    "abs": _absolute,
    "sqrt": _root,
    "nullif": _null_if,
    "round": _rounded,
    "between": _between,
    "is": _is,
    "in": _in,
    "not": _not,
    "cast": _day,
}
