"""Calls: the words of the functions in `plan/functions`, which SQL calls as expressions do."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from discreet.plan.expressions import Expression, Literal
from discreet.plan.function import FUNCTIONS, function
from discreet.plan.sql.rows import Rows, Rule

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

# The parser's own name for a call of what it does not know.
UNKNOWN = "anonymous"


@cache
def words() -> dict[str, str]:
    """Return each word of SQL with the function that it calls."""
    return {word: name for name in FUNCTIONS for word in function(name).words}


@cache
def parts() -> dict[str, str]:
    """Return each part of a date that EXTRACT knows with the function that it is."""
    return {part: name for name in FUNCTIONS for part in function(name).parts}


@cache
def rules() -> dict[str, Rule]:
    """Return a rule for each kind of node that the parser makes of a word."""
    from sqlglot import expressions

    known = {word: expressions.FUNCTION_BY_NAME.get(word) for word in words()}
    read: dict[str, Rule] = {kind.key: _rule(words()[word], word) for word, kind in known.items() if kind is not None}
    return {**read, UNKNOWN: _unknown}


def _rule(name: str, word: str) -> Rule:
    """Read the arguments in the order in which SQL has them."""

    def rule(rows: Rows, node: Node) -> Expression:
        names = list(node.arg_types)
        given = [node.args[each] for each in names if node.args.get(each) not in (None, False, [], ())]
        return _called(
            rows, node, name, word, [each for one in given for each in (one if isinstance(one, list) else [one])]
        )

    return rule


def _unknown(rows: Rows, node: Node) -> Expression:
    word = node.name.upper()
    if word not in words():
        raise rows.unknown(node)
    return _called(rows, node, words()[word], word, node.expressions)


def _called(rows: Rows, node: Node, name: str, word: str, given: list[Node]) -> Expression:
    found = function(name)
    most = None if found.most is None else found.most + len(found.parameters)
    if len(given) < found.least + len(found.parameters) or (most is not None and len(given) > most):
        count = found.least + len(found.parameters)
        raise rows.refused(node, f"{word} takes {count} argument{'s' * (count != 1)}", f"see {word} in docs/sql.md")
    made = [rows.read(each) for each in given]
    split = len(made) - len(found.parameters)
    for each, argument in zip(made[split:], given[split:], strict=True):
        if not isinstance(each, Literal):
            raise rows.refused(argument, f"{word} takes a constant here", "write it as a number or in quotes")
    return found.call(name, tuple(made))
