"""Bars for a terminal: shares as blocks, values with their intervals as whiskers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from discreet.answers.answer import Cell

_FULL, _EMPTY = "█", "░"


def block(share: float, width: int, style: str, *, mark: float | None = None) -> Text:
    """Draw a share of one as a bar of blocks, with a thin line where `mark` is."""
    from rich.text import Text

    full = min(width, max(0, round(share * width)))
    bar = Text(_FULL * full, style=style).append(_EMPTY * (width - full), style="dim")
    if mark is None:
        return bar
    at = min(width - 1, round(mark * width))
    return bar[:at] + Text("│", style="bold") + bar[at + 1 :]


def whisker(cell: Cell, most: float, width: int) -> Text:
    """Draw a value as a dot between the ends of its interval, on a line that begins at zero and ends at `most`.

    Where the interval alone is known, there is no dot.
    """
    from rich.text import Text

    low, value, high = (_place(each, most, width) for each in (cell.low, cell.value, cell.high))
    drawn = ["·"] * width
    drawn[low : high + 1] = "─" * (high + 1 - low)
    if high > low:
        drawn[low], drawn[high] = "├", "┤"
    if cell.value is not None:
        drawn[value] = "●"
    styled = Text("".join(drawn), style="dim")
    styled.stylize("not dim cyan", low, high + 1)
    if cell.value is not None:
        styled.stylize("bold", value, value + 1)
    return styled


def largest(cells: Sequence[Cell]) -> float:
    """Return the end of a scale that all intervals fit on."""
    return max((float(cell.high) for cell in cells if isinstance(cell.high, int | float)), default=1.0) or 1.0


def _place(value: object, most: float, width: int) -> int:
    number = float(value) if isinstance(value, int | float) else 0.0
    return min(width - 1, max(0, round(number / most * (width - 1))))
