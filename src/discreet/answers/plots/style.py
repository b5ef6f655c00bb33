"""What the pictures of answers share: colours, numbers along an axis, and a legend beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, QUIET, GRID = "#334155", "#64748b", "#e2e8f0"
FILLS = ("#93b4f5", "#7fcabf", "#f0b98d", "#c5a8ea", "#e39bb4", "#b9c27a")
LINES = ("#1d4ed8", "#0f766e", "#b45309", "#7c3aed", "#be185d", "#4d7c0f")


def written(value: float) -> str:
    """Write a number with its thousands apart."""
    return f"{value:,.10g}"


def legend(axes: Axes, title: str) -> None:
    """Put the names of the colours to the right, where they hide nothing."""
    axes.legend(
        title=title,
        frameon=False,
        labelcolor=INK,
        fontsize=8,
        title_fontsize=8,
        loc="upper left",
        bbox_to_anchor=(1, 1),
    )
