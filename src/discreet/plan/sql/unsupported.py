"""What SQL has and Discreet does not: why, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.plan.aggregates import AGGREGATES, Aggregate

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

_NESTED = (
    "an aggregate of aggregates has no bound that is known in advance",
    "ask for the inner one, and compute the rest from its answer",
)
_CORRELATED = (
    "a subquery inside an expression would look at other rows than this one",
    "write it as a condition of this row, or join a public table",
)
_NOW = ("it would be another question every day", "write the day, as in DATE '2024-02-29'")
_PARAMETER = ("a question has no parameters, since it is kept as it was asked", "write the value in its place")
_TEXT = (
    "texts are compared as they are: engines differ in how they change them",
    "compare with = or IN, or group by the column and combine the groups in the answer",
)
_CASE_OF_LETTERS = (
    "engines differ in how they fold letters",
    "write ILIKE, which folds A to Z, or list both spellings with IN",
)

REASONS: dict[str, tuple[str, str]] = {
    "window": (
        "a window looks at other people's rows, of which nobody knows how many there are",
        "group, and rank the answer: GROUP BY ... ORDER BY ...",
    ),
    "subquery": _CORRELATED,
    "select": _CORRELATED,
    "exists": _CORRELATED,
    "any": _CORRELATED,
    "all": _CORRELATED,
    "placeholder": _PARAMETER,
    "parameter": _PARAMETER,
    "sessionparameter": _PARAMETER,
    "currentdate": _NOW,
    "currenttimestamp": _NOW,
    "currenttime": _NOW,
    "rand": ("an answer is drawn once, by its mechanism", "leave it out"),
    "star": ("* stands for rows, and rows are never shown", "name aggregates: COUNT(*), AVG(cost)"),
    "lower": _CASE_OF_LETTERS,
    "upper": _CASE_OF_LETTERS,
    "dpipe": _TEXT,
    "concat": _TEXT,
    "substring": _TEXT,
    "left": _TEXT,
    "right": _TEXT,
    "trim": _TEXT,
    "replace": _TEXT,
    "regexplike": _TEXT,
    "datetrunc": (
        "a truncated date is still a date, so all dates would be groups",
        "group by EXTRACT(YEAR FROM day), EXTRACT(MONTH FROM day)",
    ),
    "timestamptrunc": ("days have no times", "group by EXTRACT(YEAR FROM day), EXTRACT(MONTH FROM day)"),
    "mod": (
        "what is left of a division is not among the functions that mean the same on every engine",
        "write x - 10 * FLOOR(x / 10)",
    ),
    "intdiv": ("engines differ in how they divide negative numbers", "write FLOOR(x / 10)"),
    "nullsafeeq": ("null is compared with IS NULL alone", "write a = b OR (a IS NULL AND b IS NULL)"),
    "nullsafeneq": ("null is compared with IS NULL alone", "write a <> b OR a IS NULL OR b IS NULL"),
    "null": ("null equals nothing, and has no type of its own", "write IS NULL, or leave ELSE out"),
    "tuple": ("several values at once are compared one by one", "write a = 1 AND b = 2"),
    "interval": ("an interval is added to a day", "write day + INTERVAL '7' DAY"),
    "distinct": (
        "DISTINCT counts people, and nothing else",
        "write COUNT(DISTINCT id), with the identifier column",
    ),
    "order": ("the order of rows changes no aggregate", "leave ORDER BY out here"),
    "ignorenulls": ("nulls are always left out", "leave it out"),
    "collate": _TEXT,
    "attimezone": ("days have no times", "leave it out"),
}
# Aggregates beyond those that say in `sql` which functions mean them.
_FORMS = frozenset(
    {"count", "countif", "median", "quantile", "approxquantile", "percentilecont", "percentiledisc"}
    | {"stddevsamp", "covarsamp", "withingroup", "filter"}
)


def meant(node: Node) -> type[Aggregate] | None:
    """Return the aggregate that a function means by its name alone, if one says so."""
    word = node.name.lower() if node.key == "anonymous" else node.key
    return next((kind for kind in AGGREGATES.values() if word in kind.sql), None)


def is_aggregate(node: Node) -> bool:
    """Say whether a node is a call of an aggregate, whatever its arguments."""
    return node.key in _FORMS or meant(node) is not None


def reason(node: Node) -> tuple[str, str]:
    """Return why something is not understood, and what to write; two empty texts where only its name is unknown."""
    if is_aggregate(node):
        return _NESTED
    if node.key in REASONS:
        return REASONS[node.key]
    if hasattr(node, "sql_names") or node.key == "anonymous":
        return "", ""
    return (
        "this is not understood here",
        "write it with columns, numbers, comparisons, CASE and the functions of docs/sql.md",
    )
