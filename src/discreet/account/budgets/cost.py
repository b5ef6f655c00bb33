"""Charges: what a loss costs in each currency a filter can count, as exact rationals that are never too small."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from discreet.account.numeric.checks import Number
from discreet.account.numeric.rounding import up
from discreet.core.errors import BadParameter, Refusal
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss

# Sums of fractions with unlike denominators grow without end; beyond this many bits a sum is rounded up.
_MOST_BITS, _KEPT_BITS = 4096, 2048

# Divergences are bounds up to the rounding of the last few products.
_LAST_ROUNDING = 1 + Fraction(1, 2**50)


class Amount(ABC):
    """What a filter counts: the costs of losses, and their sums; amounts of one filter are added to one another."""

    __slots__ = ()

    @property
    @abstractmethod
    def loss(self) -> Fraction:
        """What was counted; of several sums, by the first that has not ended."""

    @property
    @abstractmethod
    def delta(self) -> Fraction:
        """The delta of approximate parts."""

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    @abstractmethod
    def reaches(self, least: Self, share: Fraction) -> bool:
        """Whether it is nowhere below that share of another amount."""

    @abstractmethod
    def most(self, other: Self) -> Self:
        """Return what is nowhere below either of two amounts."""

    @abstractmethod
    def texts(self) -> tuple[str, str]:
        """Return the amount as it is stored: what was counted, and the delta of approximate parts."""


@dataclass(frozen=True, slots=True)
class Cost(Amount):
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

    def reaches(self, least: Cost, share: Fraction) -> bool:
        """Whether neither amount is below that share of the least."""
        return self.loss >= least.loss * share and self.delta >= least.delta * share

    def most(self, other: Cost) -> Cost:
        """Return the larger of each amount."""
        return Cost(max(self.loss, other.loss), max(self.delta, other.delta))

    def least(self, other: Cost) -> Cost:
        """Return the smaller of each amount."""
        return Cost(min(self.loss, other.loss), min(self.delta, other.delta))

    def texts(self) -> tuple[str, str]:
        """Return the two amounts as they are stored."""
        return str(self.loss), str(self.delta)


NOTHING = Cost()


def tidy(amount: Fraction) -> Fraction:
    """Return the amount itself, or the next one up that needs fewer digits if it needs very many."""
    if amount.denominator.bit_length() <= _MOST_BITS:
        return amount
    return Fraction(-(-amount.numerator * 2**_KEPT_BITS // amount.denominator), 2**_KEPT_BITS)


def exact_amount(name: str, text: object) -> Fraction:
    """Read an amount that was stored as text."""
    if not isinstance(text, str) or not re.fullmatch(r"\d{1,4000}(/0*[1-9]\d{0,3999})?", text):
        why, fix = "it is not an exact number of zero or more", "pass the text that to_json returned, unchanged"
        raise BadParameter(name, text, why=why, fix=fix)
    return Fraction(text)


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


def approximate_gaussian(loss: PrivacyLoss) -> Cost:
    """Return the mu^2 of a loss in Gaussian privacy, where it does not fail, and how likely it fails.

    Guarantee: each part is mu-Gaussian private with its mu^2, and adaptively all parts are with the sum (Smith and
    Thakurta 2022). Anything epsilon-private is mu-Gaussian private with mu^2 = pi/2 epsilon^2. Proof. Its tests are no
    better than those of randomized response, whose curve has one corner, at error rates 1/(1 + e^epsilon) both: so
    mu = 2 Phi^-1(1/(1 + e^-epsilon)) is enough. And 1/(1 + e^-x) <= Phi(c x) for c = sqrt(pi/8) and x >= 0: both are
    1/2 at 0 and 1 at infinity, and the derivative of the difference, (e^(-pi x^2/16) - 1/cosh^2(x/2))/4, is first
    positive and then negative, as 2 ln cosh(x/2) - pi x^2/16 is, whose derivative is concave.
    """
    return _summed(loss, _gaussian)


# Just above pi/2.
_HALF_PI = Fraction(15707964, 10**7)


def _gaussian(part: PrivacyLoss) -> Fraction:
    known = [_HALF_PI * Fraction(part.peak) ** 2] if part.peak < math.inf else []
    if (stated := part.mu_squared) is not None:
        known.append(Fraction(stated))
    if not known:
        raise _uncountable(part, "mu^2", "no Gaussian privacy is known for it", "use a budget of epsilon or of rho")
    return min(known)


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


@lru_cache(maxsize=1024)
def _rho(part: PrivacyLoss) -> Number | None:
    """Return the rho of a loss, which every order of a union asks for."""
    return part.rho


def _renyi(part: PrivacyLoss, alpha: Number) -> Fraction:
    """Return the least that is known: a divergence, the largest loss, or rho times the order."""
    import numpy as np

    # Divergences grow with the order, so rounding it up is safe.
    numerical = part.divergence(np.array([up(Fraction(alpha))])) if part.has_divergence else None
    known = [Fraction(part.peak)] if part.peak < math.inf else []
    # A number so large that its computation overflowed tells nothing; it is not known.
    rho = _rho(part)
    if rho is not None and rho < math.inf:
        known.append(Fraction(rho) * Fraction(alpha))
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
