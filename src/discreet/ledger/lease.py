"""Leases: the right to work on one charged question, numbered so that a late answer is known by its number."""

from __future__ import annotations

from dataclasses import field
from time import monotonic
from typing import ClassVar

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass

# How long the first holder may work before another may take over. Each takeover doubles it, so two workers do not
# take a slow question from each other without end; but not beyond about an hour, in case they keep being killed.
SECONDS = 60.0
MOST_DOUBLINGS = 6
MOST_SECONDS = 1e9

# Work that nobody may take over (it is done once, or nobody can ask for it again) is left alone so many times longer:
# six hours. What has not ended by then has died. Nor is a question settled as failed before that by someone who cannot
# go on with it, as on another machine, unless its lease was given back: leases are not renewed, and work may be slow.
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

    @classmethod
    def unbegun(cls, key: str, seconds: float) -> Lease:
        """Return the lease of work that is done once, is paid for and was not begun: free for anyone."""
        return cls(key, 0, seconds, 0.0)

    def alive_until(self, first: float) -> float:
        """Return until when its holder may be at work, with the lease or beyond it; 0 if it was given back."""
        return max(self.expires, self.expires - self.seconds + ALONE * first) if self.expires else 0.0

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
