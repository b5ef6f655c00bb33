"""Methods side by side: the epsilon of one loss by every theorem and accountant, or why one does not apply."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.account.budgets import compose
from discreet.account.budgets.cost import Cost, approximate_pure
from discreet.account.numeric.checks import failure
from discreet.core.errors import Refusal

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss


@dataclass(frozen=True, slots=True)
class MethodOutcome:
    """What one method makes of a loss: its epsilon and what it is, or no epsilon and why not."""

    method: str
    epsilon: float | None
    note: str


class _NotApplicable(Exception):
    """Why a method says nothing about a loss."""


def compare(loss: PrivacyLoss, delta: Fraction) -> list[MethodOutcome]:
    """Return the epsilon of a loss at delta by every method, the loosest theorem first."""
    failure("delta", delta)
    return [_outcome(name, loss, delta) for name in METHODS]


def _outcome(name: str, loss: PrivacyLoss, delta: Fraction) -> MethodOutcome:
    method, note = METHODS[name]
    if name == "tight":
        note = f"for exactly these mechanisms: {_TIGHT[loss.methods()[0]]}" if loss.methods() else note
    try:
        epsilon = method(loss, delta)
    except _NotApplicable as reason:
        return MethodOutcome(name, None, str(reason))
    except Refusal as refusal:
        return MethodOutcome(name, None, f"{refusal.what}: {refusal.why}")
    if math.isinf(epsilon):
        return MethodOutcome(name, None, f"no epsilon is valid at delta {float(delta):g}")
    return MethodOutcome(name, epsilon, note)


def _basic(loss: PrivacyLoss, delta: Fraction) -> float:
    total = approximate_pure(loss)
    if total.delta > delta:
        raise _NotApplicable(f"the parts alone fail with probability {float(total.delta):g}")
    return compose.basic_sum([(total.loss, 0)]).epsilon


def _homogeneous(loss: PrivacyLoss) -> tuple[int, Cost]:
    """Return k and the (epsilon, delta) of each, for losses of which nothing else is used."""
    costs = {approximate_pure(part) for part, _ in loss.parts}
    if len(costs) > 1:
        raise _NotApplicable("the theorem needs k mechanisms with equal epsilon and delta")
    return sum(count for _, count in loss.parts), costs.pop()


def _square_root(theorem: Callable[..., compose.Guarantee]) -> Callable[[PrivacyLoss, Fraction], float]:
    def method(loss: PrivacyLoss, delta: Fraction) -> float:
        k, each = _homogeneous(loss)
        return theorem(k, each.loss, each.delta, slack=_rest(delta - k * each.delta)).epsilon

    return method


def _optimal(loss: PrivacyLoss, delta: Fraction) -> float:
    k, each = _homogeneous(loss)
    if not each.delta:
        return compose.optimal(k, each.loss, slack=delta).epsilon
    # delta = 1 - (1 - each)^k (1 - slack), solved for a slack that is not too large.
    parts = Fraction(compose.optimal(k, 0, each.delta, slack=0).delta)
    return compose.optimal(k, each.loss, each.delta, slack=_rest((delta - parts) / (1 - parts))).epsilon


def _rest(slack: Fraction) -> Fraction:
    if slack <= 0:
        raise _NotApplicable("the deltas of the parts leave no delta for the theorem's slack")
    return slack


def _by(method: str) -> Callable[[PrivacyLoss, Fraction], float]:
    chosen: Any = method
    return lambda loss, delta: loss.epsilon(delta=delta, method=chosen)


_TIGHT = {
    "gaussian": "closed form of Gaussian noise",
    "optimal": "exact binomial sum",
    "pld": "numerical privacy-loss distribution",
    "renyi": "best Renyi order",
    "zcdp": "sum of rho",
    "pure": "sum of epsilon",
}

METHODS: dict[str, tuple[Callable[[PrivacyLoss, Fraction], float], str]] = {
    "basic": (_basic, "sum of epsilon"),
    "strong": (_square_root(compose.strong), "square root of k; Dwork, Rothblum, Vadhan 2010"),
    "advanced": (_square_root(compose.advanced), "the same with the right constant; Kairouz, Oh, Viswanath 2015"),
    "optimal": (_optimal, "best for any mechanisms of that epsilon and delta; Kairouz, Oh, Viswanath 2015"),
    "zcdp": (_by("zcdp"), "sum of rho, tightly converted; Bun and Steinke 2016"),
    "renyi": (_by("renyi"), "sum at the best Renyi order; Mironov 2017"),
    "tight": (lambda loss, delta: loss.epsilon(delta=delta), "the tightest accountant"),
}
