"""Parsing: options are taken out, then one SELECT is read, within limits that are checked before anything recurses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.core.value import dataclass
from discreet.plan.sql.refusals import Span, SqlRefused
from discreet.plan.sql.source import SqlText, exact

if TYPE_CHECKING:
    from sqlglot import Token
    from sqlglot.expressions import Expr as Node


_CLAUSE = ("WITH", "DIFFERENTIAL_PRIVACY")
_NUMBERS = ("epsilon", "delta", "max_groups_contributed", "max_rows_contributed")
_TRUTHS = ("sampling",)
_EITHER = ("cut",)  # true, or a number
_NAMES = (*_NUMBERS, "privacy_unit_column", *_TRUTHS, *_EITHER)
_PER_GROUP = "contribution_bounds_per_group"
_BOUNDS = (_PER_GROUP, "contribution_bounds_per_row")


@dataclass(frozen=True, slots=True)
class Given:
    """One option: its value as it was written, exactly, and where."""

    value: Fraction | str | bool
    span: Span


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the values inside an aggregate, or each person's total of them, are clipped to."""

    low: Fraction
    high: Fraction
    span: Span
    is_of_person: bool  # whether it is the person's total in a group that is clipped, and not each value


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
            is_number = name in _NUMBERS or (name in _EITHER and self.is_at(at + 2, "NUMBER"))
            read = self.number if is_number else self.truth if name in (*_TRUTHS, *_EITHER) else self.name
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
        of_person = self.tokens[place].text.lower() == _PER_GROUP
        return Bounds(low, high, (self.tokens[place].start, self.tokens[at].end + 1), of_person), at

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


MOST_TEXT = 100_000
MOST_TOKENS = 10_000
MOST_NESTING = 30
MOST_DEPTH = 100

# Runs of one sign are read one after the other, so only their sum is long, not the way down.
_CHAINS = frozenset({"and", "or", "add", "sub", "mul", "union"})
_PREFIXES = frozenset({"NOT", "DASH", "PLUS", "TILDA", "TILDE"})
_BEGINNINGS = frozenset({"SELECT", "WITH", "L_PAREN"})
_CLAUSES = frozenset({"FROM", "WHERE", "GROUP_BY", "HAVING", "ORDER_BY", "LIMIT", "OFFSET"})
_OPENING = frozenset({"", "L_PAREN", "SELECT", "COMMA", "ALIAS", "AND", "OR"}) | _CLAUSES
_CLOSING = frozenset({"", "R_PAREN", "COMMA", "SEMICOLON"}) | _CLAUSES
_ONCE = frozenset({"SELECT", "ALIAS", "AND", "OR", "JOIN", "ON", "USING", "BETWEEN"}) | _CLAUSES
_STATEMENT_FIX = "ask with one SELECT: SELECT ward, COUNT(*) FROM visits GROUP BY ward"


def parsed(text: str) -> tuple[SqlText, Options, Node]:
    """Return the tree of a question, with its source and the options that BigQuery's clause gave.

    Guarantee: at most 100,000 characters, 10,000 words and 30 levels deep; what is larger is never parsed.
    """
    tokens = _tokens(text)
    _check_size(text, tokens)
    _check_commas(text, tokens)
    clean, options = taken_out(text, tokens)
    source = SqlText(text, clean, tuple(tokens))
    tree = _tree(source)
    _check_depth(source, tree)
    return source, options, tree


def _tokens(text: str) -> list[Token]:
    if not isinstance(text, str) or not text.strip():
        shown = text if isinstance(text, str) else ""
        raise SqlRefused(shown, (0, 1), why="there is no question", fix=_STATEMENT_FIX)
    if len(text) > MOST_TEXT:
        why = f"a question has at most {MOST_TEXT:,} characters, and this one has {len(text):,}"
        raise SqlRefused(
            text, (0, 1), why=why, fix="ask a smaller question, or join with session.sql(..., public=[...])"
        )
    from sqlglot import tokenize
    from sqlglot.errors import TokenError

    try:
        return tokenize(text)
    except TokenError as error:
        span = _unclosed(text)
        raise SqlRefused(
            text, span, why="a quote or a comment that begins here does not end", fix="close it"
        ) from error


def _unclosed(text: str) -> Span:
    """Return where a text stops being readable: its last quote, or its last comment."""
    place = max(text.rfind(mark) for mark in ("'", '"', "/*", "`"))
    return (max(place, 0), max(place, 0) + 1)


def _check_size(text: str, tokens: Sequence[Token]) -> None:
    """Refuse what is no single SELECT, or too long or too deep to be parsed in a moment."""
    first, last = tokens[0], tokens[-1]
    stop = next((token for token in tokens if token.token_type.name == "SEMICOLON"), None)
    if first.token_type.name not in _BEGINNINGS:
        why = f"{first.text.upper()} is not a question: tables are only read, through SELECT"
        raise SqlRefused(text, (first.start, first.end + 1), why=why, fix=_STATEMENT_FIX)
    if stop is not None and any(token.start > stop.start and token.text != ";" for token in tokens):
        why = "a question is one statement, and another begins behind this semicolon"
        raise SqlRefused(text, (stop.start, last.end + 1), why=why, fix="ask each statement by itself")
    if len(tokens) > MOST_TOKENS:
        token = tokens[MOST_TOKENS]
        why = f"a question has at most {MOST_TOKENS:,} words and signs, and this one has {len(tokens):,}"
        fix = "put long lists into a public table, and join it"
        raise SqlRefused(text, (token.start, token.end + 1), why=why, fix=fix)
    depth = run = 0
    for token in tokens:
        kind = token.token_type.name
        depth += (kind in ("L_PAREN", "L_BRACKET", "L_BRACE", "CASE")) - (
            kind in ("R_PAREN", "R_BRACKET", "R_BRACE", "END")
        )
        run = run + 1 if kind in _PREFIXES else 0
        if depth + run > MOST_NESTING:
            why = f"brackets, CASE, NOT and signs are at most {MOST_NESTING} deep"
            fix = "name the inner parts in WITH, and use the names"
            raise SqlRefused(text, (token.start, token.end + 1), why=why, fix=fix)


def _check_commas(text: str, tokens: Sequence[Token]) -> None:
    """Refuse what the parser would read over: commas and AS with nothing beside them, and words written twice."""
    kinds = [token.token_type.name for token in tokens]
    for place, token in enumerate(tokens):
        before, after = kinds[place - 1] if place else "", kinds[place + 1] if place + 1 < len(kinds) else ""
        alone = (kinds[place] == "COMMA" and (before in _OPENING or after in _CLOSING)) or (
            kinds[place] == "ALIAS" and after in _CLOSING
        )
        if alone or (kinds[place] in _ONCE and before == kinds[place]):
            why = "something is missing beside this, or it is one too many"
            raise SqlRefused(text, (token.start, token.end + 1), why=why, fix="complete it, or take it out")


def _tree(source: SqlText) -> Node:
    from sqlglot import parse
    from sqlglot.errors import ParseError, TokenError

    try:
        found = [each for each in parse(source.clean) if each is not None]
    except ParseError as error:
        raise _misread(source, error) from error
    except TokenError as error:  # hints in comments are read by themselves
        raise source.refused(
            _unclosed(source.text), "a quote or a comment begins here and does not end", "close it"
        ) from error
    except RecursionError:
        why = "it is nested too deeply to be read"
        raise source.refused((0, 6), why, "name the inner parts in WITH, and use the names") from None
    if len(found) != 1:
        raise source.refused((0, len(source.text)), "a question is one statement", "ask each by itself")
    return found[0]


def _misread(source: SqlText, error: Exception) -> SqlRefused:
    """Point at the word where the parser stopped."""
    errors = getattr(error, "errors", None) or [{}]
    line, column = errors[0].get("line"), errors[0].get("col")
    at = next((token for token in source.tokens if (token.line, token.col) == (line, column)), source.tokens[-1])
    fix = "check commas, brackets and the order SELECT, FROM, JOIN, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT"
    return source.refused((at.start, at.end + 1), "this is not SQL here, or something beside it is missing", fix)


def _check_depth(source: SqlText, tree: Node) -> None:
    """Refuse a tree that is too deep to be walked; runs of AND, OR, +, - and UNION ALL count once."""
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MOST_DEPTH:
            why = f"this part of the question is more than {MOST_DEPTH} steps deep"
            raise source.refused(node, why, "name the inner parts in WITH, and use the names")
        for child in node.iter_expressions():
            same = node.key in _CHAINS and child.key in _CHAINS and child.arg_key == "this"
            waiting.append((child, depth if same else depth + 1))
