"""Pages of labs: Markdown cut into sections, blocks of Python, and solutions that are folded away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Material for MkDocs folds what is indented under such a line.
_FOLDED = re.compile(r"^\?\?\? \w+ \"([^\"]+)\"\n((?:\n|    .*\n?)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PageSection:
    """A section of a page: its text without the solution, and the solution, which is folded away in the page."""

    title: str
    text: str
    solution: str = ""


def sections(text: str) -> tuple[PageSection, ...]:
    """Cut a page at its second-level headings; what stands above the first belongs to none."""
    return tuple(_section(part) for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:])


def blocks(text: str) -> tuple[str, ...]:
    """Return the blocks of Python in a text."""
    return tuple(_BLOCK.findall(text))


def pieces(text: str) -> list[tuple[str, str]]:
    """Return a text as ("markdown", ...) and ("code", ...) pieces in order, none of them empty."""
    found = [("code" if place % 2 else "markdown", part.strip("\n")) for place, part in enumerate(_BLOCK.split(text))]
    return [(kind, part) for kind, part in found if part]


def top(text: str) -> str:
    """Return what stands above the first section."""
    return re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0]


def summarised(text: str, found: Sequence[PageSection], *, solution: bool) -> str:
    """Return the page without folds: the solution is a section of its own, or left out."""
    parts = [top(text), *(f"## {section.title}\n\n{section.text}" for section in found)]
    if solution:
        parts += [f"## Solution\n\n{section.solution}" for section in found if section.solution]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _section(part: str) -> PageSection:
    title, _, body = part.partition("\n")
    folded = _FOLDED.search(body)
    if folded is None:
        return PageSection(title.strip(), body.strip("\n") + "\n")
    text = body[: folded.start()] + body[folded.end() :]
    return PageSection(title.strip(), text.strip("\n") + "\n", dedent(folded[2]).strip("\n") + "\n")
