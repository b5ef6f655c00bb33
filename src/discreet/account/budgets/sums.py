"""Sums: what a union of filters counts, each in its own currency, and the delta that each of them costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.account.budgets.conversion import gaussian_delta, renyi_budget
from discreet.account.budgets.cost import (
    Cost,
    Uncountable,
    approximate_gaussian,
    approximate_renyi,
    exact_amount,
    pure,
)
from discreet.account.budgets.exceeded import rounded_down, rounded_up
from discreet.account.budgets.privacy_filter import offered_epsilon, offered_noise, offered_renyi
from discreet.account.numeric.checks import Number, order, positive, positive_failure
from discreet.core import record as records
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.value import dataclass

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss


@dataclass(frozen=True, slots=True)
class FilterSum(ABC):
    """One sum of a union: losses whose sum stays within `room` are together (epsilon, delta)-private, but for a pool.

    `pooled` says whether approximate parts may be counted: their delta is then taken from the union's pool.
    """

    epsilon: Number

    kind: ClassVar[str]
    theorem: ClassVar[str]
    pooled: ClassVar[bool] = True

    @property
    def delta(self) -> Fraction:
        """The part of the budget's delta that turning the sum into (epsilon, delta) costs."""
        return Fraction(0)

    @property
    @abstractmethod
    def room(self) -> Fraction:
        """The most that the sum may come to, rounded down."""

    @property
    @abstractmethod
    def currency(self) -> str:
        """In what it counts."""

    @abstractmethod
    def counted(self, loss: PrivacyLoss) -> Cost:
        """Return what a loss costs here, rounded up, or refuse one that has no such cost."""

    @abstractmethod
    def offer(self, remaining: Fraction) -> str:
        """Say what would fit, in the words of someone about to choose noise."""

    def cost(self, loss: PrivacyLoss) -> Fraction | None:
        """Return what a loss costs here; None, which is infinite, for one that cannot be counted."""
        return _cost(self, loss)

    def record(self) -> dict[str, str]:
        """Return what tells it from other sums of the same epsilon, as plain JSON values."""
        return {"sum": self.kind}

    @staticmethod
    def of_record(epsilon: Number, record: object) -> FilterSum:
        """Read what `record` returned, checking it again."""
        kind = record.get("sum") if isinstance(record, dict) else None
        kinds = {each.kind: each for each in (PureSum, RenyiSum, GaussianSum)}
        if not isinstance(kind, str) or kind not in kinds:
            raise UnknownName("sum", str(kind), kinds)
        names = {"pure": (), "renyi": ("alpha", "conversion"), "gaussian": ("mu", "conversion")}[kind]
        known: dict[str, Any] = records.fields("sum", record, ("sum", *names))
        return kinds[kind](epsilon, *(exact_amount(name, known[name]) for name in names))


@dataclass(frozen=True, slots=True)
class PureSum(FilterSum):
    """The sum of pure epsilon: it costs no delta, and approximate parts are infinite here.

    Guarantee: while the sum is at most epsilon, the privacy loss is at most epsilon on every path of answers (Rogers,
    Roth, Ullman, Vadhan 2016).
    """

    kind: ClassVar[str] = "pure"
    theorem: ClassVar[str] = "sum of epsilon; Rogers et al. 2016"
    pooled: ClassVar[bool] = False

    @property
    def room(self) -> Fraction:
        """The epsilon of the budget."""
        return Fraction(self.epsilon)

    @property
    def currency(self) -> str:
        """Pure epsilon."""
        return "epsilon"

    def counted(self, loss: PrivacyLoss) -> Cost:
        """Return the pure epsilon of a loss."""
        return pure(loss)

    def offer(self, remaining: Fraction) -> str:
        """Say which epsilon would fit."""
        return offered_epsilon(remaining)


@dataclass(frozen=True, slots=True)
class RenyiSum(FilterSum):
    """The sum of Renyi epsilon at one order, fixed here permanently, and the delta that converts it.

    Guarantee: while the sum is at most the room, the whole is (epsilon, conversion)-private (Feldman and Zrnic 2021,
    Theorem 3.1; Canonne, Kamath, Steinke 2020, Proposition 12).
    """

    alpha: Number
    conversion: Number

    kind: ClassVar[str] = "renyi"
    theorem: ClassVar[str] = "sum of epsilon at one Renyi order; Feldman and Zrnic 2021"

    def __post_init__(self) -> None:
        order("alpha", self.alpha)
        positive_failure("conversion", self.conversion)
        _check_room(self)

    @property
    def delta(self) -> Fraction:
        """The delta of the conversion."""
        return Fraction(self.conversion)

    @property
    def room(self) -> Fraction:
        """What the budget buys at this order."""
        return renyi_budget(self.epsilon, self.conversion, self.alpha)

    @property
    def currency(self) -> str:
        """Renyi epsilon, of its order."""
        return f"Renyi epsilon of order {rounded_up(Fraction(self.alpha))}"

    def counted(self, loss: PrivacyLoss) -> Cost:
        """Return the Renyi epsilon of a loss at this order."""
        return approximate_renyi(loss, self.alpha)

    def offer(self, remaining: Fraction) -> str:
        """Say which Renyi epsilon would fit."""
        return offered_renyi(remaining, Fraction(self.alpha))

    def record(self) -> dict[str, str]:
        """Return order and delta."""
        return {"sum": self.kind, "alpha": str(Fraction(self.alpha)), "conversion": str(self.delta)}


@dataclass(frozen=True, slots=True)
class GaussianSum(FilterSum):
    """The sum of mu^2, up to a `mu` that is (epsilon, conversion)-private: for Gaussian noise it is the tightest.

    Guarantee: while the sum is at most mu^2, the whole is mu-Gaussian private, however adaptively it was asked (Smith
    and Thakurta 2022), and so (epsilon, conversion)-private. What each loss costs is proved with it: `mu_squared`.
    """

    mu: Number
    conversion: Number

    kind: ClassVar[str] = "gaussian"
    theorem: ClassVar[str] = "sum of mu^2; Smith and Thakurta 2022"

    def __post_init__(self) -> None:
        positive("mu", self.mu)
        positive_failure("conversion", self.conversion)
        if gaussian_delta(self.mu, self.epsilon) > self.conversion:
            why, fix = "its delta at this epsilon is more than its share", "pass what to_json returned, unchanged"
            raise BadParameter("mu", self.mu, why=why, fix=fix)

    @property
    def delta(self) -> Fraction:
        """The delta at which mu has the epsilon of the budget."""
        return Fraction(self.conversion)

    @property
    def room(self) -> Fraction:
        """mu^2."""
        return Fraction(self.mu) ** 2

    @property
    def currency(self) -> str:
        """mu^2."""
        return "mu^2"

    def counted(self, loss: PrivacyLoss) -> Cost:
        """Return the mu^2 of a loss."""
        return approximate_gaussian(loss)

    def offer(self, remaining: Fraction) -> str:
        """Say which mu^2 would fit: twice the rho of Gaussian noise."""
        return f"mu^2 of at most {rounded_down(remaining)} ({offered_noise(remaining / 2)})"

    def record(self) -> dict[str, str]:
        """Return mu and delta."""
        return {"sum": self.kind, "mu": str(Fraction(self.mu)), "conversion": str(self.delta)}


@lru_cache(maxsize=4096)
def _cost(counting: FilterSum, loss: PrivacyLoss) -> Fraction | None:
    try:
        return counting.counted(loss).loss
    except Uncountable:
        return None


def _check_room(counting: RenyiSum) -> None:
    if counting.room <= 0:
        why = "at this order the conversion to epsilon and delta alone costs more than epsilon"
        raise BadParameter("alpha", counting.alpha, why=why, fix="use another order, or a larger epsilon or delta")
