"""Accountants: every way from a loss to epsilon and delta, each valid by itself and refused where it does not apply."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import numpy as np

from discreet.account.numeric import normal, orders, pld
from discreet.account.numeric.checks import Number
from discreet.account.numeric.pair import Array
from discreet.account.numeric.pilot import Leaf
from discreet.account.numeric.profile import Profile
from discreet.account.numeric.rounding import sloped, up
from discreet.account.numeric.scipy_functions import special
from discreet.core.value import dataclass

Method = Literal["gaussian", "optimal", "pld", "renyi", "zcdp", "pure"]
METHODS: tuple[Method, ...] = ("gaussian", "optimal", "pld", "renyi", "zcdp", "pure")


class ClosedForm(Protocol):
    """A privacy profile in closed form."""

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon >= 0 that holds at delta, rounded up."""

    def delta(self, epsilon: float) -> float:
        """Return the delta at epsilon, rounded up."""


@dataclass(frozen=True, slots=True)
class Responses:
    """The exact profile of `count` randomized responses (Kairouz, Oh, Viswanath 2015, Theorem 3.3)."""

    each: float
    count: int

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon >= 0 that holds at delta, rounded up."""
        return self._profile().epsilon(delta)

    def delta(self, epsilon: float) -> float:
        """Return the delta at epsilon, rounded up."""
        return self._profile().delta(epsilon)

    def _profile(self) -> Profile:
        # Truths outnumber lies by count - 2 lies, and lies are binomial. ln C(count, lies) comes from ln Gamma, whose
        # rounding, relative to its size, is covered by raising all masses.
        each, count = self.each, self.count
        lies = np.arange(count, -1, -1.0)
        most = float(special.gammaln(count + 1))
        ways = most - special.gammaln(lies + 1) - special.gammaln(count - lies + 1)
        logs = ways - lies * each - count * math.log1p(math.exp(-each))
        guard = 2.0**-50 * (16 + 4 * most + 2 * count * min(each, 1.0))
        return Profile((count - 2 * lies) * each * (1 + 2.0**-52), np.exp(logs) * (1 + guard))


@dataclass(frozen=True, slots=True)
class KnownLoss:
    """What is known of a loss, each in the form one accountant needs; None where it is not known.

    `slack` is the probability with which nothing is promised; the other facts are about the rest. Only `directions` is
    about the whole: it holds, for each way in which two neighbours may differ, the dominating pairs of all parts;
    `exact` says that they are attained, so no other accountant can be tighter.
    """

    slack: float
    peak: float
    mu: float | None = None
    closed: ClosedForm | None = None
    directions: tuple[Sequence[Leaf], ...] | None = None
    exact: bool = True
    divergence: orders.Divergence | None = None
    orders: Array | None = None
    rho: Callable[[], Number | None] = lambda: None

    def methods(self) -> tuple[Method, ...]:
        """Return the accountants that apply, the tightest first."""
        return tuple(method for method in METHODS if self.applies(method))

    def applies(self, method: Method) -> bool:
        """Whether an accountant supports every part."""
        match method:
            case "gaussian":
                return self.mu is not None and self.slack == 0
            case "optimal":
                return self.closed is not None
            case "pld":
                return self.directions is not None
            case "renyi":
                return self.divergence is not None
            case "zcdp":
                return self.rho() is not None
            case "pure":
                return math.isfinite(self.peak)

    def default(self) -> tuple[Method, ...]:
        """Return the accountants whose least answer is given unless one is asked for by name."""
        first = next((method for method in METHODS if self.applies(method)), None)
        if first is None:
            return ()
        return ("pld", "renyi") if first == "pld" and not self.exact and self.applies("renyi") else (first,)

    def epsilon(self, method: Method, delta: float) -> float:
        """Return epsilon at delta > 0 by one accountant."""
        if delta < self.slack:  # the numerical accountant alone knows that sampling makes failures rarer
            return _EPSILON[method](self, delta) if method == "pld" else math.inf
        # Losses that fail with probability slack keep their promise otherwise: delta = slack + (1 - slack) rest.
        rest = (delta - self.slack) / (1 - self.slack) * (1 - 2.0**-50) if self.slack < 1 else 0.0
        if self.peak == 0 or rest == 0:
            return self.peak
        return min(self.peak, _EPSILON[method](self, delta if method == "pld" else rest))

    def delta(self, method: Method, epsilon: float) -> float:
        """Return delta at epsilon by one accountant."""
        if epsilon >= self.peak:
            return self.slack
        found = _DELTA[method](self, epsilon)
        return found if method == "pld" else min(1.0, (self.slack + (1 - self.slack) * found) * (1 + 2.0**-50))


def _gaussian(case: KnownLoss) -> float:
    assert case.mu is not None
    return case.mu


def _closed(case: KnownLoss) -> ClosedForm:
    assert case.closed is not None
    return case.closed


def _leaves(case: KnownLoss) -> tuple[Sequence[Leaf], ...]:
    assert case.directions is not None
    return case.directions


def _divergence(case: KnownLoss) -> orders.Divergence:
    assert case.divergence is not None
    return case.divergence


def _concentrated(case: KnownLoss) -> orders.Divergence:
    rho = case.rho()
    assert rho is not None
    slope = up(rho)
    return lambda alphas: sloped(slope, alphas)


_EPSILON: dict[Method, Callable[[KnownLoss, float], float]] = {
    "gaussian": lambda case, delta: normal.epsilon(_gaussian(case), delta),
    "optimal": lambda case, delta: _closed(case).epsilon(delta),
    "pld": lambda case, delta: max(pld.epsilon(leaves, delta) for leaves in _leaves(case)),
    "renyi": lambda case, delta: orders.epsilon(_divergence(case), delta, case.orders),
    "zcdp": lambda case, delta: orders.epsilon(_concentrated(case), delta),
    "pure": lambda case, _: case.peak,
}
_DELTA: dict[Method, Callable[[KnownLoss, float], float]] = {
    "gaussian": lambda case, epsilon: normal.delta(_gaussian(case), epsilon),
    "optimal": lambda case, epsilon: _closed(case).delta(epsilon),
    "pld": lambda case, epsilon: max(pld.delta(leaves, epsilon) for leaves in _leaves(case)),
    "renyi": lambda case, epsilon: orders.delta(_divergence(case), epsilon, case.orders),
    "zcdp": lambda case, epsilon: orders.delta(_concentrated(case), epsilon),
    "pure": lambda _case, _epsilon: 1.0,  # below the peak nothing is known
}
