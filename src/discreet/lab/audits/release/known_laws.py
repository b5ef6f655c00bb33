"""Known laws: the probabilities of events of noise and of choices, worked out apart from the code that draws."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.quantile import Quantile

Floats = NDArray[np.float64]

LISTED = 4096  # outcomes whose chances are worked out one by one

_MARGIN = 1e-9  # what sums of floats may be off by, relative; events are judged with as much room
_WIDTHS = (0.3, 0.7, 1.0, 1.5, 2.0, 3.0, 4.5)  # of thresholds, in units of the noise
_LISTED = 20_000  # integers on each side whose Gaussian weights are added up one by one
_HALVES = (0.02, 0.98)  # what is as likely as not, nearly
_LEAST = 1e-6  # thresholds that are passed less often show nothing


@dataclass(frozen=True, slots=True)
class EventChance:
    """Bounds on the probability of an event."""

    low: float
    high: float

    @classmethod
    def about(cls, chance: float, margin: float = _MARGIN) -> EventChance:
        """Return bounds around a probability that floats were used for."""
        return cls(max(0.0, chance * (1 - margin)), 1.0 if chance >= 1 else min(1.0, chance * (1 + margin)))

    def times(self, factor: float) -> EventChance:
        """Return the bounds of so many disjoint events of the same probability."""
        return EventChance(self.low * factor, min(1.0, self.high * factor))

    def and_(self, other: EventChance) -> EventChance:
        """Return the bounds of two independent events happening together."""
        return EventChance(self.low * other.low, self.high * other.high)

    @property
    def opposite(self) -> EventChance:
        """Return the bounds of the event not happening."""
        return EventChance(1 - self.high, 1 - self.low)


@dataclass(frozen=True, slots=True)
class NoiseLaw:
    """Discrete Laplace noise of a scale, or discrete Gaussian noise of a sigma."""

    law: Literal["laplace", "gaussian"]
    scale: Fraction

    @classmethod
    def of(cls, law: Literal["laplace", "gaussian"], scale: Fraction) -> NoiseLaw:
        """Return the law of a noise function with this parameter."""
        return cls(law, Fraction(scale))

    def scaled(self, factor: Fraction) -> NoiseLaw:
        """Return the same law, so many times as wide."""
        return NoiseLaw(self.law, self.scale * factor)

    @property
    def thresholds(self) -> tuple[int, ...]:
        """Where tails are cut: around the width of the noise, at 1, and wherever noise is seen often enough."""
        found = {1, *(max(1, math.ceil(width * float(self.scale))) for width in _WIDTHS)}
        return tuple(sorted(each for each in found if self.tail(each).low > _LEAST)) or (1,)

    @property
    def usual(self) -> int:
        """A threshold that noise often passes, on one side."""
        return max(1, math.ceil(0.3 * float(self.scale)))

    def tail(self, threshold: int) -> EventChance:
        """Return the probability of the threshold or more, for thresholds of 1 and above."""
        return _tail(self.law, self.scale, threshold)

    @property
    def zero(self) -> EventChance:
        """The probability of no noise: what the two tails leave."""
        rest = self.tail(1)
        return EventChance(max(0.0, 1 - 2 * rest.high), 1 - 2 * rest.low)

    @property
    def odd(self) -> EventChance:
        """The probability of an odd number."""
        scale = float(self.scale)
        if self.law == "laplace":
            ratio = math.exp(-1 / scale)
            return EventChance.about(2 * ratio / (1 + ratio) ** 2)
        if scale > 8:
            return EventChance.about(0.5)  # Poisson's summation: within 2 exp(-(pi sigma)^2 / 2)
        points = np.arange(-200, 201)
        weights = np.exp(-(points**2) / (2 * scale**2))
        return EventChance.about(float(weights[points % 2 == 1].sum() / weights.sum()))


@lru_cache(maxsize=4096)
def _tail(law: str, scale: Fraction, threshold: int) -> EventChance:
    size = float(scale)
    if law == "laplace":
        return EventChance.about(math.exp(-threshold / size) / (1 + math.exp(-1 / size)))
    if size <= _LISTED / 16:
        points = np.arange(0, _LISTED)
        weights = np.exp(-(points.astype(np.float64) ** 2) / (2 * size**2))
        return EventChance.about(float(weights[threshold:].sum() / (2 * weights.sum() - 1)))
    # The midpoint rule is off by less than |f'| / 24 at the cut, of a total of sigma sqrt(2 pi).
    chance = math.erfc((threshold - 0.5) / (size * math.sqrt(2))) / 2
    return EventChance(max(0.0, chance - 1 / size**2), chance + 1 / size**2)


@dataclass(frozen=True, slots=True)
class ChoiceLaw:
    """The probability of every outcome of a choice; in runs of outcomes that are equally likely, where they are many.

    A run is (first, last, probability of all of it); outcomes that are no integers are numbered in their order.
    """

    runs: tuple[tuple[int, int, float], ...]
    names: tuple[Hashable, ...] | None = None

    @classmethod
    def listed(cls, chances: Mapping[Hashable, float]) -> ChoiceLaw:
        """Return the law of outcomes that are listed one by one."""
        return cls(tuple((at, at, chance) for at, chance in enumerate(chances.values())), tuple(chances))

    def places(self, outcomes: Sequence[Hashable]) -> NDArray[np.int64]:
        """Return the run that each outcome lies in; the number of runs for one that the law does not have."""
        if self.names is not None:
            numbered = {name: at for at, name in enumerate(self.names)}
            return np.array([numbered.get(outcome, len(self.runs)) for outcome in outcomes], dtype=np.int64)
        points = np.array([int(outcome) for outcome in outcomes], dtype=np.int64)  # type: ignore[call-overload]
        firsts, lasts = (np.array([each[at] for each in self.runs], dtype=np.int64) for at in (0, 1))
        found = np.searchsorted(firsts, points, side="right") - 1
        return np.where((found >= 0) & (points <= lasts[found]), found, len(self.runs))

    def times(self, outcomes: Sequence[Hashable]) -> NDArray[np.int64]:
        """Return how many of the outcomes lie in each run."""
        return np.bincount(self.places(outcomes), minlength=len(self.runs) + 1)[: len(self.runs)]

    def events(self, most: int) -> Iterator[tuple[str, NDArray[np.bool_], EventChance]]:
        """Yield events in words, which runs are in them, and how likely they are.

        Thresholds, the likeliest outcomes together (the most powerful events against choices that are too sure or too
        little so), and single runs that are likely.
        """
        weights = np.array([weight for _, _, weight in self.runs])
        sizes = np.array([last - first + 1 for first, last, _ in self.runs])
        every = np.arange(len(weights))
        sums = np.cumsum(weights)
        density = np.argsort(-weights / sizes, kind="stable")
        ranks = np.empty(len(weights), dtype=int)
        ranks[density] = every
        likeliest = np.cumsum(weights[density])
        for share in (0.05, 0.2, 0.4, 0.6, 0.8, 0.95):
            at = int(np.searchsorted(sums, share))
            if at < len(sums) - 1:
                yield f"at most {self._name(self.runs[at][1])}", every <= at, EventChance.about(float(sums[at]))
            at = int(np.searchsorted(likeliest, share))
            if at < len(sums) - 1:
                yield f"one of the {at + 1} likeliest", ranks <= at, EventChance.about(float(likeliest[at]))
        for at in np.argsort(-weights, kind="stable")[:most].tolist():
            yield f"{self._name(self.runs[at][0])}", every == at, EventChance.about(float(weights[at]))

    def half(self) -> tuple[int, EventChance] | None:
        """Return the last run of an event about as likely as not, a threshold; none where there is no such."""
        sums = np.cumsum([weight for _, _, weight in self.runs])
        at = int(np.argmin(np.abs(sums - 0.5)))
        return (at, EventChance.about(float(sums[at]))) if _HALVES[0] < sums[at] < _HALVES[1] else None

    def _name(self, number: int) -> str:
        return str(number) if self.names is None else repr(self.names[number])


def selected_chance(selection: KeySelection, people: int) -> EventChance:
    """Return the chance that a key of so many people is shown: the optimal rule (Desfontaines et al. 2022).

    It is kept with pi(0) = 0 and pi(n + 1) = min(e^e pi(n) + d, 1 - e^-e (1 - pi(n) - d), 1), where e and d are the
    shares of one key of all that a unit can move. This is written from the theorem, apart from the code that draws.
    """
    moved = selection.groups * (1 if selection.relation == "add_remove" else 2)
    more, share = math.exp(Fraction(selection.epsilon) / moved), float(Fraction(selection.delta) / moved)
    shown = 0.0
    for _ in range(people):
        shown = min(more * shown + share, 1 - (1 - shown - share) / more, 1.0)
        if shown == 1:
            break
    return EventChance.about(shown)


def ranked_law(mechanism: Quantile, values: Sequence[int]) -> ChoiceLaw | None:
    """Return the law of one quantile: the exponential mechanism on ranks (Smith 2011), also within ties.

    With b records below a point and u up to and including it, it scores min(t - b, u - t) for the target t = q n +
    offset: how deep the target lies in the ranks that it covers, or how far outside, below zero. The bounds stand for
    as many ranks beyond the data as the offset goes. Probabilities are in proportion to
    exp(epsilon score / (2 sensitivity)). This is written from the theorem, apart from the code that draws.
    """
    if len(mechanism.quantiles) > 1:
        return None
    starts, sizes, logs = _weights(mechanism, values)
    weights = sizes * np.exp(logs - logs.max())
    weights /= weights.sum()
    return ChoiceLaw(
        tuple(
            (int(start), int(start) + int(size) - 1, float(weight))
            for start, size, weight in zip(starts, sizes, weights, strict=True)
        )
    )


def ranked_ratio(mechanism: Quantile, one: Sequence[int], other: Sequence[int]) -> tuple[float, float]:
    """Return the logarithms of the greatest ratios of chances between two lists of values, in both directions."""
    found = [_weights(mechanism, each) for each in (one, other)]
    cuts = np.unique(np.concatenate([starts for starts, _, _ in found]))
    logs = []
    for starts, sizes, log in found:
        total = log.max() + math.log(float((sizes * np.exp(log - log.max())).sum()))
        logs.append(log[np.searchsorted(starts, cuts, side="right") - 1] - total)
    difference = logs[0] - logs[1]
    return float(difference.max()), float((-difference).max())


def _weights(mechanism: Quantile, values: Sequence[int]) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return runs of points with equal scores: where each begins, how many points it has, and its scores' logarithm."""
    grid, q, offset = mechanism.grid, mechanism.quantiles[0], mechanism.offset
    data = np.sort(np.clip(np.array([*values], dtype=object), grid.low, grid.high).astype(np.int64))
    known = np.unique(np.concatenate([data, [grid.low, grid.high]]))
    starts = np.unique(np.concatenate([known, known + 1]))
    starts = starts[(starts >= grid.low) & (starts <= grid.high)]
    sizes = np.diff(np.append(starts, grid.high + 1)).astype(np.float64)
    below = np.searchsorted(data, starts, side="left").astype(np.float64)
    up_to = np.searchsorted(data, starts, side="right").astype(np.float64)
    target = float(q * len(data) + offset)
    # The bounds stand for as many ranks beyond the data as the offset goes, below the lower or above the upper one.
    below[starts == grid.low] = min(0.0, float(offset))
    up_to[starts == grid.high] = len(data) + max(0.0, float(offset))
    distance = np.maximum(below - target, target - up_to)
    moved = max(q, 1 - q) if mechanism.relation == "add_remove" else Fraction(1)
    rate = float(Fraction(mechanism.epsilon) / (2 * moved * mechanism.contributions))
    return starts, sizes, -rate * distance
