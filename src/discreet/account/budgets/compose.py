"""Composition theorems by name: what k mechanisms cost when each is known to cost (epsilon, delta).

Every function returns an upper bound of its theorem's number: the arithmetic is exact or carries sixty digits, and the
last step rounds up. `slack` is the extra probability of failure with which a smaller epsilon is bought.

All four theorems hold when each mechanism is chosen after seeing the outputs before it, as long as its (epsilon, delta)
is one of the k fixed in advance; for parameters that are themselves chosen on the way, see `account.budgets.filter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from discreet.account.numeric.binomial import optimal_epsilon
from discreet.account.numeric.checks import Number, failure, nonnegative, positive_failure, whole
from discreet.account.numeric.rounding import DIGITS, MARGIN, decimal, precise, raised, up, zeros


class Guarantee(NamedTuple):
    """A pair that promises P[A(x) in S] <= e^epsilon P[A(y) in S] + delta for neighbours x, y and every event S."""

    epsilon: float
    delta: float


def basic(k: int, epsilon: Number, delta: Number = 0) -> Guarantee:
    """Add the losses: (k epsilon, k delta).

    Guarantee: k mechanisms, each (epsilon, delta), are together (k epsilon, k delta) (Dwork, Kenthapadi, McSherry,
    Mironov, Naor 2006).
    """
    k, epsilon, delta = _checked(k, epsilon, delta)
    return Guarantee(up(k * Fraction(epsilon)), _total(k * Fraction(delta)))


def basic_sum(parts: Iterable[tuple[Number, Number]]) -> Guarantee:
    """Add the losses of unlike mechanisms, given as (epsilon, delta) pairs: both sums.

    Guarantee: as for `basic`, which is the case of k equal parts.
    """
    pairs = [(Fraction(nonnegative("epsilon", e)), Fraction(failure("delta", d))) for e, d in parts]
    return Guarantee(up(sum(e for e, _ in pairs)), _total(sum((d for _, d in pairs), Fraction(0))))


def strong(k: int, epsilon: Number, delta: Number = 0, *, slack: Number) -> Guarantee:
    """Compose as Dwork, Rothblum and Vadhan (2010, Theorem III.3) did first: the square root of k.

    epsilon sqrt(2 k ln(1/slack)) + k epsilon (e^epsilon - 1), at k delta + slack. Always looser than `advanced`;
    kept because it is what many papers and lectures mean by "strong" or "advanced" composition.

    Guarantee: k mechanisms, each (epsilon, delta), are together the pair returned.
    """
    return _square_root(k, epsilon, delta, slack, _drift_strong)


def advanced(k: int, epsilon: Number, delta: Number = 0, *, slack: Number) -> Guarantee:
    """Compose with the mean loss bounded by randomized response's: the square root of k, with the right constant.

    epsilon sqrt(2 k ln(1/slack)) + k epsilon (e^epsilon - 1)/(e^epsilon + 1), at k delta + slack (Kairouz, Oh,
    Viswanath 2015, Theorem 3.4). For few mechanisms it can exceed `basic`; both hold, so the smaller may be used.

    Guarantee: k mechanisms, each (epsilon, delta), are together the pair returned.
    """
    return _square_root(k, epsilon, delta, slack, _drift_advanced)


def optimal(k: int, epsilon: Number, delta: Number = 0, *, slack: Number) -> Guarantee:
    """Compose with nothing revealed: the least epsilon that holds for every k mechanisms which are (epsilon, delta).

    The theorem lists the points epsilon (k - 2i) of the curve; between them it is the curve of the four-point mechanism
    (`discreet.account.losses.four_point`), which attains it, so the least epsilon is found over the whole line.
    The total delta is 1 - (1 - delta)^k (1 - slack).

    Guarantee: k mechanisms, each (epsilon, delta), are together the pair returned (Kairouz, Oh, Viswanath 2015,
    Theorem 3.3), and no smaller epsilon holds for all such mechanisms at that delta.
    """
    k, epsilon, delta = _checked(k, epsilon, delta)
    slack = failure("slack", slack)
    return Guarantee(optimal_epsilon(k, epsilon, slack), _union(k, delta, slack))


def _drift_strong(epsilon: Decimal) -> Decimal:
    return epsilon.exp() - 1


def _drift_advanced(epsilon: Decimal) -> Decimal:
    decay = (-epsilon).exp()
    return (1 - decay) / (1 + decay)


def _square_root(
    k: int, epsilon: Number, delta: Number, slack: Number, drift: Callable[[Decimal], Decimal]
) -> Guarantee:
    k, epsilon, delta = _checked(k, epsilon, delta)
    slack = positive_failure("slack", slack)
    total = _total(k * Fraction(delta) + Fraction(slack))
    if epsilon == 0:
        return Guarantee(0.0, total)
    # exp(epsilon) - 1 loses as many digits as epsilon has leading zeros.
    with precise(DIGITS + zeros(epsilon)):
        each = decimal(epsilon)
        deviation = each * (-2 * k * decimal(slack).ln()).sqrt()
        return Guarantee(raised(deviation + k * each * drift(each)), total)


def _union(k: int, delta: Number, slack: Number) -> float:
    """Return 1 - (1 - delta)^k (1 - slack), rounded up: the chance that any part, or the slack, fails."""
    if delta == 0 or k <= 64:
        return up(1 - (1 - Fraction(delta)) ** k * (1 - Fraction(slack)))
    with precise(DIGITS + zeros(delta)):
        none = (k * (1 - decimal(delta)).ln()).exp() * (1 - decimal(slack))
        return min(1.0, up((1 - none) * (1 + MARGIN)))


def _total(delta: Fraction) -> float:
    return min(1.0, up(delta))


def _checked(k: object, epsilon: object, delta: object) -> tuple[int, Number, Number]:
    return whole("k", k), nonnegative("epsilon", epsilon), failure("delta", delta)
