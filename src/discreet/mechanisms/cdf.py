"""CDF: how many values lie at or below each declared threshold, through a tree of counts made consistent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written
from discreet.core.value import dataclass
from discreet.mechanisms.histogram import counts_of
from discreet.mechanisms.parts.integer_noise import Noise, Sensitivity, Whole, floats
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.raw_values import as_float, numbers
from discreet.mechanisms.parts.statistic import Statistic
from discreet.mechanisms.parts.tails import chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Cdf(Statistic):
    """Releases the number of values <= t for every declared threshold t, and at last that of all values.

    Divide by the last one for proportions. The exact statistic is the count between neighbouring thresholds. Noise goes
    to the nodes of a tree over these bins, with `branching` children each and no root: a record counts in one node of
    each level. The noisy tree is made consistent by least squares (Hay, Rastogi, Miklau, Suciu 2010), and the sums are
    made non-decreasing and non-negative: all of it post-processing. Nulls are left out.

    Sensitivity: contributions nodes on each level under add_remove, twice as many under replace.
    Guarantee: pure epsilon with Laplace noise, rho-zCDP with Gaussian noise; for rows the loss is that of one count for
    each level (two under replace).
    Error: of the worst threshold, for all of them together.
    """

    thresholds: tuple[Number, ...]
    branching: int | None = None

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        given = self.thresholds if isinstance(self.thresholds, Iterable) else (self.thresholds,)
        cuts = tuple(as_written("thresholds", cut.item() if isinstance(cut, np.generic) else cut) for cut in given)
        if not cuts or any(low >= high for low, high in pairwise(cuts)):
            why = "thresholds rise, and there is at least one"
            raise BadParameter("thresholds", self.thresholds, why=why, fix="use (10, 20, 30), for example")
        bins = len(cuts) + 1
        branching = best_branching(bins) if self.branching is None else whole("branching", self.branching, least=2)
        self._set(thresholds=cuts, branching=min(branching, bins))

    @property
    def levels(self) -> int:
        """The levels of the tree: enough that branching ** levels leaves hold all bins."""
        assert self.branching is not None
        return depth(len(self.thresholds) + 1, self.branching)

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves the nodes; of a group, where there are several."""
        k, nodes = self.contributions, self.levels * (1 if self._within == "add_remove" else 2)
        return Sensitivity(nodes * k, k, nodes * k, nodes * k * k)

    @property
    def noises(self) -> tuple[tuple[Noise, int], ...]:
        """One noise for all nodes."""
        assert self.branching is not None
        nodes = sum(self.branching**level for level in range(1, self.levels + 1))
        return ((self._noise(self.sensitivity), nodes),)

    def error(self, beta: float = 0.05) -> float:
        """Return the half-width of all answers together.

        A prefix is the sum of at most (branching - 1) nodes on each level, v in all; least squares has at most the
        variance of that sum (Gauss and Markov). Its weights are at most 1 in size: the fit to noise 1 at one node gives
        that node a in [0, 1], its ancestors less and less but no less than 0, and its siblings and theirs the
        differences, so every prefix lies between -a and a. For such a sum of Laplace noise the moment generating
        function is at most e^(2 v (lambda scale)^2) for lambda scale <= 1/sqrt 2 (Chan, Shi, Song 2011, Lemma 2.8), for
        Gaussian noise at most e^(v (lambda sigma)^2 / 2). Making the sums monotone does not move the worst one away.
        """
        assert self.branching is not None
        noise = self.noises[0][0]
        v, odds = (self.branching - 1) * self.levels, math.log(2 * (len(self.thresholds) + 1) / float(chance(beta)))
        if noise.law == "gaussian":
            return float(noise.scale) * math.sqrt(2 * v * odds)
        rate = min(math.sqrt(odds / (2 * v)), math.sqrt(0.5))
        return float(noise.scale) * (2 * v * rate + odds / rate)

    def exact(self, values: Iterable[Any]) -> NDArray[np.int64]:
        """Return how many values lie in each bin: up to the first threshold, up to the next, ..., above the last."""
        cuts = np.array([as_float(cut) for cut in self._cuts])
        bins = np.searchsorted(cuts, numbers(values), side="left")
        return np.bincount(bins, minlength=len(cuts) + 1).astype(np.int64)

    @property
    def _cuts(self) -> tuple[Any, ...]:
        return self.thresholds

    def _inner(self, exact: Sequence[Whole]) -> Sequence[Whole]:
        assert self.branching is not None
        counts = counts_of(exact, len(self.thresholds) + 1)
        level = counts + [0] * (self.branching**self.levels - len(counts))
        nodes = level
        while len(level) > self.branching:
            level = [sum(level[at : at + self.branching]) for at in range(0, len(level), self.branching)]
            nodes = level + nodes
        return nodes

    def _outer(self, noisy: list[NDArray[Any]]) -> NDArray[np.float64]:
        assert self.branching is not None
        nodes = np.stack([floats(node) for node in noisy], axis=-1)
        leaves = consistent(nodes, self.branching, self.levels)
        return monotone(np.cumsum(leaves, axis=-1)[..., : len(self.thresholds) + 1])


def depth(bins: int, branching: int) -> int:
    """Return the least number of levels whose leaves hold all bins."""
    levels = 1
    while branching**levels < bins:
        levels += 1
    return levels


def best_branching(bins: int) -> int:
    """Return the branching of least variance: (branching - 1) levels nodes in a sum, noise growing with levels."""
    return min(range(2, min(bins, 512) + 1), key=lambda each: (each - 1) * depth(bins, each) ** 3)


def consistent(nodes: NDArray[np.float64], branching: int, levels: int) -> NDArray[np.float64]:
    """Return the leaves of the tree nearest to noisy nodes, given level by level from the top (Hay et al. 2010)."""
    sizes = [branching**level for level in range(1, levels + 1)]
    rows = np.split(nodes, np.cumsum(sizes)[:-1], axis=-1)
    fits = [rows[-1]]
    for height, row in enumerate(reversed(rows[:-1]), start=2):
        below, whole_tree = float(branching ** (height - 1)), float(branching**height)
        own = (whole_tree - below) / (whole_tree - 1)
        fits.insert(0, own * row + (1 - own) * _children(fits[0], branching).sum(-1))
    settled = fits[0]
    for fit in fits[1:]:
        children = _children(fit, branching)
        spare = (settled - children.sum(-1)) / branching
        settled = (children + spare[..., None]).reshape(fit.shape)
    return settled


def monotone(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middle of the running maximum and the running minimum from behind: the nearest in the worst case."""
    rising = np.maximum.accumulate(sums, axis=-1)
    falling = np.minimum.accumulate(sums[..., ::-1], axis=-1)[..., ::-1]
    return np.maximum((rising + falling) / 2, 0.0)


def _children(row: NDArray[np.float64], branching: int) -> NDArray[np.float64]:
    return row.reshape(*row.shape[:-1], -1, branching)


def trials() -> Trials:
    """Yield the worst neighbours: a record that counts on every level, and one that moves across the whole tree."""
    yield Trial("a record appears", Cdf(thresholds=(1, 2, 3), branching=2, epsilon=2), [2, 1, 0, 3], [3, 1, 0, 3])
    replace = Cdf(thresholds=(1, 2, 3), branching=2, epsilon=2, relation="replace")
    yield Trial("from one end to the other", replace, [2, 1, 0, 3], [1, 1, 0, 4])
    yield Trial("Gaussian", Cdf(thresholds=(1, 2), rho=0.5), [2, 1, 0], [2, 2, 0])
