"""Refusals of SQL: what was refused, underlined in its line, why, and a rewrite."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.plan.aggregates import AGGREGATES, Aggregate

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Node

# Longer phrases first, since each is replaced wherever it stands.
_PHRASES = (
    ("name parts of it with derive() and use the names", "name parts of it in a subquery and use the names"),
    (
        "convert with as_number() where the keys are integers or flags, else",
        "use CAST(x AS INTEGER) for flags, or",
    ),
    ("compare it with something, for example == or >=", "compare it with something, as in age >= 18"),
    ("compare columns with ==, joined by |", "compare columns with =, joined by OR"),
    ("use == or !=, is_in() or as_number()", "use = or <>, or IN"),
    ("write when(x == 'A', 1).otherwise(0)", "write CASE WHEN x = 'A' THEN 1 ELSE 0 END"),
    ("use is_null(), or leave otherwise() out", "write IS NULL"),
    ("narrow what goes in with clip(low, high), or coarsen it with round(step)", "narrow it with LEAST and GREATEST"),
    ("such as round(10) of it, a year or a month, or give keys=", "such as FLOOR(x / 10) or a year, or pass keys="),
    ("convert it with as_number()", "write CAST(x AS INTEGER)"),
    ("convert with as_number()", "write CAST(x AS INTEGER)"),
    ("round it with round(1)", "write ROUND(x)"),
    ("can be joined by &, | and ~", "can be joined by AND, OR and NOT"),
    ("use fill_null to give it a name", "use COALESCE to give it a name"),
    ("or when() to make one", "or CASE to make one"),
    (" or as datetime.date", ""),
    ("as_number", "CAST"),
    ("fill_null", "COALESCE"),
    ("is_in()", "IN"),
)


def in_sql(text: str) -> str:
    """Return a sentence about the Python verbs in the words of SQL."""
    for python, sql in _PHRASES:
        text = text.replace(python, sql)
    return text


def label(text: str) -> str:
    """Return the name of a column without an alias: its SQL in small letters, words joined by _ (`avg_cost`)."""
    return re.sub(r"\W+", "_", text.lower()).strip("_")[:60].strip("_") or "value"


def unused(name: str, taken: set[str]) -> str:
    """Return a name that is not taken yet, with a number behind it where it must be; case alone tells none apart."""
    number, found = 1, name
    while found.lower() in taken:
        number += 1
        found = f"{name}_{number}"
    return found


Span = tuple[int, int]

_MARGIN = "    "
_WIDTH = 100  # of the line that is shown; longer ones are cut around the span


class SqlRefused(Refusal):
    """SQL that is not answered: `span` is where it stands in `text` (start, and one past the end), `value` what stands.

    It depends on the question and on what was declared, never on a record.
    """

    def __init__(self, text: str, span: Span, *, why: str, fix: str) -> None:
        start, end = max(0, min(span[0], len(text))), max(0, min(span[1], len(text)))
        super().__init__(excerpt(text, (start, end)), why=why, fix=fix, value=text[start:end])
        self.text = text
        self.span = (start, end)

    def __str__(self) -> str:
        return f"{self.what}\n{self.why}. Fix: {self.fix}{'' if self.fix.endswith(('?', '...')) else '.'}"


def excerpt(text: str, span: Span) -> str:
    """Show the line in which a span begins, and underline as much of the span as is on it."""
    start, end = span
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    last = len(text) if last < 0 else last
    number, column = text.count("\n", 0, start) + 1, start - first + 1
    end = max(min(end, last), start + 1)
    left = max(first, min(start - _WIDTH // 2, last - _WIDTH)) if last - first > _WIDTH else first
    right = min(last, left + _WIDTH)
    before, after = "..." if left > first else "", "..." if right < last else ""
    indent = len(before) + _cells(text[left:start])
    under = max(1, _cells(text[start : min(end, right)]))
    line = f"{before}{_visible(text[left:right])}{after}"
    return f"SQL, line {number}, column {column}\n{_MARGIN}{line}\n{_MARGIN}{' ' * indent}{'^' * under}"


def _visible(text: str) -> str:
    """Replace what would move the cursor, so only the line is seen."""
    return "".join(" " if unicodedata.category(each) in ("Cc", "Cf", "Zl", "Zp") else each for each in text)


def _cells(text: str) -> int:
    """Count the columns of a terminal that a text fills."""
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )


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
