"""SQL for people to read: the same words, on lines of their own where a clause or a subquery begins."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[(),]|[^\s'"(),]+""")
_SPACED = re.compile(rf"(\s*)({_TOKEN.pattern})")
_CLAUSES = frozenset({"SELECT", "FROM", "WHERE", "GROUP", "JOIN", "UNION"})
_STEP = "  "
# A list that is longer is put on several lines.
_WIDTH = 96
# So many rows of a public table are enough to see what it is.
_ROWS = 5


def words(sql: str) -> list[str]:
    """Return the words, names, texts and signs of a statement, without the space between them."""
    return _TOKEN.findall(sql)


def pretty(sql: str) -> str:
    """Lay out a statement; its words stay what they were, except for rows of public tables beyond the first few."""
    tokens = [(bool(space), word) for space, word in _SPACED.findall(sql)]
    out: list[str] = []
    # Of every parenthesis that is open: whether it is around a query, and whether the list of that query is long.
    queries, long = [True], [False]
    place, begins = 0, False
    while place < len(tokens):
        spaced, word = tokens[place]
        depth, space = sum(queries) - 1, " " if spaced and not begins else ""
        begins = False
        if word == "(":
            out.append(space + "(")
            queries.append(place + 1 < len(tokens) and tokens[place + 1][1] == "SELECT")
            long.append(False)
        elif word == ")":
            out.append("\n" + _STEP * (depth - 1) + ")" if queries.pop() else ")")
            long.pop()
        elif queries[-1] and word in _CLAUSES:
            out.append(("\n" if out else "") + _STEP * depth + word)
            long[-1] = begins = word == "SELECT" and _length(tokens, place + 1) > _WIDTH
            out.append("\n" + _STEP * (depth + 1) if begins else "")
        elif word == "," and queries[-1] and long[-1]:
            out.append(",\n" + _STEP * (depth + 1))
            begins = True
        else:
            out.append(space + word)
        if word == "VALUES":
            place = _values(tokens, place, out)
        place += 1
    return "".join(out)


def _length(tokens: Sequence[tuple[bool, str]], place: int) -> int:
    """Return how long the list is that begins at a place, up to the next clause of its own query."""
    depth, found = 0, 0
    for spaced, word in tokens[place:]:
        depth += (word == "(") - (word == ")")
        if depth < 0 or (depth == 0 and word in _CLAUSES) or found > _WIDTH:
            break
        found += spaced + len(word)
    return found


def _values(tokens: Sequence[tuple[bool, str]], place: int, out: list[str]) -> int:
    """Write the first rows of a VALUES list, and say how many follow; return the place of its last word."""
    depth, rows, at = 0, 0, place
    for at in range(place + 1, len(tokens)):
        spaced, word = tokens[at]
        depth += (word == "(") - (word == ")")
        if depth < 0:
            at -= 1
            break
        if rows < _ROWS:
            out.append((" " if spaced else "") + word)
        rows += depth == 0 and word == ")"
    if rows > _ROWS:
        out.append(f", ... {rows - _ROWS:,} rows more")
    return at
