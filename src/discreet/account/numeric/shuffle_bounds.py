"""Clones: the two worlds that no shuffled collection of local reports can tell apart better.

One of n people changes her value; every local randomizer promises epsilon0. Write p = e^epsilon0, let R and R' be the
laws of her report and b their total variation. With Q = (R - R')+ / b and Q' = (R' - R)+ / b,

    R = b p/(p-1) Q + b/(p-1) Q' + rest,    R' = b/(p-1) Q + b p/(p-1) Q' + rest,    R_i >= b/(p-1) (Q + Q'),

the last because R_i >= R/p and R - R' <= R (p-1)/p where R > R'. Anyone who is told which reports came from the rest
counts what came from Q and from Q': A + D and C - A + 1 - D in one world, exchanged in the other, where C is binomial
(n - 1, 2/(p+1)), A binomial (C, 1/2), and D is 1 with probability p/(p+1); a smaller b only deletes each of these
reports at random, which tells less. This is Feldman, McMillan, Talwar 2023 ("stronger"); their 2021 theorem
has 1/p in place of 2/(p+1).

Given C = c the first count is a, and the losses above epsilon are those of a >= t, so

    delta_c(epsilon) = P(Bin(c, 1/2) = t - 1) (p - e^epsilon)/(p + 1) - (e^epsilon - 1) P(Bin(c, 1/2) >= t),

which falls with c, because a clone more only blurs. Both ends of every sum below are bounds.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from discreet.account.numeric.pair import Array, Pair, atoms
from discreet.account.numeric.scipy_functions import special
from discreet.core.value import dataclass

Theorem = Literal["2021", "2023"]

TAIL = 1e-60  # what is left out of the number of clones, and added to every delta
BLOCKS = 4096  # numbers of clones that are looked at one by one; of more, whole blocks are bounded by their ends
MOST = 10**10  # reports beyond these are not counted: fewer clones are the worse case
MOST_EPSILON = 700.0  # beyond it e^epsilon is no float; delta only falls
LEVELS = 4096  # of the continued fraction, at most
ROUNDING = 2.0**-40  # covers exponentials and thresholds, each relative to a term


@dataclass(frozen=True, slots=True)
class Crowd:
    """Numbers of clones in blocks: the least and the largest of each, and its probability, from below and above."""

    first: Array
    last: Array
    low: Array
    high: Array


@dataclass(frozen=True, slots=True)
class Clones:
    """The privacy curve of n shuffled reports, each epsilon0-differentially private, as an enclosure.

    Guarantee: `high` ends hold for every such collection under the relation "replace"; `low` ends are below the curve
    of the two worlds above, so their distance is all that rounding costs.
    """

    epsilon0: float
    reports: int
    theorem: Theorem = "2023"

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return lower and upper bounds of delta at epsilon."""
        if epsilon >= self.epsilon0:
            return 0.0, 0.0
        if epsilon > MOST_EPSILON:
            return 0.0, self.delta(MOST_EPSILON)[1]
        crowd = _crowd(self.epsilon0, min(self.reports, MOST), self.theorem)
        low = float(crowd.low @ _conditional(crowd.last, self.epsilon0, epsilon)[0])
        high = float(crowd.high @ _conditional(crowd.first, self.epsilon0, epsilon)[1])
        return max(0.0, low * (1 - ROUNDING)), min(1.0, high * (1 + ROUNDING) + TAIL)

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return lower and upper bounds of the least epsilon >= 0 that holds at delta."""
        low, high = 0.0, self.epsilon0
        if self.delta(0.0)[1] <= delta:
            return 0.0, 0.0
        while high - low > 1e-7 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle)[1] > delta else (low, middle)
        step = 1e-7 * high
        while low > 0 and self.delta(low)[0] <= delta:  # from the upper bound's place down to the lower bound's
            low, step = max(0.0, low - step), step * 4
        return low, high

    def pair(self, tail: float) -> Pair:
        """Return the two worlds as a dominating pair, counts of like losses put together.

        Guarantee: dominates; what lies in the tails counts as told.
        """
        crowd = _crowd(self.epsilon0, min(self.reports, MOST), self.theorem)
        decay, reach = math.exp(-self.epsilon0), math.sqrt(-2 * math.log(min(tail, 1e-3) / 4)) / 2
        rows = []
        for clones, weight in _thinned(crowd):
            total = clones + 1
            width = reach * math.sqrt(total) + 2
            first, last = max(0, math.floor(total / 2 - width)), min(total, math.ceil(total / 2 + width))
            counts = np.arange(first, last + 1, dtype=np.float64)
            mass = weight * half_mass(total, counts) * (1 + binomial_guard(total))
            # Sums of positive terms: at large epsilon0 a difference from 1 would forget e^-epsilon0.
            here, there = counts + decay * (total - counts), total - counts + decay * counts
            with np.errstate(divide="ignore"):
                losses = np.clip(np.log(here) - np.log(there), -self.epsilon0, self.epsilon0)
            mass *= 2 / (total * (1 + decay))
            rows.append((losses, mass * here, mass * there))
        losses, in_p, in_q = (np.concatenate(column) for column in zip(*rows, strict=True))
        end, rest = np.array([math.inf]), np.array([tail + TAIL])
        return (
            _binned(losses, in_p, in_q).with_lumps(end, end, rest, np.zeros(1)).with_lumps(-end, -end, 0 * rest, rest)
        )


@lru_cache(maxsize=64)
def _crowd(epsilon0: float, reports: int, theorem: Theorem) -> Crowd:
    """Return the law of the number of clones among all reports but hers, in blocks."""
    others = reports - 1
    rate = clone_rate(epsilon0, theorem)
    spread = math.sqrt(-2 * math.log(TAIL / 2))
    # Chernoff: a binomial number is below its mean by x with probability at most e^(-x^2/(2 mean)), above it by x with
    # at most e^(-x^2/(2 (mean + x/3))).
    mean = others * rate
    first = max(0, math.floor(mean - spread * math.sqrt(mean)))
    last = min(others, math.ceil(mean + spread * math.sqrt(mean) + spread**2))
    clones = np.arange(first, last + 1, dtype=np.float64)
    logs = log_choices(others, clones) + special.xlogy(clones, rate) + (others - clones) * math.log1p(-rate)
    masses, guard = np.exp(logs), binomial_guard(others)
    starts = np.unique(np.linspace(0, len(clones), BLOCKS, endpoint=False).astype(np.int64))
    sums = np.add.reduceat(masses, starts)
    return Crowd(clones[starts], clones[np.append(starts[1:], len(clones)) - 1], sums * (1 - guard), sums * (1 + guard))


def _conditional(clones: Array, epsilon0: float, epsilon: float) -> tuple[Array, Array]:
    """Return lower and upper bounds of delta_c(epsilon)."""
    growth, decay = math.expm1(epsilon), math.exp(-epsilon0)
    threshold = (growth - math.expm1(-epsilon0)) / (-math.expm1(-epsilon0) * (2 + growth))
    # The largest count has the loss epsilon0, above epsilon, however the threshold is rounded.
    t = np.minimum(np.floor((clones + 1) * threshold), clones) + 1
    share = -math.expm1(epsilon - epsilon0) / (1 + decay)
    before = half_mass(clones, t - 1)
    least, most = _tail_over_mass(clones, t)
    ratio = np.maximum(clones - t + 1, 0.0) / t  # P(A = t) / P(A = t - 1)
    # A count at the threshold adds nothing either way, so its rounding moves delta by ROUNDING of the mass.
    guard = binomial_guard(float(clones[-1]))
    low = before * (share - growth * ratio * most - ROUNDING) * (1 - guard)
    high = before * (share - growth * ratio * least + ROUNDING) * (1 + guard)
    return np.maximum(low, 0.0), np.clip(high, 0.0, 1.0)


def _tail_over_mass(c: Array, t: Array) -> tuple[Array, Array]:
    """Enclose P(A >= t) / P(A = t) for A binomial (c, 1/2) and t > c/2, by Gauss's continued fraction.

    The sum over j of (c-t)...(c-t-j+1) / (t+1)...(t+j) is 1/(1 - w_0) with w_k = x_k / (1 + y_k / (1 - w_(k+1))), and
    w_k lies between 0 and x_k < 1, so every start of the recursion encloses it; it ends by itself at k = c - t.
    """
    rest, levels = np.maximum(c - t, 0.0), 32
    while True:
        levels = min(levels, int(rest.max(initial=0)) + 2)
        low, high = np.zeros_like(c), _x(rest, t, levels)
        for k in range(levels - 1, -1, -1):
            x, y = _x(rest, t, k), (k + 1) * (t + rest + k + 1) / ((t + 2 * k + 1) * (t + 2 * k + 2))
            low, high = x / (1 + y / (1 - high)), x / (1 + y / (1 - low))
        low, high = 1 / (1 - low), 1 / (1 - high)
        if levels >= min(LEVELS, rest.max(initial=0) + 2) or (high - low <= 1e-11 * low).all():
            # Each level rounds a few times; errors shrink on the way down since every w falls with the next.
            return low * (1 - ROUNDING), high * (1 + ROUNDING)
        levels *= 4


def _x(rest: Array, t: Array, k: int) -> Array:
    return np.maximum(rest - k, 0.0) * (t + k) / ((t + 2 * k) * (t + 2 * k + 1))


def clone_rate(epsilon0: float, theorem: Theorem) -> float:
    """Return the probability that another report is a clone, rounded down: fewer clones are worse."""
    decay = math.exp(-epsilon0)
    return (decay if theorem == "2021" else 2 * decay / (1 + decay)) * (1 - 2.0**-50)


def half_mass(n: Array | float, k: Array) -> Array:
    """Return the mass of a binomial (n, 1/2) number at k."""
    return np.asarray(np.exp(log_choices(n, k) - np.asarray(n) * math.log(2)))


def log_choices(n: Array | float, k: Array) -> Array:
    """Return the logarithm of the number of ways to choose k of n."""
    total = np.asarray(n, dtype=np.float64)
    return np.asarray(special.gammaln(total + 1) - special.gammaln(k + 1) - special.gammaln(total - k + 1))


def binomial_guard(n: float) -> float:
    """Bound the relative error of a binomial mass: ln Gamma is right to a few units in the last place of its size."""
    return 2.0**-50 * (64 + 8 * float(special.gammaln(n + 2)))


def _thinned(crowd: Crowd) -> list[tuple[int, float]]:
    """Put blocks together until their least number of clones is right to a thousandth, or all are as they were."""
    found: list[tuple[int, float]] = []
    for clones, weight in zip(crowd.first.tolist(), crowd.high.tolist(), strict=True):
        if found and clones + 1 <= (found[-1][0] + 1) * 1.002:
            found[-1] = (found[-1][0], found[-1][1] + weight)
        else:
            found.append((int(clones), weight))
    return found


def _binned(losses: Array, p: Array, q: Array, cells: int = 8192) -> Pair:
    """Put atoms whose losses are alike together, divided between the ends of their cell so that P and Q are kept."""
    order = np.argsort(losses, kind="stable")
    losses, p, q = losses[order], p[order], q[order]
    width = max(float(losses[-1] - losses[0]), 1e-300) / cells
    starts = np.flatnonzero(np.append(True, np.diff(np.floor((losses - losses[0]) / width)) > 0))
    low, high = losses[starts], losses[np.append(starts[1:], len(losses)) - 1]
    p, q = np.add.reduceat(p, starts), np.add.reduceat(q, starts)
    span = np.maximum(-np.expm1(low - high), 2.0**-40)  # of cells with one loss: all goes up, to that loss
    # Exponents that a float cannot hold are cut, which moves mass of P to the upper end; no mass of Q is lost.
    share = (p - q * np.exp(np.minimum(low, 700.0))) / span
    above = np.where(high > low, np.clip(share + p * 2.0**-48 / span, 0.0, p), p)
    below = np.where(high > low, np.clip(p - above + p * 2.0**-48 / span, 0.0, p), 0.0)
    q_above = np.minimum(above * np.exp(np.minimum(-high, 700.0)), q)
    join = np.concatenate
    return atoms(join([low, high]), join([below, above]), join([q - q_above, q_above]))
