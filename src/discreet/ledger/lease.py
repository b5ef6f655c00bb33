"""Clocks, and leases: the right to work on one charged question, numbered so that a late answer is known by its number.

Numbers order entries, never clocks. A vault has a time of its own, which never runs behind its last entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import ClassVar

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass

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


# How long the first holder may work before another may take over. Each takeover doubles it, so two workers do not
# take a slow question from each other without end; but not beyond about an hour, in case they keep being killed.
SECONDS = 60.0
MOST_DOUBLINGS = 6
MOST_SECONDS = 1e9

# Work that nobody may take over (it is done once, or nobody can ask for it again) is left alone so many times longer:
# six hours. What has not ended by then has died.
ALONE = 360

# How often one debit may be started: an interrupted question restarts without charge, and its time is seen each time.
MOST_BEGUN = 16


@dataclass(frozen=True, slots=True)
class Lease:
    """One right to work: the charge's key, the fence (how many rights were given), and until when it is undisputed.

    Guarantee: only the holder of the highest fence can settle, so a question has one answer.
    """

    TABLE: ClassVar[str] = "leases"
    KEY: ClassVar[tuple[str, ...]] = ("key",)

    key: str
    fence: int
    seconds: float
    expires: float
    seal: str = field(default="", compare=False)

    @classmethod
    def first(cls, key: str, seconds: float, now: float) -> Lease:
        """Return the lease that is taken together with the charge."""
        return cls(key, 1, seconds, now + seconds)

    def next(self, first: float, now: float) -> Lease:
        """Return the lease of anyone who takes over; one that was given back is made no longer."""
        seconds = min(self.seconds * 2, first * 2**MOST_DOUBLINGS) if self.expires else self.seconds
        return Lease(self.key, self.fence + 1, seconds, now + seconds)

    def released(self) -> Lease:
        """Return the lease as given back, free for anyone at once."""
        return Lease(self.key, self.fence, self.seconds, 0.0)


def check_seconds(value: object) -> float:
    """Return how long a worker is left alone, or refuse whatever is no time."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MOST_SECONDS:
        return float(value)
    why, fix = "a worker is left alone for a number of seconds", "leave it out, or use a number such as 60"
    raise BadParameter("lease_seconds", value, why=why, fix=fix)


@dataclass(slots=True)
class LeaseWatch:
    """Someone waiting for another's lease; patience is measured by a clock that cannot be set.

    A wall clock that jumped back would otherwise keep a dead worker's lease alive.
    """

    fence: int = -1
    since: float = 0.0
    pause: float = field(default=0.002)

    def expired(self, lease: Lease, now: float) -> bool:
        """Whether the lease may be taken over, by the wall clock or because it was watched for long enough."""
        if lease.fence != self.fence:
            self.fence, self.since = lease.fence, monotonic()
        return now >= lease.expires or monotonic() - self.since >= lease.seconds

    def next_pause(self) -> float:
        """Return how long to sleep before looking again: soon at first, then up to a twentieth of a second."""
        pause, self.pause = self.pause, min(self.pause * 2, 0.05)
        return pause
