"""Figures: numbers as people write them: 1,490 and 0.0679, not 1.49e+03."""

from __future__ import annotations


def figure(value: float) -> str:
    """Write a number in four digits or more, whole ones and large ones without a fraction."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:,.4g}"
