"""Renyi divergences of shuffled reports: moments of the two worlds of the clones.

Given c clones, the count a of m = c + 1 has masses B(a) (1 + x y) and B(a) (1 - x y), where B is binomial (m, 1/2),
x = (2a - m)/m and y = tanh(epsilon0/2). With g(x) = (1 + x y)^alpha (1 - x y)^(1 - alpha), which is convex, the moment
of order alpha is 1 + E h(|x|), h(x) = (g(x) + g(-x))/2 - 1. All terms are positive, however small they are.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from discreet.account.numeric.pair import Array
from discreet.account.numeric.scipy_functions import special
from discreet.account.numeric.shuffle_bounds import MOST, binomial_guard, clone_rate, half_mass, log_choices
from discreet.core.value import dataclass

NATS = 690.0  # orders up to NATS/epsilon0 are followed term by term: there e^((alpha - 1) loss) is a float
FAR = 40.0  # standard deviations: e^-(FAR^2/2) e^NATS is below 1e-40
RARE = 39.0  # the same for the number of clones, at 1e-30
CELLS = 384  # for each number of clones
MERGED = 4096  # for all of them together
FINE, COARSE = 1.002, 1.02  # ratios of numbers of clones that are put together, near the mean and far from it


@dataclass(frozen=True, slots=True)
class ShuffleMoments:
    """A measure on |x| whose expectations of convex functions are at least those of the clones' counts."""

    places: Array
    masses: Array
    tilt: float  # y
    rest: float  # 1 - y
    most: float  # the largest order

    def divergence(self, alphas: Array, epsilon0: float) -> Array:
        """Return the divergences of orders above 1, rounded up; the local epsilon where the order is too large."""
        return np.array([self._at(float(alpha), epsilon0) for alpha in alphas])

    def _at(self, alpha: float, epsilon0: float) -> float:
        if alpha > self.most:
            # (order - 1) divergence grows with the order by at most the largest loss.
            known = (self.most - 1) * self._at(self.most, epsilon0)
            return min(epsilon0, (known + (alpha - self.most) * epsilon0) / (alpha - 1) * (1 + 2.0**-48))
        x, xy = self.places, self.places * self.tilt
        with np.errstate(divide="ignore", over="ignore"):
            # 1 - x y as a sum of positive terms, where x y is close to 1 and the difference would be mostly rounding.
            rise, fall = np.log1p(xy), np.where(xy > 0.5, np.log((1 - x) + x * self.rest), np.log1p(-xy))
            up, down = alpha * rise - (alpha - 1) * fall, alpha * fall - (alpha - 1) * rise
            excess = np.maximum(np.expm1(up) + np.expm1(down), 0.0) / 2 + 2.0**-50 * np.abs(up)
        total = float(self.masses @ excess) * (1 + 2.0**-40) + 1e-26  # the rare cases that are left out
        return min(epsilon0, math.log1p(total) / (alpha - 1) * (1 + 2.0**-48))


@lru_cache(maxsize=64)
def moments(epsilon0: float, reports: int) -> ShuffleMoments:
    """Return the measure of so many shuffled reports."""
    blocks = [(clones, weight) for clones, weight in _blocks(epsilon0, min(reports, MOST)) if weight > 0]
    parts = [_counts(clones + 1, weight) for clones, weight in blocks]
    places, masses = (np.concatenate(column) for column in zip(*parts, strict=True))
    scale = 1 / math.sqrt(blocks[len(blocks) // 2][0] + 1)
    places, masses = _divided(places, masses, scale * np.sinh(np.linspace(0, math.asinh(1 / scale), MERGED)))
    some = (masses > 0) & (places > 0)
    tilt, decay = math.tanh(epsilon0 / 2) * (1 + 2.0**-50), math.exp(-epsilon0)
    rest = 2 * decay / (1 + decay) * (1 - 2.0**-50)
    return ShuffleMoments(places[some], masses[some], min(tilt, 1 - 2.0**-53), rest, 1 + NATS / max(epsilon0, 1e-9))


def _blocks(epsilon0: float, reports: int) -> list[tuple[int, float]]:
    """Return numbers of clones, each with the probability of all from it to the next: the least is the worst."""
    others, rate = reports - 1, clone_rate(epsilon0, "2023")
    mean, spread = others * rate, math.sqrt(others * rate)
    first, last = max(0, math.floor(mean - RARE * spread)), min(others, math.ceil(mean + 12 * spread + 150))
    clones = np.arange(first, last + 1, dtype=np.float64)
    logs = log_choices(others, clones) + special.xlogy(clones, rate) + (others - clones) * math.log1p(-rate)
    masses = np.exp(logs) * (1 + binomial_guard(others))
    if last < others:
        masses[-1] += 1e-30  # all beyond
    starts, at = [], first
    while at <= last:
        starts.append(at - first)
        near = abs(at - mean) <= 9 * spread
        at = max(at + 1, math.floor((at + 1) * (FINE if near else COARSE)) - 1)
    sums = np.add.reduceat(masses, np.array(starts))
    return [(first + start, float(weight)) for start, weight in zip(starts, sums, strict=True)]


def _counts(total: int, weight: float) -> tuple[Array, Array]:
    """Return places |x| and masses of the count of `total`; what lies beyond them is none to speak of."""
    reach = min(total, math.ceil(FAR * math.sqrt(total)))
    gaps = np.arange(total % 2, reach + 1, 2, dtype=np.float64)  # |2a - total|
    masses = (
        weight * half_mass(float(total), (total + gaps) / 2) * np.where(gaps > 0, 2, 1) * (1 + binomial_guard(total))
    )
    edges = 3 * np.sinh(np.linspace(0, math.asinh(reach / math.sqrt(total) / 3), CELLS)) * math.sqrt(total)
    places, masses = _divided(gaps, masses, edges)
    return places / total, masses


def _divided(places: Array, masses: Array, edges: Array) -> tuple[Array, Array]:
    """Divide the masses of each cell between its least and its largest place, keeping the mean.

    Where a function is convex, this raises its expectation.
    """
    if len(places) <= len(edges):
        return places, masses
    order = np.argsort(places, kind="stable")
    places, masses = places[order], masses[order]
    starts = np.unique(np.searchsorted(places, edges[:-1]))
    starts = starts[starts < len(places)]
    mass, mean = np.add.reduceat(masses, starts), np.add.reduceat(masses * places, starts)
    low, high = places[starts], places[np.append(starts[1:], len(places)) - 1]
    width = np.where(high > low, high - low, 1.0)
    above = np.clip((mean - low * mass) / width * (1 + 2.0**-40) + mass * 2.0**-45, 0.0, mass)
    above = np.where(high > low, above, 0.0)
    return np.concatenate([low, high]), np.concatenate([mass - above, above])
