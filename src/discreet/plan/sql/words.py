"""Words: what the Python verbs call a thing, as SQL says it; and the names of columns that have no alias."""

from __future__ import annotations

import re

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
