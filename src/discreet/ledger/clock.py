"""Clocks: the time as entries write it; information for people, the month of a window, the end of a grant.

Numbers order entries, never clocks. A vault has a time of its own, which never runs behind its last entry.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]

# Clocks of machines that share a vault differ by less; one that is further back was set back.
_SKEW = timedelta(days=1)


def wall_clock() -> datetime:
    """Return the time, with its zone."""
    return datetime.now(UTC)


def written(moment: datetime) -> str:
    """Write a moment as entries do: in universal time, to the second, so texts sort as moments do."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


class VaultClock:
    """The time of a vault: the machine's clock, or where that is behind the last entry, that entry's time and onwards.

    A machine whose clock was set back does not take the vault along: its time goes on from the last entry as the
    clock goes on, so no grant opens again and no window stands still.
    """

    def __init__(self, clock: Clock) -> None:
        self.machine = clock
        self._last: tuple[datetime, datetime] | None = None

    def note(self, at: str, wall: str) -> None:
        """Take the time of the last entry, and what the machine's clock showed then."""
        self._last = (datetime.fromisoformat(at), datetime.fromisoformat(wall))

    def __call__(self) -> datetime:
        """Return the time, never before that of the last entry."""
        now = self.machine()
        if self._last is None or now >= self._last[0]:
            return now
        at, wall = self._last
        try:
            return at + max(now - wall, timedelta())
        except OverflowError:  # the date is too far in the future
            return at

    def wall(self) -> datetime:
        """Return the reading from which time goes on: the clock's, unless other machines' are a little ahead of it."""
        now = self.machine()
        if self._last is None or now >= self._last[0] or self._last[1] - now > _SKEW:
            return now
        return max(now, self._last[1])
