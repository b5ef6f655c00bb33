"""Truth: comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL; LIKE and ILIKE become lists of the declared keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from discreet.plan.expressions import Call, Compare, Expression, Literal
from discreet.plan.sql.rows import Rows, Rule, joined, run

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


_ORDERS = {"eq": "==", "neq": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}


def _compare(rows: Rows, node: Node) -> Expression:
    for one, other in ((node.this, node.expression), (node.expression, node.this)):
        if other.key == "null":
            fix = f"write {rows.source.written(one)} IS {'NOT ' if node.key == 'neq' else ''}NULL"
            raise rows.refused(node, "nothing equals null, and nothing differs from it", fix)
    left, right = rows.read(node.this), rows.read(node.expression)
    return Compare(_ORDERS[node.key], left, right)  # type: ignore[arg-type]


def _run(rows: Rows, node: Node) -> Expression:
    first, *others = run(node, node.key)
    return joined(node.key, [rows.read(first), *(rows.read(each.expression) for each in others)])


def _not(rows: Rows, node: Node) -> Expression:
    return ~rows.read(node.this)


def _in(rows: Rows, node: Node) -> Expression:
    rows.only(node, "this", "expressions", "query")
    if node.args.get("query") is not None:
        why = "a subquery inside an expression would look at other rows than this one"
        raise rows.refused(node.args["query"], why, "list the values, or join a public table")
    listed = [rows.read(each) for each in node.expressions]
    for value, each in zip(listed, node.expressions, strict=True):
        if not isinstance(value, Literal):
            raise rows.refused(each, "IN lists constants", "compare columns with =, joined by OR")
    return rows.read(node.this).is_in(listed)


def _between(rows: Rows, node: Node) -> Expression:
    rows.only(node, "this", "low", "high")
    low, high = rows.source.span(node.args["low"]), rows.source.span(node.args["high"])
    if "AND" not in rows.source.clean[low[1] : high[0]].upper():  # which the parser does not miss
        raise rows.refused(node, "AND is missing between the bounds", "write age BETWEEN 18 AND 65")
    value = rows.read(node.this)
    return (value >= rows.read(node.args["low"])) & (value <= rows.read(node.args["high"]))


def _is(rows: Rows, node: Node) -> Expression:
    value, other = rows.read(node.this), node.expression
    if other.key == "null":
        return value.is_null()
    if other.key == "boolean":
        return (value if other.this else ~value).fill_null(False)
    raise rows.refused(node, "IS asks for NULL, TRUE or FALSE", "write = to compare")


def _paren(rows: Rows, node: Node) -> Expression:
    return rows.read(node.this)


def _like(rows: Rows, node: Node) -> Expression:
    return _matched(rows, node, node, None)


def _escape(rows: Rows, node: Node) -> Expression:
    """Read `x LIKE 'a!%' ESCAPE '!'`."""
    if node.this.key not in ("like", "ilike") or not node.expression.is_string or len(node.expression.name) != 1:
        raise rows.refused(node, "ESCAPE names one character, behind a LIKE", "write x LIKE '10!%' ESCAPE '!'")
    return _matched(rows, node, node.this, node.expression.name)


def _matched(rows: Rows, whole: Node, node: Node, escape: str | None) -> Expression:
    rows.only(node, "this", "expression", "negate")
    found = _found(rows, whole, node, escape)
    return ~found if node.args.get("negate") else found


def _found(rows: Rows, whole: Node, node: Node, escape: str | None) -> Expression:
    value, column = rows.typed(node.this)
    pattern = node.expression
    if not pattern.is_string:
        raise rows.refused(pattern, "a pattern is a text", "write it in quotes, as in LIKE 'A%'")
    parts = _parts(rows, pattern, escape)
    texts = [key for key in column.keys or () if isinstance(key, str)]
    if texts:
        found = [key for key in texts if matches(parts, key, fold=node.key == "ilike")]
        # What no key matches is false for all of them, and null where there is none.
        return value.is_in(found) if found else Compare("!=", value, value)
    prefix = "".join(part for part in parts if isinstance(part, str))
    if column.kind == "text" and node.key == "like" and all(isinstance(part, str) for part in parts):
        return value == prefix
    if column.kind == "text" and node.key == "like" and parts == [prefix, ANY]:
        return value.starts_with(prefix)
    from discreet.plan.functions.like import MOST_PIECES, SPECIAL

    texts = [part for part in parts if isinstance(part, str)]
    plain = ONE not in parts and len(texts) <= MOST_PIECES and not any(each in prefix for each in f"%{SPECIAL}")
    if column.kind == "text" and node.key == "like" and plain:
        return Call("like", (value,), ("".join(part if isinstance(part, str) else "%" for part in parts),))
    if column.kind == "text":
        why = "of texts without declared keys engines match alike only LIKE with texts and %"
        fix = "write LIKE '%abc%', or have its custodian declare the column with one_of"
        raise rows.refused(whole, why, fix)
    raise rows.refused(whole, f"this is a {column.kind}, and patterns match texts", "compare it with = or IN")


class _Wild:
    """A wildcard: any characters, or exactly one."""


ANY, ONE = _Wild(), _Wild()
Parts = list["str | _Wild"]


def _parts(rows: Rows, pattern: Node, escape: str | None) -> Parts:
    """Take a pattern apart into texts and wildcards."""
    parts: Parts = []
    letters = iter(pattern.name)
    for letter in letters:
        found: str | _Wild = ANY if letter == "%" else ONE if letter == "_" else letter
        if letter == escape:
            following = next(letters, None)
            if following is None:
                raise rows.refused(
                    pattern, "nothing follows the character that escapes", "write it twice to mean itself"
                )
            found = following
        if isinstance(found, str) and parts and isinstance(parts[-1], str):
            parts[-1] += found
        elif not (found is ANY and parts and parts[-1] is ANY):
            parts.append(found)
    return parts


def matches(parts: Parts, text: str, *, fold: bool) -> bool:
    """Say whether a text matches; `fold` takes A to Z for a to z, and no other letters for each other."""
    texts = [_folded(part) if fold and isinstance(part, str) else part for part in parts]
    if fold:
        text = _folded(text)
    # Positions that the parts so far can end at: as many as the text has letters, so no pattern takes long.
    ends = {0}
    for part in texts:
        if part is ANY:
            ends = set(range(min(ends), len(text) + 1)) if ends else ends
        elif part is ONE:
            ends = {end + 1 for end in ends if end < len(text)}
        else:
            assert isinstance(part, str)
            ends = {end + len(part) for end in ends if text.startswith(part, end)}
    return len(text) in ends


def _folded(text: str) -> str:
    return re.sub("[A-Z]", lambda found: found[0].lower(), text)


RULES: dict[str, Rule] = {
    **dict.fromkeys(_ORDERS, _compare),
    "and": _run,
    "or": _run,
    "not": _not,
    "in": _in,
    "between": _between,
    "is": _is,
    "paren": _paren,
    "like": _like,
    "ilike": _like,
    "escape": _escape,
}
