"""Clocks: the time as entries write it; information for people and the month of a window, but never an order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def wall_clock() -> datetime:
    """Return the time, with its zone."""
    return datetime.now(UTC)


def written(moment: datetime) -> str:
    """Write a moment as entries do: in universal time, to the second, so that texts sort as moments do."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")
