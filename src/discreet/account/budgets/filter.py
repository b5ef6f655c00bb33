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

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.account.budgets.conversion import best_order, renyi_budget
from discreet.account.budgets.cost import (
    NOTHING,
    Amount,
    Cost,
    approximate_renyi,
    approximate_zcdp,
    exact_amount,
    pure,
    renyi,
)
from discreet.account.budgets.exceeded import BudgetExceeded, rounded_down, rounded_up
from discreet.account.numeric.checks import Number, failure, order, positive, positive_failure
from discreet.account.numeric.rounding import decimal, precise
from discreet.core import record as records
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass, fields, replace

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss


@dataclass(frozen=True, slots=True)
class Figures:
    """What one sum of a filter says of itself: in what it counts, how much was spent, and of how much."""

    currency: str
    theorem: str
    spent: Cost
    budget: Cost

    @property
    def remaining(self) -> Cost:
        """What may still be spent."""
        return self.budget - self.spent

    @property
    def left(self) -> Fraction:
        """Which part of the sum is left."""
        return self.remaining.loss / self.budget.loss

    def more(self, cost: Cost) -> int:
        """Return how many more losses of a cost fit, one after the other; those that cost nothing are not counted."""
        pairs = ((self.remaining.loss, cost.loss), (self.remaining.delta, cost.delta))
        return min((int(have // each) for have, each in pairs if each), default=0)


@dataclass(frozen=True, slots=True)
class PrivacyFilter(ABC):
    """What all filters share; `spent` is the cost of everything admitted so far."""

    relation: Relation = field(default="add_remove", kw_only=True)
    spent: Amount = field(default=NOTHING, kw_only=True)

    def __post_init__(self) -> None:
        check_relation(self.relation)
        self._check()

    @abstractmethod
    def _check(self) -> None:
        """Refuse parameters that make no sense."""

    @property
    @abstractmethod
    def figures(self) -> Figures:
        """What is told of the filter: of several sums, the one of which the greatest part is left."""

    @abstractmethod
    def cost(self, loss: PrivacyLoss) -> Amount:
        """Return what a loss costs as this filter counts, or refuse a loss that has no such cost."""

    @abstractmethod
    def amount(self, loss: str, delta: str) -> Amount:
        """Read an amount that was stored as `Amount.texts`."""

    @abstractmethod
    def charged(self, cost: Amount) -> Self | None:
        """Return the filter after a cost, None where there is no room for it."""

    @abstractmethod
    def holding(self, spent: Amount) -> Self:
        """Return the filter with all that was ever charged to it, also where it would not have admitted that."""

    @abstractmethod
    def more(self, loss: PrivacyLoss) -> int:
        """Return how many more questions of a loss would be admitted, one after the other."""

    @abstractmethod
    def takes(self, loss: PrivacyLoss) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return what a loss takes of each sum that can count it, and how much that sum holds in all."""

    @abstractmethod
    def _refused(self, cost: Amount) -> BudgetExceeded:
        """Return the refusal of a loss for which there is no room."""

    def fits(self, loss: PrivacyLoss) -> bool:
        """Whether `admit` would admit the loss."""
        return self.charged(self._checked_cost(loss)) is not None

    def admit(self, loss: PrivacyLoss) -> Self:
        """Return the filter after the loss, or refuse with what was requested, what remains and what would fit.

        Guarantee: all that one filter has ever admitted is together within its budget, however it was chosen.
        """
        cost = self._checked_cost(loss)
        after = self.charged(cost)
        if after is None:
            raise self._refused(cost)
        return after

    @property
    def nothing(self) -> Amount:
        """What a filter has spent that is new."""
        return NOTHING

    @property
    def remaining(self) -> Cost:
        """What may still be spent, of the sum that `figures` tells of."""
        return self.figures.remaining

    @property
    @abstractmethod
    def full(self) -> Amount:
        """What a filter has spent that admits nothing more."""

    def renewed(self) -> Self:
        """Return the filter with nothing spent."""
        return replace(self, spent=self.nothing)

    def to_json(self) -> str:
        """Write the filter, with all it has admitted, as versioned JSON; numbers are exact."""
        loss, delta = self.spent.texts()
        spent = {"loss": loss, "delta": delta}
        return records.write(
            "filter", {"kind": type(self).__name__, "relation": self.relation, "spent": spent} | self._parameters()
        )

    @staticmethod
    def from_json(text: str) -> PrivacyFilter:
        """Read what `to_json` wrote, checking it again."""
        from discreet.account.budgets.union import UnionFilter

        record = records.read("filter", text)
        name = record.get("kind") if isinstance(record, dict) else None
        kinds: dict[str, type[PrivacyFilter]] = {kind.__name__: kind for kind in SingleFilter.__subclasses__()}
        kinds[UnionFilter.__name__] = UnionFilter
        if not isinstance(name, str) or name not in kinds:
            raise UnknownName("filter", str(name), kinds)
        return kinds[name].from_record(record)

    @classmethod
    def from_record(cls, record: object) -> Self:
        """Read a stored record of this kind, checking it again."""
        own = [each.name for each in fields(cls) if each.name not in ("relation", "spent")]
        known = records.fields("filter", record, ("kind", "relation", "spent", *own))
        spent = records.fields("spent", known["spent"], ("loss", "delta"))
        made = cls(**cls._read({name: known[name] for name in own}), relation=check_relation(known["relation"]))
        held = made.amount(spent["loss"], spent["delta"])
        if made.holding(held).spent != held:
            why, fix = "more was spent than the budget allows", "pass the text that to_json returned, unchanged"
            raise BadParameter("spent", spent, why=why, fix=fix)
        return replace(made, spent=held)

    @classmethod
    def _read(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        return {name: exact_amount(name, text) for name, text in parameters.items()}

    def _parameters(self) -> dict[str, Any]:
        own = (each.name for each in fields(self) if each.name not in ("relation", "spent"))
        return {name: str(Fraction(getattr(self, name))) for name in own}

    def _checked_cost(self, loss: PrivacyLoss) -> Amount:
        if loss.relation != self.relation:
            why = f"this filter counts losses under the relation {self.relation}"
            raise BadParameter("relation", loss.relation, why=why, fix=f"state the loss under {self.relation}")
        return self.cost(loss)


@dataclass(frozen=True, slots=True)
class SingleFilter(PrivacyFilter):
    """A filter that keeps one sum, in one currency."""

    spent: Cost = field(default=NOTHING, kw_only=True)

    currency: ClassVar[str]
    theorem: ClassVar[str]

    @property
    @abstractmethod
    def budget(self) -> Cost:
        """The most that may be spent."""

    @abstractmethod
    def _offer(self, remaining: Fraction) -> str:
        """Say what would fit, in the words of someone about to choose noise."""

    @abstractmethod
    def cost(self, loss: PrivacyLoss) -> Cost:
        """Return what a loss costs in this filter's currency, or refuse a loss that has no such cost."""

    @property
    def full(self) -> Cost:
        """What a filter has spent that admits nothing more: its budget."""
        return self.budget

    @property
    def figures(self) -> Figures:
        """What is told of the filter: its one sum."""
        return Figures(self.currency, self.theorem, self.spent, self.budget)

    def amount(self, loss: str, delta: str) -> Cost:
        """Read an amount that was stored as `Cost.texts`."""
        return Cost(exact_amount("loss", loss), exact_amount("delta", delta))

    def charged(self, cost: Amount) -> Self | None:
        """Return the filter after a cost, None where there is no room for it."""
        assert isinstance(cost, Cost)
        if not cost.within(self.remaining):
            return None
        # A sum that needs very many digits is rounded up, perhaps past the budget, which it did not exceed.
        return replace(self, spent=(self.spent + cost).least(self.budget))

    def holding(self, spent: Amount) -> Self:
        """Return the filter with all that was ever charged to it; one that was charged more than it holds is full."""
        assert isinstance(spent, Cost)
        return replace(self, spent=spent if spent.within(self.budget) else self.budget)

    def more(self, loss: PrivacyLoss) -> int:
        """Return how many more questions of a loss would be admitted, one after the other."""
        return self.figures.more(self.cost(loss))

    def takes(self, loss: PrivacyLoss) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return what a loss takes of the sum, and how much that holds in all."""
        return ((self.cost(loss).loss, self.budget.loss),)

    def _refused(self, cost: Amount) -> BudgetExceeded:
        assert isinstance(cost, Cost)
        if cost.loss > self.remaining.loss:
            offer, each = self._offer, (self.currency, cost.loss, self.remaining.loss, self.budget.loss)
        else:
            offer, each = offered_delta, ("delta", cost.delta, self.remaining.delta, self.budget.delta)
        return exceeded(*each, theorem=self.theorem, offer=offer)


def exceeded(
    currency: str,
    requested: Fraction,
    remaining: Fraction,
    budget: Fraction,
    *,
    theorem: str,
    offer: Callable[[Fraction], str],
) -> BudgetExceeded:
    """Return a refusal that says what is left, and what that is enough for."""
    fits = "raise the budget, if you may: nothing of this currency is left"
    if remaining > 0:
        fits = f"ask for {offer(remaining)}"
    return BudgetExceeded(currency, requested, remaining, budget=budget, theorem=theorem, fits=fits)


def offered_delta(remaining: Fraction) -> str:
    """Say which delta would fit."""
    return f"delta of at most {rounded_down(remaining)}"


def offered_epsilon(remaining: Fraction) -> str:
    """Say which pure epsilon would fit."""
    return f"epsilon of at most {rounded_down(remaining)} (Laplace noise of scale {rounded_up(1 / remaining)})"


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


def offered_renyi(remaining: Fraction, alpha: Fraction) -> str:
    """Say which Renyi epsilon would fit, and with which Gaussian noise."""
    return f"at most {rounded_down(remaining)} at order {rounded_up(alpha)} ({offered_noise(remaining / alpha)})"


def offered_noise(rho: Fraction) -> str:
    """Say which Gaussian noise costs that rho: rho = 1/(2 sigma^2)."""
    with precise():
        return f"Gaussian noise of sigma {rounded_up(Fraction((1 / decimal(2 * rho)).sqrt()))}"
