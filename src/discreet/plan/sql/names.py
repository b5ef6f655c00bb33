"""Names as SQL spells them: which need double quotes, and which were written without."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.core.errors import UnknownName
from discreet.core.schema import Table
from discreet.plan.nodes import Public
from discreet.plan.sql.parse import MOST_TEXT
from discreet.plan.sql.refusals import Span, SqlRefused

if TYPE_CHECKING:
    from sqlglot import Token


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The names of private tables, how one is looked up, public tables, and keys that were given for columns."""

    names: Sequence[str]
    table: Callable[[str], Table]
    public: Mapping[str, Public]
    keys: Mapping[str, Sequence[object]]


_WORDS = re.compile(r"[a-z]+")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WHOLE = frozenset({"IDENTIFIER", "STRING"})  # what stood in quotes, and is no word of another name


def spelled(name: str) -> str:
    """Write a name as a question has to: in double quotes, unless it is one plain word that SQL has no use for."""
    if _PLAIN.fullmatch(name) and [token.token_type.name for token in _tokens(name)] == ["VAR"]:
        return name
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Write a text as SQL has it, in single quotes."""
    return "'" + value.replace("'", "''") + "'"


def nearest(unknown: UnknownName) -> str:
    """Say which names there are, as SQL spells them."""
    if unknown.near:
        return f"did you mean {' or '.join(map(spelled, unknown.near))}?"
    return f"use one of {', '.join(map(spelled, unknown.known))}" if unknown.known else unknown.fix


def split_name(refusal: SqlRefused, catalogue: Catalogue) -> SqlRefused | None:
    """Return the refusal of a name or a key of several words that lacks its quotes, where that is what was refused."""
    tokens = _tokens(refusal.text) if len(refusal.text) <= MOST_TEXT else []
    said = {token.text.lower() for token in tokens}
    fixes = dict(_quoted(catalogue, said))
    plain = {name.lower() for name in fixes}
    for name in sorted(fixes, key=lambda each: (-len(each), each)):  # the longest first: one name may begin another
        if _PLAIN.fullmatch(name) or not said.issuperset(_WORDS.findall(name.lower())):
            continue
        words = [token.text.lower() for token in _tokens(name)]
        # Where each word is a column by itself, a - b may well be meant.
        if len(words) < 2 or all(word in plain for word in words if _PLAIN.fullmatch(word)):
            continue
        for span in _spans(tokens, words, refusal.span):
            why = f"{name} is one name, and without quotes SQL reads its words one by one"
            return SqlRefused(refusal.text, span, why=why, fix=fixes[name])
    return None


def _quoted(catalogue: Catalogue, words: set[str]) -> Iterator[tuple[str, str]]:
    """Name the declared keys and the columns of the tables that a question speaks of, each with how it is written."""
    tables = [catalogue.table(title) for title in catalogue.names if title.lower() in words]
    keys = (key for table in tables for column in table.columns for key in column.keys or ())
    yield from ((key, f"text goes in single quotes: {text(key)}") for key in keys if isinstance(key, str))
    people = [table.unit.identifier for table in tables if table.unit.identifier is not None]
    public = (name for title, table in catalogue.public.items() if title.lower() in words for name in table.names)
    for name in (*(name for table in tables for name in table), *people, *public):
        yield name, f"write {spelled(name)}, in double quotes"


def _spans(tokens: Sequence[Token], words: Sequence[str], at: Span) -> Iterable[Span]:
    """Return where a run of words stands that is, or is next to, what was refused."""
    written = [None if token.token_type.name in _WHOLE else token.text.lower() for token in tokens]
    for first in range(len(tokens) - len(words) + 1):
        last = first + len(words) - 1
        before, after = tokens[max(first - 1, 0)], tokens[min(last + 1, len(tokens) - 1)]
        if written[first : last + 1] == list(words) and before.start < at[1] and at[0] <= after.end:
            yield tokens[first].start, tokens[last].end + 1


def _tokens(text: str) -> list[Token]:
    """Return the words and signs of a text; none, where a quote in it does not end."""
    from sqlglot import tokenize
    from sqlglot.errors import TokenError

    try:
        return tokenize(text)
    except TokenError:
        return []
