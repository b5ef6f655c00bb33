"""What applying a policy did, as words and as a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.curator.policy import Applied

_WORDS = {
    "registered": "registered",
    "declared": "declared again, as the next version",
    "granted": "granted",
    "window set": "set",
    "limits set": "set",
    "certificates set": "set",
    "charging set": "set",
    "left": "unchanged",
}


def applied_record(applied: Sequence[Applied]) -> list[dict[str, Any]]:
    """Return what was done as plain JSON values."""
    return [asdict(each) for each in applied]


def applied_lines(applied: Sequence[Applied]) -> list[str]:
    """Tell what was done, a line each, with the tokens of new grants below them, whole on lines of their own."""
    lines = []
    for each in applied:
        lines.append(f"{each.kind} {each.name}: {_WORDS[each.action]}")
        if each.token is not None:
            lines.append(each.token)
    if any(each.token for each in applied):
        lines.append("Tokens are shown only once.")
    return lines
