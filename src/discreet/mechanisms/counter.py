"""Counter over time: running totals of a stream, all private at once, from a binary tree of noises."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from discreet.account.losses.discrete_laplace import DiscreteLaplace
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, positive, whole
from discreet.account.numeric.rounding import up
from discreet.core.doors import opened
from discreet.core.errors import BadParameter, Refusal
from discreet.core.exact import Exact
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import tails
from discreet.mechanisms.parts.grid import add, integers
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.session import MechanismSession
from discreet.noise.inversion import Integers
from discreet.noise.laplace import laplace
from discreet.noise.sampling import pack


class HorizonReached(Refusal):
    """A stream that is longer than was declared and paid for."""


@dataclass(frozen=True, slots=True, init=False)
class Counter:
    """Releases every running total of up to `horizon` increments (Chan, Shi, Song 2011; Dwork et al. 2010).

    A total over the first t times is a sum of at most log2 t + 1 dyadic blocks of times, each with noise of its own
    that is drawn once; every increment lies in one block of each of the levels. `sensitivity` is the most that one
    event adds to or takes from the increment of its time.

    Guarantee: under add_remove, one event more or less at one time changes one block per level by at most the
    sensitivity: the loss is that of `levels` discrete Laplace numbers, pure epsilon in all. Under replace an event may
    leave one time and enter another: each level changes by twice the sensitivity in all, and so does the noise. It
    is the event that is protected, and a person with many events as a group of that many.
    Error: with probability at least 1 - beta, all totals together are within `error(beta)`.
    """

    horizon: int
    epsilon: Fraction
    sensitivity: int
    relation: Relation

    def __init__(
        self, *, horizon: int, epsilon: Number, sensitivity: int = 1, relation: Relation = "add_remove"
    ) -> None:
        object.__setattr__(self, "horizon", whole("horizon", horizon))
        object.__setattr__(self, "epsilon", Fraction(positive("epsilon", epsilon)))
        object.__setattr__(self, "sensitivity", whole("sensitivity", sensitivity))
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    def levels(self) -> int:
        """How many blocks an increment can lie in: one of each length 1, 2, 4, ... up to the horizon."""
        return self.horizon.bit_length()

    @property
    def scale(self) -> Fraction:
        """The scale of the noise of each block."""
        return self.levels * self._moved / self.epsilon

    @property
    def _moved(self) -> int:
        """How much one event can move the blocks of one level, in all."""
        return self.sensitivity * (1 if self.relation == "add_remove" else 2)

    @property
    def loss(self) -> PrivacyLoss:
        """One discrete Laplace number a level; two blocks that move by half each lose no more (see `Laplace.loss`)."""
        return DiscreteLaplace(self.scale, sensitivity=self._moved, relation=self.relation) * self.levels

    def error(self, beta: Number = 0.05) -> float:
        """Return a half-width that the largest error of all totals exceeds with probability at most beta."""
        return self._width(tails.chance(beta) / self.horizon, self._most_blocks())

    def error_at(self, time: int, beta: Number = 0.05) -> float:
        """Return a half-width that the error of the total at one time exceeds with probability at most beta."""
        chance = tails.chance(beta)
        return self._width(chance, self._checked_time(time).bit_count())

    def release(self, exact: object) -> Integers:
        """Return all noisy totals, given all increments.

        Guarantee: `loss`. How many increments there are is public, and at most the horizon.
        """
        return self._noisy(self._totals(opened(exact)), ())

    def releases(self, exact: object, count: int) -> Integers:
        """Return `count` independent releases of one stream, for audits and simulations."""
        return self._noisy(self._totals(exact), (whole("count", count, least=0),))

    def session(self) -> Stream:
        """Return a stream that takes increments one by one and gives each total at once.

        Guarantee: `loss` for all totals together; after the horizon it refuses.
        """
        return Stream(self)

    def resumed(self, time: int, total: int, noises: Iterable[tuple[int, int]]) -> Stream:
        """Return the stream that was at this time, with this total and these noises, and is used no more elsewhere."""
        found = Stream(self)
        found.go_on(time, total, noises)
        return found

    def _totals(self, exact: object) -> Integers:
        found = integers(exact)
        if isinstance(found, int) or found.ndim != 1:
            raise BadParameter(
                "exact", np.shape(found), why="a stream is a list of increments", fix="pass a list of ints"
            )
        if len(found) > self.horizon:
            raise _too_long(self.horizon)
        total, totals = 0, []
        for increment in found.tolist():
            total += increment
            totals.append(total)
        return pack(totals, narrow=True)

    def _noisy(self, totals: Integers, repeats: tuple[int, ...]) -> Integers:
        times = np.arange(1, len(totals) + 1)
        noise: int | Integers = np.zeros((*repeats, len(totals)), dtype=np.int64)
        for level in range(self.levels):
            # The total at t holds the block of this level that ends at t without its lower bits, if the bit is set;
            # such blocks are the 1st, 3rd, 5th, ... of their level.
            ends = times >> level
            used = (ends & 1).astype(bool)
            blocks = laplace(self.scale, (*repeats, (len(totals) >> level) // 2 + 1))
            here = np.where(used, np.take(blocks, ends >> 1, axis=-1), 0)
            noise = add(noise, here)
        return np.asarray(add(totals, noise))

    def _most_blocks(self) -> int:
        """Return the most binary ones of any number up to the horizon."""
        return max(self.horizon.bit_count(), self.horizon.bit_length() - 1)

    def _width(self, chance: Fraction, blocks: int) -> float:
        """Bound the sum of so many discrete Laplace numbers, except with a given probability.

        Chernoff: P(|sum| > h) <= 2 M(s)^blocks e^(-s (h + 1)) for every 0 < s < 1/scale, with the moments M(s) =
        (1 - q)^2 / ((1 - q e^s)(1 - q e^-s)), q = e^(-1/scale). For one block the tail is known exactly.
        """
        if blocks == 1:
            return up(Fraction(tails.laplace(self.scale, chance)))
        wanted = math.log(2 * chance.denominator) - math.log(chance.numerator)
        # Kept where sinh is a float: a smaller one than the true makes M larger, and below 1e-100 nothing changes.
        half = float(min(max(1 / (2 * self.scale), Fraction(1, 10**100)), Fraction(700)))
        narrow = math.inf  # in scales
        for share in np.linspace(0.02, 0.98, 97).tolist():
            # With s = share/scale: ln M(s) = -ln(1 - 4 q sinh(s/2)^2 / (1 - q)^2), (1 - q)^2 / q = 4 sinh(half)^2.
            moment = -math.log1p(-((math.sinh(share * half) / math.sinh(half)) ** 2))
            narrow = min(narrow, (blocks * moment + wanted) / share)
        return up(Fraction(math.ceil(Fraction(narrow * (1 + 1e-9)) * self.scale)))

    def _checked_time(self, time: int) -> int:
        if whole("time", time) > self.horizon:
            why = f"the horizon is {self.horizon}"
            raise BadParameter("time", time, why=why, fix="ask about a time up to the horizon")
        return time


class Stream(MechanismSession):
    """The increments of one stream as they come; the only state there is."""

    __slots__ = ("_counter", "_state")

    def __init__(self, counter: Counter) -> None:
        MechanismSession.__init__(self)
        self._counter = counter
        # The time, the total, and the noise of each block that the total holds, by level.
        self._state: tuple[int, int, dict[int, int]] = 0, 0, {}

    @property
    def time(self) -> int:
        """How many increments there were."""
        return self._state[0]

    @property
    def kept(self) -> tuple[int, int, list[tuple[int, int]]]:
        """The time, the exact total and the noise of each block by level, all but the time kept secret: all it is."""
        time, total, noises = self._state
        return time, total, [*noises.items()]

    def go_on(self, time: int, total: int, noises: Iterable[tuple[int, int]]) -> None:
        """Be the stream that had this state. Only a ledger does that, which settles one total after the other."""
        self._state = time, total, dict(noises)

    def add(self, increment: Exact[int] | int) -> int:
        """Take the next increment and return the noisy total.

        Guarantee: that of the counter, for all totals ever returned; after the horizon it refuses.
        """
        with self.turn():
            time, total, noises = self._state
            if time == self._counter.horizon:
                raise _too_long(self._counter.horizon)
            step = integers(opened(increment))
            if not isinstance(step, int):
                why, fix = "increments come one at a time", "pass one int, or use release for a list"
                raise BadParameter("increment", np.shape(step), why=why, fix=fix)
            time, total = time + 1, total + step
            # The lowest set bit of the time is the level of the block that is complete now; it replaces all smaller.
            level = (time & -time).bit_length() - 1
            noises = {known: noise for known, noise in noises.items() if known > level}
            noises[level] = laplace(self._counter.scale)
            # All at once: an interrupted step that moved the time alone would leave later totals without a noise.
            self._state = time, total, noises
            return total + sum(noises.values())


def _too_long(horizon: int) -> HorizonReached:
    return HorizonReached(
        "one more increment",
        why=f"the loss was declared for {horizon} of them",
        fix="declare a longer horizon in advance; noise grows with its logarithm",
        value=horizon,
    )


def trials() -> Trials:
    """Yield streams that differ in one event."""
    yield Trial("first event", Counter(horizon=4, epsilon=1), (0, 0, 0, 0), (1, 0, 0, 0))
    yield Trial("last event", Counter(horizon=3, epsilon=2), (5, 0, 1), (5, 0, 0))
    yield Trial("moved event", Counter(horizon=4, epsilon=1, relation="replace"), (1, 0, 0, 0), (0, 0, 0, 1))
    yield Trial("sensitivity 2", Counter(horizon=2, epsilon=1, sensitivity=2), (0, 1), (2, 1))
