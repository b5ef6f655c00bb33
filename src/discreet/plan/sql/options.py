"""Options: BigQuery's clause of differential privacy and its bounds in aggregates, read from tokens before parsing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.plan.sql.refusals import Span, SqlRefused
from discreet.plan.sql.source import exact

if TYPE_CHECKING:
    from sqlglot import Token

_CLAUSE = ("WITH", "DIFFERENTIAL_PRIVACY")
_NUMBERS = ("epsilon", "delta", "max_groups_contributed", "max_rows_contributed")
_TRUTHS = ("sampling",)
_NAMES = (*_NUMBERS, "privacy_unit_column", *_TRUTHS)
_BOUNDS = ("contribution_bounds_per_group", "contribution_bounds_per_row")


@dataclass(frozen=True, slots=True)
class Given:
    """One option: its value as it was written, exactly, and where."""

    value: Fraction | str | bool
    span: Span


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the values inside an aggregate are clipped to."""

    low: Fraction
    high: Fraction
    span: Span


@dataclass(frozen=True, slots=True)
class Options:
    """What the clause said, by name; the bounds by where the name of their aggregate begins."""

    given: Mapping[str, Given] = field(default_factory=dict)
    bounds: Mapping[int, Bounds] = field(default_factory=dict)


def taken_out(text: str, tokens: Sequence[Token]) -> tuple[str, Options]:
    """Return the text with spaces in place of what BigQuery added to SQL, and what that said."""
    reader = _Reader(text, tokens)
    given: dict[str, Given] = {}
    bounds: dict[int, Bounds] = {}
    cut: list[Span] = []
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.token_type.name == "L_PAREN":
            opened.append(place)
        elif token.token_type.name == "R_PAREN" and opened:
            opened.pop()
        elif reader.words(place, *_CLAUSE) and reader.words(place - 1, "SELECT"):
            if opened or given:
                raise reader.refused(place, "only the outermost SELECT is answered with noise", "move the clause there")
            given, end = reader.clause(place)
            cut.append((token.start, tokens[end].end + 1))
        elif token.text.lower() in _BOUNDS and reader.is_at(place + 1, "FARROW") and opened and opened[-1] > 0:
            found, end = reader.pair(place)
            begin = place - 1 if reader.is_at(place - 1, "COMMA") else place
            cut.append((tokens[begin].start, tokens[end].end + 1))
            at = tokens[opened[-1] - 1].start
            if at in bounds:
                raise reader.refused(place, "an aggregate is bounded once", "leave one of them out")
            bounds[at] = found
    clean = text
    for start, end in cut:
        clean = clean[:start] + " " * (end - start) + clean[end:]
    return clean, Options(given, bounds)


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str
    tokens: Sequence[Token]

    def refused(self, place: int, why: str, fix: str) -> SqlRefused:
        """Return the refusal of one token."""
        token = self.tokens[min(place, len(self.tokens) - 1)]
        return SqlRefused(self.text, (token.start, token.end + 1), why=why, fix=fix)

    def words(self, place: int, *words: str) -> bool:
        """Say whether these words stand here, one behind the other."""
        found = [token.text.upper() for token in self.tokens[max(place, 0) : place + len(words)]]
        return place >= 0 and found == list(words)

    def is_at(self, place: int, kind: str) -> bool:
        """Say whether a token of some kind stands here."""
        return 0 <= place < len(self.tokens) and self.tokens[place].token_type.name == kind

    def clause(self, place: int) -> tuple[dict[str, Given], int]:
        """Read OPTIONS(name = value, ...) behind the clause, and return where it ends."""
        fix = "write OPTIONS(epsilon = 1, delta = 1e-9, privacy_unit_column = id) behind it, or pass epsilon= instead"
        at = place + len(_CLAUSE)
        if not self.words(at, "OPTIONS") or not self.is_at(at + 1, "L_PAREN"):
            raise self.refused(place + 1, "the clause has its options in brackets", fix)
        at += 2
        found: dict[str, Given] = {}
        while not self.is_at(at, "R_PAREN"):
            name = self.tokens[at].text.lower() if at < len(self.tokens) else ""
            if name not in _NAMES or name in found or not self.is_at(at + 1, "EQ"):
                names = ", ".join(_NAMES)
                raise self.refused(at, f"the options are {names}, each once, as in epsilon = 1", fix)
            begin = self.tokens[at].start
            read = self.number if name in _NUMBERS else self.truth if name in _TRUTHS else self.name
            value, at = read(at + 2)
            found[name] = Given(value, (begin, self.tokens[at - 1].end + 1))
            if self.is_at(at, "COMMA"):
                at += 1
            elif not self.is_at(at, "R_PAREN"):
                raise self.refused(at, "options are separated by commas", fix)
        return found, at

    def pair(self, place: int) -> tuple[Bounds, int]:
        """Read name => (low, high), and return where it ends."""
        fix = "write contribution_bounds_per_row => (0, 100)"
        if not self.is_at(place + 2, "L_PAREN"):
            raise self.refused(place, "bounds are two numbers in brackets", fix)
        low, at = self.number(place + 3)
        if not self.is_at(at, "COMMA"):
            raise self.refused(place, "bounds are two numbers in brackets", fix)
        high, at = self.number(at + 1)
        if not self.is_at(at, "R_PAREN") or low > high:
            raise self.refused(place, "bounds are two numbers in brackets, the smaller first", fix)
        return Bounds(low, high, (self.tokens[place].start, self.tokens[at].end + 1)), at

    def number(self, at: int) -> tuple[Fraction, int]:
        """Read one number, and return the place behind it."""
        sign = -1 if self.is_at(at, "DASH") else 1
        at += 1 if sign < 0 else 0
        value = exact(self.tokens[at].text) if self.is_at(at, "NUMBER") else None
        if value is None:
            raise self.refused(at, "a number is expected here", "write it in digits, as in 0.5 or 1e-9")
        return sign * value, at + 1

    def truth(self, at: int) -> tuple[bool, int]:
        """Read true or false, and return the place behind it."""
        word = self.tokens[at].text.lower() if at < len(self.tokens) else ""
        if word not in ("true", "false"):
            raise self.refused(at, "true or false is expected here", "write sampling = true")
        return word == "true", at + 1

    def name(self, at: int) -> tuple[str, int]:
        """Read the name of a column, and return the place behind it."""
        if at >= len(self.tokens) or not (self.is_at(at, "VAR") or self.is_at(at, "IDENTIFIER")):
            raise self.refused(at, "the name of a column is expected here", "write privacy_unit_column = id")
        return self.tokens[at].text, at + 1
