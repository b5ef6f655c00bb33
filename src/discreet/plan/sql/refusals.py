"""Refusals of SQL: what was refused, underlined in its line, why, and a rewrite."""

from __future__ import annotations

import unicodedata

from discreet.core.errors import Refusal

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
