"""Leases: the right to work on one charged question, numbered so that a late answer is known by its number."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from threading import Event, Thread
from time import monotonic
from typing import ClassVar, Self

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass, replace
from discreet.ledger.refusals import LeaseLost

# How long a holder who is not heard of is left alone; one who works renews the lease meanwhile. Each takeover doubles
# it, so two workers do not take a slow question from each other without end; but not beyond about an hour, in case they
# keep being killed.
SECONDS = 60.0
MOST_DOUBLINGS = 6
MOST_SECONDS = 1e9

# Work that nobody may take over (it is done once, or nobody can ask for it again) is left alone so many times longer:
# six hours. What was not heard of by then has died. Nor is a question settled as failed before that by someone who
# cannot go on with it, as on another machine, unless its lease was given back.
ALONE = 360

# How often a lease is renewed before it would end: one that could not be renewed twice is still held.
BEATS = 3
# Shorter leases are for those who want them to end; renewing them would keep the vault busy.
_LEAST_PAUSE = 0.05
# What a renewal moves the end of a lease by at least, so that others see it on a clock that stands or was set back.
_TICK = 0.001

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

    def renewed(self, now: float) -> Lease:
        """Return the lease of a holder who is at work: it ends later, on whatever clock."""
        return replace(self, expires=max(now + self.seconds, self.expires + _TICK), seal="")

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

    A wall clock that jumped back would otherwise keep a dead worker's lease alive. With every renewal the wait begins
    anew.
    """

    fence: int = -1
    expires: float = 0.0
    since: float = 0.0
    pause: float = field(default=0.002)

    def expired(self, lease: Lease, now: float) -> bool:
        """Whether the lease may be taken over, by the wall clock or because it was watched for long enough."""
        if (lease.fence, lease.expires) != (self.fence, self.expires):
            self.fence, self.expires, self.since = lease.fence, lease.expires, monotonic()
        return now >= lease.expires or monotonic() - self.since >= lease.seconds

    def next_pause(self) -> float:
        """Return how long to sleep before looking again: soon at first, then up to a twentieth of a second."""
        pause, self.pause = self.pause, min(self.pause * 2, 0.05)
        return pause


class Heartbeat:
    """Renews a lease from a thread of its own while its holder works, inside a `with` block.

    `renew` stores the renewed lease and returns it, or None where someone else holds it by now; while `alive` says no,
    as of an engine that does not return from its deadline, nothing is renewed. A process that dies, and a child of a
    fork, has no such thread.

    Guarantee: it never takes a lease back, and who lost theirs is told so before they draw or settle anything more.
    """

    def __init__(self, mine: Lease, renew: Callable[[Lease], Lease | None], alive: Callable[[], bool]) -> None:
        self._mine, self._renew, self._alive = mine, renew, alive
        self._ended, self._lost = Event(), False

    def check(self) -> None:
        """Refuse to go on where someone else has taken over."""
        if self._lost:
            why, fix = "another worker has taken the question over", "use the answer that is settled"
            raise LeaseLost(f"the work on {self._mine.key}", why=why, fix=fix, value=self._mine)

    def __enter__(self) -> Self:
        Thread(target=self._beat, name="discreet-heartbeat", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()  # a renewal that is under way finds the lease as it is by then

    def _beat(self) -> None:
        while not self._ended.wait(max(self._mine.seconds / BEATS, _LEAST_PAUSE)):
            if not self._alive():
                continue
            with suppress(Exception):  # a vault that cannot be written now may be at the next beat
                if self._renew(self._mine) is None:
                    self._lost = True
                    return
