"""Charges: what a loss costs in each currency a filter can count, as exact rationals that are never too small."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.account.numeric.checks import Number
from discreet.account.numeric.rounding import up
from discreet.core.errors import Refusal
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss

# Sums of fractions with unlike denominators grow without end; beyond this many bits a sum is rounded up.
_MOST_BITS, _KEPT_BITS = 4096, 2048

# Divergences are bounds up to the rounding of the last few products.
_LAST_ROUNDING = 1 + Fraction(1, 2**50)


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount of a filter's currency, and the delta of approximate parts."""

    loss: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Cost) -> Cost:
        return Cost(tidy(self.loss + other.loss), tidy(self.delta + other.delta))

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.loss - other.loss, self.delta - other.delta)

    def within(self, limit: Cost) -> bool:
        """Whether neither amount exceeds the limit's."""
        return self.loss <= limit.loss and self.delta <= limit.delta


NOTHING = Cost()


def tidy(amount: Fraction) -> Fraction:
    """Return the amount itself, or the next one up that needs fewer digits if it needs very many."""
    if amount.denominator.bit_length() <= _MOST_BITS:
        return amount
    return Fraction(-(-amount.numerator * 2**_KEPT_BITS // amount.denominator), 2**_KEPT_BITS)


class Uncountable(Refusal, ValueError):
    """A loss that has no cost in the currency of a filter or an odometer."""


def pure(loss: PrivacyLoss) -> Cost:
    """Return the pure epsilon of a loss; one that may fail, or has none, is refused."""
    _refuse_slack(loss, "pure epsilon")
    return approximate_pure(loss)


def approximate_pure(loss: PrivacyLoss) -> Cost:
    """Return the pure epsilon of a loss where it does not fail, and how likely it fails."""
    return _summed(loss, _pure)


def approximate_zcdp(loss: PrivacyLoss) -> Cost:
    """Return the rho of a loss where it does not fail, and how likely it fails."""
    return _summed(loss, _zcdp)


def renyi(loss: PrivacyLoss, alpha: Number) -> Cost:
    """Return the Renyi divergence of a loss at one order; a loss that may fail is refused."""
    _refuse_slack(loss, "Renyi epsilon")
    return approximate_renyi(loss, alpha)


def approximate_renyi(loss: PrivacyLoss, alpha: Number) -> Cost:
    """Return the Renyi divergence of a loss, where it does not fail, at one order, and how likely it fails."""
    return _summed(loss, lambda part: _renyi(part, alpha))


def _summed(loss: PrivacyLoss, cost: Callable[[PrivacyLoss], Fraction]) -> Cost:
    """Add up the parts exactly, each as often as it happened."""
    total = NOTHING
    for part, count in loss.parts:
        total += Cost(count * cost(part), count * Fraction(part.slack))
    return total


def _pure(part: PrivacyLoss) -> Fraction:
    if part.peak == math.inf:
        fix = "use a budget of epsilon and delta, or of rho"
        raise _uncountable(part, "pure epsilon", "its privacy loss is unbounded", fix)
    return Fraction(part.peak)


def _zcdp(part: PrivacyLoss) -> Fraction:
    if part.rho is None or not part.rho < math.inf:
        raise _uncountable(part, "rho", "no rho is known for it", "use a budget of epsilon and delta")
    return Fraction(part.rho)


def _renyi(part: PrivacyLoss, alpha: Number) -> Fraction:
    """Return the least that is known: a divergence, the largest loss, or rho times the order."""
    import numpy as np

    # Divergences grow with the order, so rounding it up is safe.
    numerical = part.divergence(np.array([up(Fraction(alpha))])) if part.has_divergence else None
    known = [Fraction(part.peak)] if part.peak < math.inf else []
    # A number so large that its computation overflowed tells nothing; it is not known.
    if part.rho is not None and part.rho < math.inf:
        known.append(Fraction(part.rho) * Fraction(alpha))
    if numerical is not None and numerical[0] < math.inf:
        known.append(Fraction(float(numerical[0])) * _LAST_ROUNDING)
    if not known:
        raise _uncountable(part, "Renyi epsilon", f"none is known at order {float(alpha):g}", "use another order")
    return min(known)


def _refuse_slack(loss: PrivacyLoss, currency: str) -> None:
    if loss.slack:
        why = f"with probability {float(loss.slack):g} it guarantees nothing"
        raise _uncountable(loss, currency, why, "use a budget with a delta")


def _uncountable(loss: PrivacyLoss, currency: str, why: str, fix: str) -> Uncountable:
    kinds = " + ".join(sorted({type(part).__name__ for part, _ in loss.parts}))
    return Uncountable(f"{currency} of {kinds}", why=why, fix=fix, value=loss)
