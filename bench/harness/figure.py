"""Figures: a number for each participant, in one unit, and how they are compared and shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

OURS = "discreet"

Unit = Literal["s", "B", "%", "n"]
Comparison = Literal["ratio", "difference", "figure"]

_STEPS: dict[Unit, tuple[tuple[float, str], ...]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "%": ((1e-2, "%"),),
    "n": ((1.0, ""),),
}


def compare(figures: Mapping[str, float], how: Comparison, peer: str | None) -> float | None:
    """Our figure beside a peer's; None when one of them is missing, or when a ratio has nothing to stand on.

    A ratio says how many times ours theirs is (more is better), a difference how far ours lies above theirs.
    """
    ours = figures.get(OURS)
    if ours is None or how == "figure" or peer is None:
        return ours
    theirs = figures.get(peer)
    if theirs is None:
        return None
    if how == "difference":
        return ours - theirs
    return theirs / ours if ours else None


def show(figure: float, unit: Unit) -> str:
    """A figure with three digits in a readable unit: 1.52 ns, 64.0 MB; a plain number as it is."""
    if unit == "n":
        return f"{figure:,.0f}" if abs(figure) >= 100 else f"{figure:.3g}"
    size, name = next((step for step in _STEPS[unit] if abs(figure) >= step[0]), _STEPS[unit][-1])
    return f"{_three_digits(figure / size)} {name}"


def show_compared(amount: float, how: Comparison, unit: Unit) -> str:
    """What `compare` gave, as text: 1,234x, +12.3 ms, 48.0 ms."""
    if how == "ratio":
        return f"{_three_digits(amount)}x"
    return ("+" if how == "difference" and amount >= 0 else "") + show(amount, unit)


def _three_digits(amount: float) -> str:
    digits = 0 if abs(amount) >= 100 else 1 if abs(amount) >= 10 else 2
    return f"{amount:,.{digits}f}"
