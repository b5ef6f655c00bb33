"""Source: the text of a question with its tokens, and where in it each part of the parsed tree stands."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.errors import Refusal
from discreet.core.value import dataclass
from discreet.plan.sql.refusals import Span, SqlRefused, in_sql

if TYPE_CHECKING:
    from sqlglot import Token
    from sqlglot.expressions import Expr as Node

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,3}))?")
_DIGITS = 100


def exact(text: str) -> Fraction | None:
    """Return a number exactly as it is written; None for what is none, or for one of more than a hundred digits."""
    # Fraction("1e999999999") would spell out all of its digits.
    if len(text) > _DIGITS or not text.isascii() or _NUMBER.fullmatch(text) is None:
        return None
    return Fraction(text)


# What stands for a node that has no leaf of its own.
_KEYWORDS: dict[str, str | tuple[str, ...]] = {
    "star": "*",
    "null": "NULL",
    "placeholder": "?",
    "boolean": ("TRUE", "FALSE"),
    "exists": "EXISTS",
    "currentdate": "CURRENT_DATE",
    "currenttimestamp": "CURRENT_TIMESTAMP",
    "lateral": "LATERAL",
    "pivot": "PIVOT",
}
_OPENED = frozenset({"cast", "trycast", "extract"})  # written as a call, but known by their arguments alone


@dataclass(frozen=True, slots=True)
class SqlText:
    """A question as it was written; `clean` is the text without BigQuery's clauses, character for character."""

    text: str
    clean: str
    tokens: tuple[Token, ...]
    _starts: list[int] = field(init=False, repr=False)
    _partners: Mapping[int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_starts", [token.start for token in self.tokens])
        object.__setattr__(self, "_partners", _partners(self.tokens))

    def refused(self, at: Node | Span, why: str, fix: str) -> SqlRefused:
        """Return the refusal of a part of the question."""
        span = at if isinstance(at, tuple) else self.span(at)
        return SqlRefused(self.text, span, why=why, fix=fix)

    def translated(self, at: Node | Span, refusal: Refusal) -> SqlRefused:
        """Return a refusal of the plan's as one of this part of the question, in the words of SQL."""
        if isinstance(refusal, SqlRefused):
            return refusal
        return self.refused(at, in_sql(refusal.why), in_sql(refusal.fix))

    def written(self, node: Node) -> str:
        """Return the text of a part."""
        start, end = self.span(node)
        return self.clean[start:end]

    def keyword(self, word: str, within: Span | None = None) -> Span:
        """Return where a keyword stands, the first of it within a span; all of the span if it is not there."""
        start, end = within or (0, len(self.text))
        for token in self.tokens[bisect_left(self._starts, start) :]:
            if token.start >= end:
                break
            if f"{token.text.upper()} ".startswith(f"{word} "):  # GROUP BY and ORDER BY are one token each
                return token.start, token.end + 1
        return start, end

    def span(self, node: Node) -> Span:
        """Return where a part of the tree stands: from its first leaf to its last, with the brackets they open."""
        places = [each.meta for each in node.walk() if "start" in each.meta]
        if not places:
            return self._of_keyword(node)
        start, end = min(each["start"] for each in places), max(each["end"] for each in places)
        first, last = bisect_right(self._starts, start) - 1, bisect_right(self._starts, end) - 1
        if "start" in node.meta and self._is(last + 1, "("):
            last = self._partners.get(last + 1, last)
        first, last = self._balanced(max(first, 0), last)
        last = max(last, *(self._behind(each, last) for each in node.walk()))
        if node.key in _OPENED and self._is(first - 1, "("):
            first, last = first - 2, self._partners.get(first - 1, last)
        if node.key == "case":
            first, last = self._back_to(first, "CASE"), self._on_to(last, "END")
        if node.key in ("not", "neg") and first > 0:
            first -= 1
        if node.key in ("select", "subquery", "exists"):
            first = self._back_to(first, "EXISTS" if node.key == "exists" else "SELECT")
        if node.key == "subquery" and self._is(first - 1, "("):
            first, last = first - 1, self._partners.get(first - 1, last)
        if node.key == "window" and self._is(last + 2, "("):
            last = self._partners.get(last + 2, last)
        return self.tokens[max(first, 0)].start, self.tokens[min(last, len(self.tokens) - 1)].end + 1

    def _of_keyword(self, node: Node) -> Span:
        words = _KEYWORDS.get(node.key, node.key)
        start = self.span(node.parent)[0] if node.parent is not None else 0
        for word in (words,) if isinstance(words, str) else words:
            found = self.keyword(word, (start, len(self.text)))
            if found != (start, len(self.text)):
                return found
        return self.span(node.parent) if node.parent is not None else (0, len(self.text))

    def _behind(self, node: Node, last: int) -> int:
        """Return the place of a keyword that ends a run of tokens, as NULL does in age = NULL."""
        words = _KEYWORDS.get(node.key, ())
        if node.key == "star" or "start" in node.meta or not words:
            return last
        listed = (words,) if isinstance(words, str) else words
        near = range(last + 1, min(last + 4, len(self.tokens)))
        return next((place for place in near if self.tokens[place].text.upper() in listed), last)

    def _balanced(self, first: int, last: int) -> Span:
        """Widen a run of tokens until every bracket in it has its partner in it."""
        while True:
            partners = [self._partners.get(at, at) for at in range(first, min(last, len(self.tokens) - 1) + 1)]
            wider = min([first, *partners]), max([last, *partners])
            if wider == (first, last):
                return first, last
            first, last = wider

    def _is(self, at: int, text: str) -> bool:
        return 0 <= at < len(self.tokens) and self.tokens[at].text == text

    def _back_to(self, at: int, word: str) -> int:
        found = (place for place in range(at, -1, -1) if self.tokens[place].text.upper() == word)
        return next(found, at)

    def _on_to(self, at: int, word: str) -> int:
        found = (place for place in range(at, len(self.tokens)) if self.tokens[place].text.upper() == word)
        return next(found, at)


def _partners(tokens: tuple[Token, ...]) -> dict[int, int]:
    """Return for every bracket the place of the one that closes or opens it."""
    found, opened = {}, []
    for place, token in enumerate(tokens):
        if token.text == "(" and token.token_type.name == "L_PAREN":
            opened.append(place)
        elif token.text == ")" and token.token_type.name == "R_PAREN" and opened:
            other = opened.pop()
            found[place], found[other] = other, place
    return found
