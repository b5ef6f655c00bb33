"""Pilots: a coarse look at a composition, to find the tilt and the grid at which to compute it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from discreet.account.numeric.loss_measure import Index, LossMeasure, discretize, pilot_edges
from discreet.account.numeric.pair import Array, Pair
from discreet.core.value import dataclass

LEAN = 0.75
HARM = 1e-7
CLOSE = 2e-3  # relative accuracy of the tilt, which need not be exact


@dataclass(frozen=True, slots=True)
class Leaf:
    """A mechanism that runs `count` times: its dominating pair, with tails below a given mass cut off."""

    pair: Callable[[float], Pair]
    count: int


class Cumulants(NamedTuple):
    """The logarithm of E e^(theta loss) of the composed loss, and its first two derivatives: tilted mean, variance."""

    log_moment: float
    mean: float
    variance: float


class Aim(NamedTuple):
    """The point of the curve that is sought: epsilon, ln delta, the saddle point there, and the tilt to compute with.

    The tilt leans below the saddle point: that costs a little of the precision of the transform and much lightens the
    upper tail of the tilted loss, which decides how wide a window must be.
    """

    theta: float
    saddle: float
    epsilon: float
    log_delta: float
    spread: float

    def upright(self) -> Aim:
        """Return the same aim with the tilt at the saddle point."""
        return self._replace(theta=self.saddle)


class Window(NamedTuple):
    """The losses from low to high, and the rate at which Chernoff's bound is best for those above."""

    low: float
    high: float
    rate: float


@dataclass(frozen=True, slots=True)
class Pilot:
    """Every leaf's pair, divided over a few hundred losses of its own, all of them in one row."""

    pairs: list[Pair]
    measures: list[LossMeasure]
    counts: list[int]
    losses: Array
    logs: Array
    starts: Index
    sizes: Index

    @classmethod
    def of(cls, leaves: Sequence[Leaf], tail: float) -> Pilot:
        """Look at the leaves, with tails cut where less than `tail` is left."""
        pairs = [leaf.pair(tail) for leaf in leaves]
        measures = [discretize(pair, pilot_edges(pair)) for pair in pairs]
        sizes = np.array([len(measure.losses) for measure in measures])
        with np.errstate(divide="ignore"):
            logs = np.log(np.concatenate([measure.masses for measure in measures]))
        losses = np.concatenate([measure.losses for measure in measures])
        starts = np.cumsum(sizes) - sizes
        return cls(pairs, measures, [leaf.count for leaf in leaves], losses, logs, starts, sizes)

    @property
    def copies(self) -> int:
        """How many mechanisms run in all."""
        return sum(self.counts)

    def measured(self) -> Iterator[tuple[LossMeasure, int]]:
        """Return the coarse measures, each with its count."""
        return zip(self.measures, self.counts, strict=True)

    def by_weight(self) -> list[tuple[Pair, LossMeasure, int]]:
        """Return pairs, coarse measures and counts, those first that spread the composed loss most."""
        spread = [count * float(m.masses @ m.losses**2) for m, count in self.measured()]
        order = sorted(range(len(spread)), key=lambda place: -spread[place])
        return [(self.pairs[place], self.measures[place], self.counts[place]) for place in order]

    def heaviest(self, theta: float) -> float:
        """Return the loss with the largest tilted mass, counting copies, or the unit of it and others like it."""
        exponent = theta * self.losses + self.logs
        top = np.maximum.reduceat(exponent, self.starts)
        weight = np.exp(exponent - np.repeat(top, self.sizes))
        share = (
            weight / np.repeat(np.add.reduceat(weight, self.starts), self.sizes) * np.repeat(self.counts, self.sizes)
        )
        place = int(share.argmax())
        unit = self.pairs[int(np.searchsorted(self.starts, place, side="right")) - 1].unit
        return unit or float(self.losses[place])

    def cumulants(self, theta: float) -> Cumulants:
        """Return the cumulants of the composed loss under a tilt."""
        exponent = theta * self.losses + self.logs
        top = np.maximum.reduceat(exponent, self.starts)
        weight = np.exp(exponent - np.repeat(top, self.sizes))
        whole = np.add.reduceat(weight, self.starts)
        mean = np.add.reduceat(weight * self.losses, self.starts) / whole
        square = np.add.reduceat(weight * (self.losses - np.repeat(mean, self.sizes)) ** 2, self.starts) / whole
        counts = np.array(self.counts, dtype=np.float64)
        return Cumulants(float(counts @ (top + np.log(whole))), float(counts @ mean), float(counts @ square))

    def log_delta(self, theta: float) -> float:
        """Return ln delta(epsilon), roughly, where epsilon is the tilted mean (the saddle-point approximation)."""
        log_moment, mean, variance = self.cumulants(theta)
        spread = math.sqrt(max(variance, 1e-200))
        # The tilted mean of e^(-theta x) (1 - e^-x) over x > 0, x normal: small if x is small, or if theta x is large.
        factor = min(0.5, 0.4 * spread, 0.4 / max(theta * (theta + 1) * spread, 1e-200))
        return log_moment - theta * mean + math.log(factor)

    def aim_at_delta(self, delta: float) -> Aim:
        """Find, roughly, the epsilon that belongs to delta."""
        saddle = self._tilt(lambda theta: self.log_delta(theta) > math.log(delta))
        _, mean, variance = self.cumulants(saddle)
        return Aim(LEAN * saddle, saddle, mean, math.log(delta), math.sqrt(variance))

    def aim_at_epsilon(self, epsilon: float) -> Aim:
        """Find, roughly, the delta that belongs to epsilon."""
        saddle = 0.0
        if self.cumulants(0.0).mean < epsilon:
            saddle = self._tilt(lambda theta: self.cumulants(theta).mean < epsilon)
        log_delta = max(self.log_delta(saddle), -600.0)
        return Aim(LEAN * saddle, saddle, epsilon, log_delta, math.sqrt(self.cumulants(saddle).variance))

    def aim_everywhere(self, floor: float) -> Aim:
        """Look at the whole curve at once, down to delta = floor."""
        _, mean, variance = self.cumulants(0.0)
        return Aim(0.0, 1 / math.sqrt(max(variance, 1e-200)), max(mean, 0.0), math.log(floor), math.sqrt(variance))

    def window(self, aim: Aim, spacing: float) -> Window:
        """Return the losses to compute: what is cut or wrapped around should change delta by `HARM` of itself at most.

        Chernoff bounds, each at its best rate s: mass above `high` is P[loss > high] <= e^(K(s) - s high). Mass further
        than the window's width above epsilon is wrapped to epsilon and above, with weight e^(theta (loss - epsilon) -
        theta width); mass below `low` is wrapped to the top with weight e^(-theta width).
        """
        theta, room = aim.theta, -math.log(HARM) - aim.log_delta
        blur = self.copies * spacing**2 / 8  # half of the most variance that dividing over the grid can add

        def grown(rate: float) -> float:
            return self.cumulants(rate).log_moment + blur * abs(rate) * (abs(rate) + 1)

        scale = max(aim.saddle, 0.25 / max(aim.spread + math.sqrt(2 * blur), 1e-200))
        rates = [scale * 2.0 ** (half / 2) for half in range(-14, 5)]
        above = {rate: (grown(rate) + room) / rate - aim.epsilon for rate in rates}
        best = min(above, key=lambda rate: above[rate])
        high = aim.epsilon + max(above[best], 0.0)
        rises = [(grown(theta + rate) - (theta + rate) * aim.epsilon + room) / rate for rate in rates]
        falls = [(grown(-rate) + rate * high + room) / (theta + rate) for rate in rates]
        width = max(min(rises), min([*falls, room / theta] if theta else falls), high - aim.epsilon)
        return Window(high - width, high, best)

    def _tilt(self, more: Callable[[float], bool]) -> float:
        """Find where `more` becomes false, between far below 1/(largest sum of losses) and far above 1/spread."""
        most = sum(count * float(m.losses[-1] - m.losses[0]) for m, count in self.measured())
        natural = 1 / math.sqrt(max(self.cumulants(0.0).variance, 1e-200))
        low, high = math.log(min(1e-3 / most, 1e-4 * natural)), math.log(1e4 * natural)
        while high - low > CLOSE:
            middle = (low + high) / 2
            low, high = (middle, high) if more(math.exp(middle)) else (low, middle)
        return math.exp((low + high) / 2)
