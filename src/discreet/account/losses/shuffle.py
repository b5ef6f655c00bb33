"""Amplification by shuffling: what local reports reveal once nobody can tell whose is whose."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.account.losses.loss import PrivacyLoss, settle
from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import Number, nonnegative, positive_failure, whole
from discreet.account.numeric.pair import Array, Pair
from discreet.account.numeric.rounding import decimal, precise, raised, up
from discreet.account.numeric.shuffle_bounds import Clones, Theorem
from discreet.account.numeric.shuffle_renyi import moments
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.unit import Relation
from discreet.core.value import dataclass

_ORDERS = np.concatenate([1 + np.geomspace(1e-2, 1, 20), np.geomspace(2, 4096, 200)[1:]])


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Shuffled(PrivacyLoss):
    """Local reports, each epsilon-differentially private, in random order, `honest` of them or more from honest people.

    The conditions are part of the loss: a shuffler that is trusted to permute uniformly and to forget the order, that
    strips times, keys and all else that could tell reports apart, and lets nothing through before `honest` reports of
    one and the same randomizer have come in. Whoever breaks one of them is left with Pure(epsilon).

    Guarantee: under "replace", the curve of `numeric.shuffle_bounds` (Feldman, McMillan, Talwar 2023), and never more
    than the local epsilon, which holds without a shuffler.
    """

    epsilon0: Number
    honest: int

    def __init__(self, epsilon: Number, honest: int, *, relation: Relation = "replace") -> None:
        settle(self, relation, epsilon0=nonnegative("epsilon", epsilon), honest=whole("honest", honest))
        if relation != "replace":
            why = "how many reports there are is public, and the theorem exchanges one of them for another"
            raise BadParameter("relation", relation, why=why, fix="state it under 'replace'")

    @property
    def peak(self) -> Number:
        """The local epsilon."""
        return self.epsilon0

    @property
    def rho(self) -> Number:
        """The largest divergence/order: divergences grow with the order, so between two orders that of the larger."""
        return _rho(up(self.epsilon0), self.honest)

    @property
    def closed(self) -> ShuffleCurve:
        """The curve of the clones."""
        return ShuffleCurve(Clones(up(self.epsilon0), self.honest))

    @property
    def dominated(self) -> bool:
        """By the two worlds of the clones."""
        return True

    def pair(self, tail: float) -> Pair:
        """Return the two worlds of the clones."""
        return _pair(up(self.epsilon0), self.honest, tail)

    def divergence(self, alphas: Array) -> Array:
        """Return the divergences of the two worlds."""
        return _divergence(up(self.epsilon0), self.honest, alphas)

    def group(self, k: int) -> PrivacyLoss:
        """Return the local loss of the group; the loss itself for a group of one.

        Guarantee: k epsilon, which needs no shuffler; that a group is also hidden among clones is not counted.
        """
        if whole("k", k) == 1:
            return self
        return Pure(Fraction(self.epsilon0) * k, relation=self.relation)


@dataclass(frozen=True, slots=True)
class ShuffleCurve:
    """The upper ends of the clones' curve, in the form that accountants ask."""

    clones: Clones

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon >= 0 that holds at delta, rounded up."""
        return self.clones.epsilon(delta)[1]

    def delta(self, epsilon: float) -> float:
        """Return the delta at epsilon, rounded up."""
        return self.clones.delta(epsilon)[1]


def shuffled_epsilon(epsilon: Number, honest: int, delta: Number, *, theorem: str = "2023") -> tuple[float, float]:
    """Return lower and upper bounds of the central epsilon of shuffled reports, by the clones of 2023 or of 2021.

    Guarantee: the upper bound holds, under the conditions of `Shuffled`; the lower one says how much of it is rounding.
    """
    target = -up(-Fraction(positive_failure("delta", delta)))
    found = Clones(up(nonnegative("epsilon", epsilon)), whole("honest", honest), _theorem(theorem)).epsilon(target)
    return found[0], found[1]


def closed_epsilon(epsilon: Number, honest: int, delta: Number) -> float:
    """Return the central epsilon of shuffled reports in closed form (Feldman, McMillan, Talwar 2021, Theorem 3.1).

    With p = e^epsilon and r = ln(4/delta) it is ln(1 + (p-1)/(p+1) (8 sqrt(p r / n) + 8 p / n)) where 16 p r <= n;
    elsewhere nothing is gained, and the local epsilon is returned.

    Guarantee: holds under the conditions of `Shuffled`; `shuffled_epsilon` is always smaller.
    """
    local, reports = nonnegative("epsilon", epsilon), whole("honest", honest)
    slack = positive_failure("delta", delta)
    with precise():
        p, r = decimal(local).exp(), (4 / decimal(slack)).ln()
        if 16 * p * r > reports:
            return up(local)
        growth = (p - 1) / (p + 1) * (8 * (p * r / reports).sqrt() + 8 * p / reports)
        return min(up(local), raised((1 + growth).ln()))


def local_epsilon(epsilon: Number, honest: int, delta: Number) -> float:
    """Return the largest local epsilon whose shuffled reports stay within a central epsilon at delta, rounded down.

    Guarantee: Shuffled(result, honest).epsilon(delta) is at most epsilon.
    """
    wanted, people = up(nonnegative("epsilon", epsilon)), whole("honest", honest)
    target = -up(-Fraction(positive_failure("delta", delta)))
    low, high = wanted, wanted + math.log(people) + 1
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if Clones(middle, people).delta(wanted)[1] <= target else (low, middle)
    return low


@lru_cache(maxsize=64)
def _pair(epsilon: float, honest: int, tail: float) -> Pair:
    return Clones(epsilon, honest).pair(tail)


def _divergence(epsilon: float, honest: int, alphas: Array) -> Array:
    return moments(epsilon, honest).divergence(alphas, epsilon)


@lru_cache(maxsize=64)
def _rho(epsilon: float, honest: int) -> float:
    values = np.append(_divergence(epsilon, honest, _ORDERS), epsilon)
    return float((values / np.concatenate([[1.0], _ORDERS])).max()) * (1 + 2.0**-50)


def _theorem(name: str) -> Theorem:
    match name:
        case "2021" | "2023":
            return name
    raise UnknownName("theorem", str(name), ("2021", "2023"))
