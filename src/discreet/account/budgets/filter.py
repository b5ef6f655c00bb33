"""Privacy filters: budgets that hold although every question, and what it costs, depends on the answers before it.

A filter is a value: `admit` returns the filter after a loss, or refuses. What it has admitted may be run; what it
refuses has not happened. What a filter counts was proved for fully adaptive use:

* `PureFilter`: the sum of epsilon.
* `ZcdpFilter`: the sum of rho, and the sum of the deltas of approximate parts.
* `RenyiFilter`: the sum of epsilon at one order, fixed when the filter is made.
* `ApproxFilter`: an (epsilon, delta) budget, turned into one of the third kind when the filter is made; vaults that
  were made with it keep it.
* `UnionFilter`, in `account.budgets.union`: an (epsilon, delta) budget that holds while one of several sums does.

Sums are exact rationals, so no rounding adds up; costs that are irrational are rounded up before they are added.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from discreet.account.budgets.conversion import best_order, renyi_budget
from discreet.account.budgets.cost import Cost, approximate_renyi, approximate_zcdp, pure, renyi
from discreet.account.budgets.exceeded import rounded_down
from discreet.account.budgets.privacy_filter import PrivacyFilter as PrivacyFilter
from discreet.account.budgets.privacy_filter import SingleFilter, offered_epsilon, offered_noise, offered_renyi
from discreet.account.numeric.checks import Number, failure, order, positive, positive_failure
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss


@dataclass(frozen=True, slots=True)
class PureFilter(SingleFilter):
    """A budget of pure epsilon.

    Guarantee: all that is admitted is together epsilon-differentially private (Rogers, Roth, Ullman, Vadhan 2016,
    the basic filter at delta 0: on every path of answers the privacy loss is at most the sum of epsilon).
    """

    epsilon: Number

    currency: ClassVar[str] = "epsilon"
    theorem: ClassVar[str] = "sum of epsilon; Rogers et al. 2016"

    def _check(self) -> None:
        positive("epsilon", self.epsilon)

    @property
    def budget(self) -> Cost:
        """The epsilon of the filter."""
        return Cost(Fraction(self.epsilon))

    def cost(self, loss: PrivacyLoss) -> Cost:
        """Return the pure epsilon of a loss."""
        return pure(loss)

    def _offer(self, remaining: Fraction) -> str:
        return offered_epsilon(remaining)


@dataclass(frozen=True, slots=True)
class ZcdpFilter(SingleFilter):
    """A budget of concentrated privacy, rho, with a delta for approximate parts.

    Guarantee: all that is admitted is together delta-approximately rho-zCDP (Whitehouse, Ramdas, Rogers, Wu 2023,
    Theorem 1; at delta 0 it follows from Feldman and Zrnic 2021, Theorem 3.1, at every order).
    """

    rho: Number
    delta: Number = 0

    currency: ClassVar[str] = "rho"
    theorem: ClassVar[str] = "sum of rho; Whitehouse et al. 2023"

    def _check(self) -> None:
        positive("rho", self.rho)
        failure("delta", self.delta)

    @property
    def budget(self) -> Cost:
        """The rho and the delta of the filter."""
        return Cost(Fraction(self.rho), Fraction(self.delta))

    def cost(self, loss: PrivacyLoss) -> Cost:
        """Return the rho of a loss and the delta of its approximate parts."""
        return approximate_zcdp(loss)

    def _offer(self, remaining: Fraction) -> str:
        return f"rho of at most {rounded_down(remaining)} ({offered_noise(remaining)})"


@dataclass(frozen=True, slots=True)
class RenyiFilter(SingleFilter):
    """A budget of Renyi privacy at one order, `alpha`, fixed here permanently.

    To admit because *some* order still has room would be to choose the order after seeing answers, and no theorem
    covers that.

    Guarantee: all that is admitted is together (alpha, epsilon)-Renyi private (Feldman and Zrnic 2021, Theorem 3.1).
    """

    alpha: Number
    epsilon: Number

    currency: ClassVar[str] = "Renyi epsilon"
    theorem: ClassVar[str] = "sum of epsilon at one Renyi order; Feldman and Zrnic 2021"

    def _check(self) -> None:
        order("alpha", self.alpha)
        positive("epsilon", self.epsilon)

    @property
    def budget(self) -> Cost:
        """The epsilon of the filter, at its order."""
        return Cost(Fraction(self.epsilon))

    def cost(self, loss: PrivacyLoss) -> Cost:
        """Return the Renyi epsilon of a loss at the filter's order."""
        return renyi(loss, self.alpha)

    def _offer(self, remaining: Fraction) -> str:
        return offered_renyi(remaining, Fraction(self.alpha))


@dataclass(frozen=True, slots=True)
class ApproxFilter(SingleFilter):
    """An (epsilon, delta) budget, enforced as Renyi privacy at one order that is fixed here permanently.

    `delta` is split in two: `conversion` pays for turning Renyi privacy into (epsilon, delta) and the rest is for the
    deltas of approximate parts (half and half, unless said otherwise). At order `alpha` the budget is then

        epsilon - ln(1 - 1/alpha) + ln(conversion alpha)/(alpha - 1)

    (Canonne, Kamath, Steinke 2020, Proposition 12). By default `alpha` is the order at which this buys the most rho; a
    filter on rho would admit nothing that this one refuses, since a loss of rho costs at most alpha rho here, while
    other losses cost less than that.

    Guarantee: all that is admitted is together (epsilon, delta)-differentially private. Proof: split the law of each
    step into a part of weight 1 - delta_i that is Renyi private and a rest. On every path the product of the weights is
    at least 1 - sum of delta_i, so except for that weight the whole is an adaptive composition of Renyi private
    steps, to which Feldman and Zrnic 2021, Theorem 3.1, applies (Whitehouse et al. 2023 argue so for zCDP).
    """

    epsilon: Number
    delta: Number
    conversion: Number = field(default=None, kw_only=True)  # type: ignore[assignment]  # settled in _check
    alpha: Number = field(default=None, kw_only=True)  # type: ignore[assignment]

    currency: ClassVar[str] = "Renyi epsilon"
    theorem: ClassVar[str] = "sum of epsilon at one Renyi order, sum of delta; Feldman and Zrnic 2021"

    def _check(self) -> None:
        positive("epsilon", self.epsilon)
        positive_failure("delta", self.delta)
        if self.conversion is None:
            object.__setattr__(self, "conversion", Fraction(self.delta) / 2)
        if positive_failure("conversion", self.conversion) > self.delta:
            why, fix = f"it is a part of delta, which is {self.delta}", "use at most delta; half of it is usual"
            raise BadParameter("conversion", self.conversion, why=why, fix=fix)
        if self.alpha is None:
            object.__setattr__(self, "alpha", best_order(self.epsilon, self.conversion))
        order("alpha", self.alpha)
        if self.budget.loss <= 0:
            why = "at this order the conversion to epsilon and delta alone costs more than epsilon"
            fix = "leave alpha out, to have the best order chosen; if it was, use a larger epsilon or delta"
            raise BadParameter("alpha", self.alpha, why=why, fix=fix)

    @property
    def budget(self) -> Cost:
        """The Renyi epsilon that the budget buys at its order, and the delta left for approximate parts."""
        room = renyi_budget(self.epsilon, self.conversion, self.alpha)
        return Cost(room, Fraction(self.delta) - Fraction(self.conversion))

    def cost(self, loss: PrivacyLoss) -> Cost:
        """Return the Renyi epsilon of a loss at the filter's order, and the delta of its approximate parts."""
        return approximate_renyi(loss, self.alpha)

    def _offer(self, remaining: Fraction) -> str:
        return offered_renyi(remaining, Fraction(self.alpha))
