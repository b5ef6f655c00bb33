"""Dominating pairs: two distributions that are at least as far apart as any two outputs on neighbouring tables.

(P, Q) dominates a mechanism if P and Q exceed, at every epsilon, the delta of its outputs on any two neighbours; the
products of dominating pairs dominate compositions, adaptive ones too (Zhu, Dong, Wang 2022, Theorem 10). All that
counts of a pair is the privacy loss ln P/Q and how likely each loss is under P and under Q.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

from discreet.account.numeric.scipy_functions import special
from discreet.core.value import dataclass, replace
from discreet.noise.arrays import NDArray, np

Array: TypeAlias = "NDArray[np.float64]"
Outcome = tuple[Array, Array, Array]  # loss, density (or mass) under P, the same under Q

FAR = 2.0**40  # a loss so large that floats of its size resolve no more than 2^-12


@dataclass(frozen=True, slots=True)
class DensityCurve:
    """The continuous part of a pair: outcomes x in [low, high], over which the loss is monotone.

    `at` maps outcomes to (loss, density of P, density of Q); `position` maps losses back to outcomes. Gauss quadrature
    with `NODES` nodes on panels no wider than `step` is exact to well below 2^-44 of each panel.
    """

    low: float
    high: float
    step: float
    at: Callable[[Array], Outcome]
    position: Callable[[Array], Array]

    def reversed(self) -> DensityCurve:
        """Exchange P and Q."""

        def at(x: Array) -> Outcome:
            loss, p, q = self.at(x)
            return -loss, q, p

        return DensityCurve(self.low, self.high, self.step, at, lambda loss: self.position(-loss))


@dataclass(frozen=True, slots=True)
class Pair:
    """A dominating pair: lumps of probability whose loss is known to lie in an interval, and continuous curves.

    Lump i has mass p[i] under P and q[i] under Q, and a loss in [low[i], high[i]]. What only P can produce has loss
    +infinity, what only Q can produce has loss -infinity; a cut-off tail is a lump from its cut to infinity.

    With `others` it stands for whichever of them and itself is the worst at each epsilon. All losses are multiples of
    `unit`, if that is not zero: a grid that contains them rounds nothing.
    """

    low: Array
    high: Array
    p: Array
    q: Array
    curves: tuple[DensityCurve, ...] = ()
    others: tuple[Pair, ...] = ()
    unit: float = 0.0

    def reversed(self) -> Pair:
        """Exchange P and Q."""
        curves = tuple(curve.reversed() for curve in self.curves)
        others = tuple(other.reversed() for other in self.others)
        return Pair(-self.high, -self.low, self.q, self.p, curves, others, self.unit)

    def with_lumps(self, low: Array, high: Array, p: Array, q: Array) -> Pair:
        """Add lumps."""
        join = np.concatenate
        parts = (join([self.low, low]), join([self.high, high]), join([self.p, p]), join([self.q, q]))
        return replace(self, low=parts[0], high=parts[1], p=parts[2], q=parts[3])

    def with_curves(self, *curves: DensityCurve) -> Pair:
        """Add curves."""
        return replace(self, curves=(*self.curves, *curves))

    def each(self) -> tuple[Pair, ...]:
        """Return itself, alone, and the others."""
        return (replace(self, others=()), *self.others) if self.others else (self,)


def worst(pairs: Iterable[Pair]) -> Pair:
    """Return the pair that stands for the worst of several at each epsilon."""
    first, *others = [each for pair in pairs for each in pair.each()]
    return replace(first, others=tuple(others))


def lumps(*rows: tuple[float, float, float, float]) -> Pair:
    """Return the pair of the given (low, high, p, q)."""
    low, high, p, q = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return Pair(low, high, p, q)


def atoms(losses: Array, p: Array, q: Array, unit: float = 0.0) -> Pair:
    """Return a pair on a countable set, given each loss and its masses."""
    return Pair(losses, losses, p, q, unit=unit)


def response(epsilon: float, delta: float = 0.0) -> Pair:
    """Return the pair of the four-point mechanism: randomized response that tells all with probability delta."""
    truth = (1 - delta) / (1 + math.exp(-epsilon))
    lie = truth * math.exp(-epsilon)
    known = ((math.inf, math.inf, delta, 0.0), (-math.inf, -math.inf, 0.0, delta)) if delta else ()
    return replace(lumps((epsilon, epsilon, truth, lie), (-epsilon, -epsilon, lie, truth), *known), unit=epsilon)


def normal(mu: float, tail: float) -> Pair:
    """Return the pair N(mu, 1), N(0, 1), cut where less than `tail` is left."""
    if mu == 0:
        return lumps((0.0, 0.0, 1.0, 1.0))
    z = math.sqrt(-2 * math.log(tail))
    cut = float(special.ndtr(-z))
    far = float(special.ndtr(-z - mu))

    def loss(x: float) -> float:
        return mu * (x - mu / 2)

    def at(x: Array) -> Outcome:
        root = math.sqrt(2 * math.pi)
        return mu * (x - mu / 2), np.exp(-((x - mu) ** 2) / 2) / root, np.exp(-(x**2) / 2) / root

    def position(losses: Array) -> Array:
        return losses / mu + mu / 2

    # A panel of this width carries an error below (step (z + 3))^8 4!^4 / (9 8!^3) of itself: |He_8(x)| <= (|x| + 3)^8.
    step = min(1 / 64, 0.15 / (z + 3))
    rows = [(-math.inf, loss(-z), far, cut), (loss(mu + z), math.inf, cut, far)]
    if mu <= 2 * z:
        return lumps(*rows).with_curves(DensityCurve(-z, mu + z, step, at, position))
    rows.append((loss(z), loss(mu - z), cut, cut))
    if mu > 2.0**30:  # too far apart for floats to resolve both: all mass is put at the larger loss
        return lumps(*rows, (loss(-z), loss(z), cut, 1.0), (loss(mu - z), loss(mu + z), 1.0, cut))
    clusters = DensityCurve(-z, z, step, at, position), DensityCurve(mu - z, mu + z, step, at, position)
    return lumps(*rows).with_curves(*clusters)


def two_sided(epsilon: float, weight: float, tail: float) -> Pair:
    """Return the stretch that Laplace noise and bounded range share: losses of density weight e^((loss - epsilon)/2).

    They run from -epsilon to epsilon; where epsilon is large the middle, with less than `tail`, becomes a lump.
    """

    def at(x: Array) -> Outcome:
        return x, weight * np.exp((x - epsilon) / 2), weight * np.exp((-x - epsilon) / 2)

    def stretch(low: float, high: float) -> DensityCurve:
        # Panels of a quarter: the eighth derivative is 2^-8 of the density, the error below 1e-16 of the panel.
        return DensityCurve(low, high, 0.25, at, lambda losses: losses)

    reach = -2 * math.log(tail)
    if epsilon <= reach:
        return lumps().with_curves(stretch(-epsilon, epsilon))
    middle = 2 * weight * math.exp(-reach / 2)
    gap = lumps((reach - epsilon, epsilon - reach, middle, middle))
    if epsilon > FAR:  # the ends are too short for floats of that size: all their mass is put at the larger loss
        ends = np.array(
            [[epsilon - reach, epsilon, 2 * weight, middle], [-epsilon, reach - epsilon, middle, 2 * weight]]
        )
        return gap.with_lumps(*ends.T)
    return gap.with_curves(stretch(-epsilon, reach - epsilon), stretch(epsilon - reach, epsilon))


def from_measure(losses: Array, p: Array, infinity: float) -> Pair:
    """Return the symmetric pair whose loss has the given masses under P; what Q then lacks is its alone."""
    with np.errstate(over="ignore"):
        q = np.where(p > 0, p * np.exp(np.minimum(-losses, 700.0)), 0.0)
    # Masses are raised, so a sum near 1 says nothing of a tail that was cut off: by symmetry Q's is that of P.
    rest = max(infinity, 1.0 - float(q.sum()))
    ends = lumps((math.inf, math.inf, infinity, 0.0), (-math.inf, -math.inf, 0.0, rest))
    return ends.with_lumps(losses, losses, p, q)
