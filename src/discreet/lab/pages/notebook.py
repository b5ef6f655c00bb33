"""Notebooks: a lab's page as a Jupyter document of format 4.5, written without Jupyter."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from discreet.lab.pages.page import PageSection, pieces, top

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}
# A cell shows its last line: a picture draws itself, where the page has the drawn file.
_LAST = {"Picture": "picture", "Number": "number, passes"}
_IMAGE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n?", re.MULTILINE)
_ELSEWHERE = re.compile(r"\[([^\]]*)\]\((?![a-z]+:)[^)]*\)")  # links into the documentation, which is not there


def notebook(name: str, text: str, sections: Sequence[PageSection]) -> dict[str, Any]:
    """Return a page as a notebook: prose in Markdown cells, every block of Python in a cell of its own."""
    parts = [("markdown", top(text).strip("\n"))]
    for section in sections:
        parts += pieces(f"## {section.title}\n\n{_IMAGE.sub('', section.text)}")
        if section.title in _LAST:
            kind, block = parts[-1]
            parts[-1] = (kind, f"{block}\n{_LAST[section.title]}")
        if section.solution:
            parts += pieces(f"### Solution\n\n{section.solution}")
    parts = [(kind, _ELSEWHERE.sub(r"\1", source) if kind == "markdown" else source) for kind, source in parts]
    cells = [_cell(name, place, kind, source) for place, (kind, source) in enumerate(parts)]
    return {"cells": cells, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}


def written(document: dict[str, Any]) -> str:
    """Write a notebook the way Jupyter does, so saving it again changes nothing."""
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _cell(name: str, place: int, kind: str, source: str) -> dict[str, Any]:
    # The same page always gives the same ids, so exports can be compared.
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": sha256(f"{name} {place}".encode()).hexdigest()[:12],
        "metadata": {},
        "source": source.splitlines(keepends=True),
    }
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell
