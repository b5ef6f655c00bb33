"""Patterns: LIKE and ILIKE, matched against the declared keys, so an engine sees a plain list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from discreet.plan.expressions import Compare, Expression
from discreet.plan.sql.rows import Rows, Rule

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node


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
    if column.kind == "text":
        why = "patterns are matched against declared keys, and this column has none"
        fix = "write LIKE 'abc%', which asks for a beginning, or have its custodian declare it with one_of"
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


RULES: dict[str, Rule] = {"like": _like, "ilike": _like, "escape": _escape}
