"""What all privacy filters share: what they have spent, what they admit, and how they are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import field
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

from discreet.account.budgets.cost import NOTHING, Amount, Cost, exact_amount
from discreet.account.budgets.exceeded import BudgetExceeded, rounded_down, rounded_up
from discreet.account.numeric.rounding import decimal, precise
from discreet.core import record as records
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass, fields, replace

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss

# Every kind of filter and the module that defines it, imported when a stored filter of that kind is read.
KINDS: Mapping[str, str] = {
    "ApproxFilter": "filter",
    "PureFilter": "filter",
    "RenyiFilter": "filter",
    "UnionFilter": "union",
    "ZcdpFilter": "filter",
}


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
        record = records.read("filter", text)
        name = record.get("kind") if isinstance(record, dict) else None
        if not isinstance(name, str) or name not in KINDS:
            raise UnknownName("filter", str(name), KINDS)
        kind: type[PrivacyFilter] = getattr(import_module(f"discreet.account.budgets.{KINDS[name]}"), name)
        return kind.from_record(record)

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


def offered_renyi(remaining: Fraction, alpha: Fraction) -> str:
    """Say which Renyi epsilon would fit, and with which Gaussian noise."""
    return f"at most {rounded_down(remaining)} at order {rounded_up(alpha)} ({offered_noise(remaining / alpha)})"


def offered_noise(rho: Fraction) -> str:
    """Say which Gaussian noise costs that rho: rho = 1/(2 sigma^2)."""
    with precise():
        return f"Gaussian noise of sigma {rounded_up(Fraction((1 / decimal(2 * rho)).sqrt()))}"
