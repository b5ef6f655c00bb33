"""Privacy losses: values that say what happened, from which every accountant says what it cost."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import field
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast, overload

from discreet.account.numeric.checks import Number, failure, nonnegative, whole
from discreet.account.numeric.pair import Array, Pair
from discreet.account.numeric.rounding import sloped, up
from discreet.core import record as records
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass, fields
from discreet.noise.arrays import np

# The numerical accountant is imported by the questions that it answers: most processes ask none.
if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.account.numeric.accountants import ClosedForm, KnownLoss, Method

# Every kind of loss and the module that defines it, imported when a stored loss of that kind is read.
KINDS: Mapping[str, str] = {
    "Approx": "approx",
    "Composed": "composition",
    "DiscreteGaussian": "discrete_gaussian",
    "DiscreteLaplace": "discrete_laplace",
    "Drawn": "subsample",
    "Exponential": "exponential",
    "Gaussian": "gaussian",
    "GaussianDP": "gaussian",
    "Laplace": "laplace",
    "Parallel": "parallel",
    "Pure": "pure",
    "RandomizedResponse": "pure",
    "Renyi": "renyi",
    "Sampled": "subsample",
    "Shuffled": "shuffle",
    "Zcdp": "zcdp",
}


def settle(loss: PrivacyLoss, relation: Relation, **values: object) -> None:
    """Set the fields of a frozen loss while it is being made, and check its relation."""
    object.__setattr__(loss, "relation", check_relation(relation))
    for name, value in values.items():
        object.__setattr__(loss, name, value)


class Unsupported(Refusal, ValueError):
    """A question about a loss that no theorem known here answers."""


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyLoss(ABC):
    """What a mechanism may reveal, under one neighbour relation; losses are added, repeated, sampled and grouped.

    The questions (`epsilon`, `delta`, `zcdp`, `rdp`, `tradeoff`) are answered by the tightest accountant that supports
    every part, or by the one that is named. The facts (`slack`, `peak`, `rho`, `mu`, `mu_squared`, `response`,
    `closed`, `pair`, `divergence`) are what a kind of loss tells the accountants about itself; None means that it
    cannot say.

    A parameter that shares its name with a question is kept as a field ending in 0: Pure(epsilon=1).epsilon0 is 1.

    Guarantee: no answer is below the truth for the mechanisms described, run in any order, each with parameters that
    were fixed in advance.
    """

    relation: Relation = field(default="add_remove", kw_only=True)

    def __post_init__(self) -> None:
        check_relation(self.relation)

    def __repr__(self) -> str:
        given = {
            name: value for name, value in self.parameters().items() if (name, value) != ("relation", "add_remove")
        }
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def parameters(self) -> dict[str, Any]:
        """Return what the constructor was given, by name."""
        names = sorted((each.name for each in fields(self)), key=lambda name: name == "relation")
        return {name.removesuffix("0"): getattr(self, name) for name in names}

    # Algebra ---------------------------------------------------------------------------------------------------------

    def __add__(self, other: object) -> PrivacyLoss:
        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        return cast(PrivacyLoss, import_module("discreet.account.losses.composition").added(self, other))

    def __radd__(self, other: object) -> PrivacyLoss:
        return self if other == 0 else NotImplemented  # so that sum() works

    def __mul__(self, k: int) -> PrivacyLoss:
        if whole("k", k) == 1:
            return self
        return cast(PrivacyLoss, import_module("discreet.account.losses.composition").repeated(self, whole("k", k)))

    __rmul__ = __mul__

    def sampled(self, rate: Number, *, of: int | None = None) -> PrivacyLoss:
        """Return the loss when run once on a random sample: Poisson at a rate, or `rate` rows `of` so many.

        Guarantee: see `discreet.account.losses.subsample`.
        """
        subsample = import_module("discreet.account.losses.subsample")
        return cast(PrivacyLoss, subsample.sampled(self, rate, of))

    @abstractmethod
    def group(self, k: int) -> PrivacyLoss:
        """Return the loss for neighbours that differ in a group of k.

        Guarantee: holds for any k steps of the relation, by the kind's own group theorem.
        """

    @property
    def parts(self) -> tuple[tuple[PrivacyLoss, int], ...]:
        """What happened, and how often."""
        return ((self, 1),)

    # Facts -----------------------------------------------------------------------------------------------------------

    @property
    def slack(self) -> Number:
        """The probability with which nothing is promised; the other facts are about the rest."""
        return 0

    @property
    def peak(self) -> Number:
        """The largest privacy loss (pure epsilon, the divergence of order infinity); infinity if there is none."""
        return math.inf

    @property
    def rho(self) -> Number | None:
        """The least rho of concentrated privacy."""
        return None

    @property
    def mu(self) -> float | None:
        """The mu of Gaussian privacy, where the loss is exactly that of Gaussian noise."""
        return None

    @property
    def mu_squared(self) -> Number | None:
        """A mu^2 for which the loss is mu-Gaussian privacy (Dong, Roth, Su 2022), exactly or more than enough."""
        return None

    @property
    def response(self) -> float | None:
        """The epsilon of randomized response, where the loss (except for its slack) is exactly that."""
        return None

    @property
    def closed(self) -> ClosedForm | None:
        """The profile in closed form."""
        return None

    @property
    def symmetric(self) -> bool:
        """Whether one dominating pair serves both directions, removing a person and adding one."""
        return True

    @property
    def exact(self) -> bool:
        """Whether the dominating pair is attained, so the numerical accountant cannot be beaten."""
        return True

    @property
    def dominated(self) -> bool:
        """Whether there is a dominating pair."""
        return False

    def pair(self, _tail: float) -> Pair:
        """Return the dominating pair when a person is removed, with tails below `tail` cut off."""
        raise self._unsupported(
            "the numerical accountant", "has no dominating pair", "use its Renyi or zCDP accountant"
        )

    def pair_added(self, tail: float) -> Pair:
        """Return the dominating pair when a person is added: the same, where the loss is symmetric."""
        return self.pair(tail)

    @property
    def orders(self) -> Array | None:
        """Renyi orders at which the loss says more than between them."""
        return None

    @property
    def has_divergence(self) -> bool:
        """Whether Renyi divergences are known."""
        return True

    @abstractmethod
    def divergence(self, alphas: Array) -> Array:
        """Return the Renyi divergences of finite orders above 1."""

    def renyi(self, alphas: Array) -> Array:
        """Return the divergences of orders from 1 to infinity, none above what rho and the peak imply."""
        if not self.has_divergence:
            raise self._unsupported("Renyi privacy", "has no divergences", "ask for epsilon by another method")
        peak, rho = up(self.peak), self.rho
        inner = np.clip(alphas, 1 + 1e-6, 1e9)  # divergences grow with the order
        values = self.divergence(inner)
        if rho is not None:
            values = np.minimum(values, sloped(rho, alphas))
        return np.asarray(np.minimum(np.where(alphas > 1e9, peak, values), peak))

    # Questions -------------------------------------------------------------------------------------------------------

    def methods(self) -> tuple[Method, ...]:
        """Return the accountants that support every part, the tightest first."""
        return self._case().methods()

    def epsilon(self, delta: Number, *, method: Method | None = None) -> float:
        """Return the epsilon that holds at delta; infinity where none does.

        Guarantee: what happened is (epsilon, delta)-differentially private under the loss's relation.
        """
        target, case = _down(failure("delta", delta)), self._case()
        if target == 0 and method is None:
            return case.peak if case.slack == 0 else math.inf
        chosen = self._chosen(case, method)
        if target == 0:
            return case.peak if case.slack == 0 and chosen == ("pure",) else math.inf
        found = min(case.epsilon(each, target) for each in chosen)
        if math.isinf(found) and method is None and "renyi" in case.methods():
            found = case.epsilon("renyi", target)  # a delta below what floats can follow
        if math.isinf(found) and method is None and Fraction(self.slack) <= Fraction(delta):
            found = float(up(self.peak))  # exactly the delta that is promised may lie between two floats
        return found

    def delta(self, epsilon: Number, *, method: Method | None = None) -> float:
        """Return the delta that holds at epsilon.

        Guarantee: what happened is (epsilon, delta)-differentially private under the loss's relation.
        """
        target, case = _down(nonnegative("epsilon", epsilon)), self._case()
        return min(case.delta(each, target) for each in self._chosen(case, method))

    def zcdp(self) -> float:
        """Return the least rho for which this is rho-zCDP: the divergence of every order alpha is at most rho alpha.

        Guarantee: what happened is rho-zero-concentrated differentially private (Bun and Steinke 2016).
        """
        self._refuse_slack("zCDP")
        rho = self.rho
        if rho is None:
            raise self._unsupported("zCDP", "has no rho", "ask for epsilon, or state a rho with Zcdp")
        return up(rho)

    @overload
    def rdp(self, alphas: Number) -> float: ...
    @overload
    def rdp(self, alphas: Iterable[Number] | Array) -> Array: ...
    def rdp(self, alphas: Number | Iterable[Number] | Array) -> float | Array:
        """Return the Renyi divergence of one order or of many; order 1 is Kullback-Leibler, infinity the maximum.

        Guarantee: what happened is (alpha, value)-Renyi differentially private (Mironov 2017), at each order.
        """
        self._refuse_slack("Renyi privacy")
        asked = np.atleast_1d(
            np.array(alphas if np.ndim(cast(Any, alphas)) else float(cast(Number, alphas)), dtype=float)
        )
        if not (asked >= 1).all():
            wrong = float(asked[~(asked >= 1)][0])
            raise BadParameter(
                "alphas", wrong, why="a Renyi order is at least 1", fix="use orders such as 2, or infinity"
            )
        values = self.renyi(asked)
        return values if np.ndim(cast(Any, alphas)) else float(values[0])

    def tradeoff(self, fpr: ArrayLike) -> Array:
        """Return the least false-negative rates of tests that tell neighbours apart at the given false-positive rates.

        Guarantee: no test does better; the values are lower bounds of the trade-off curve (Dong, Roth, Su 2022).
        """
        from discreet.account.numeric import pld, tradeoff

        rates = np.asarray(fpr, dtype=float)
        if not ((rates >= 0) & (rates <= 1)).all():
            raise BadParameter("fpr", fpr, why="a rate lies between 0 and 1", fix="use rates in [0, 1]")
        case = self._case()
        if case.mu is not None and case.slack == 0:
            return tradeoff.gaussian(case.mu, rates)
        if case.directions is not None and case.exact:
            profiles = [pld.everywhere(leaves, tradeoff.FLOOR) for leaves in case.directions]
            return tradeoff.of_profiles(profiles, rates)
        return tradeoff.of_curve(lambda epsilon: self.delta(epsilon), rates)

    # JSON ------------------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Write the loss as versioned JSON, with exact numbers."""
        return records.write("loss", self.record())

    @staticmethod
    def from_json(text: str) -> PrivacyLoss:
        """Read what `to_json` wrote, checking it again."""
        try:
            return _from_record(records.read("loss", text))
        except RecursionError as error:
            raise _unreadable("json", text[:60], "it is nested too deeply") from error

    def record(self) -> dict[str, Any]:
        """Return kind and fields as plain JSON values."""
        written = {name: records.encode(value, lambda loss: loss.record()) for name, value in self.parameters().items()}
        return {"kind": type(self).__name__, **written}

    # How the questions reach the facts -------------------------------------------------------------------------------

    def _case(self) -> KnownLoss:
        from discreet.account.numeric.accountants import KnownLoss
        from discreet.account.numeric.composition_inputs import closed_form, directions

        return KnownLoss(
            slack=up(self.slack),
            peak=up(self.peak),
            mu=self.mu,
            closed=closed_form(self.parts),
            directions=directions(self.parts),
            exact=all(part.exact for part, _ in self.parts),
            divergence=self.renyi if self.has_divergence else None,
            orders=self.orders,
            rho=lambda: self.rho,
        )

    def _chosen(self, case: KnownLoss, method: Method | None) -> tuple[Method, ...]:
        if method is None:
            chosen = case.default()
            if not chosen:
                raise self._unsupported(
                    "every accountant", "is supported by none", "state its cost with Approx or Zcdp"
                )
            return chosen
        from discreet.account.numeric.accountants import METHODS

        if method not in METHODS:
            raise UnknownName("method", str(method), METHODS)
        if method not in case.methods():
            known = ", ".join(case.methods()) or "none"
            raise self._unsupported(f"method {method!r}", "has parts that it does not support", f"use one of: {known}")
        return (method,)

    def _refuse_slack(self, view: str) -> None:
        if self.slack:
            why = f"with probability {float(self.slack):g} it guarantees nothing, and {view} has no room for that"
            raise Unsupported(f"{view} of {self._name()}", why=why, fix="ask for epsilon at a larger delta", value=self)

    def _unsupported(self, view: str, why: str, fix: str) -> Unsupported:
        return Unsupported(f"{view} for {self._name()}", why=f"this loss {why}", fix=fix, value=self)

    def _name(self) -> str:
        kinds = sorted({type(part).__name__ for part, _ in self.parts})
        return " + ".join(kinds)


def _down(value: Number) -> float:
    """Return the largest float that is at most a number that is zero or more."""
    return -up(-Fraction(value))


def _from_record(record: object) -> PrivacyLoss:
    name = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(name, str) or name not in KINDS:
        raise UnknownName("loss", str(name), KINDS)
    kind = getattr(import_module(f"discreet.account.losses.{KINDS[name]}"), name)
    names = [each.name.removesuffix("0") for each in fields(kind)]
    known = records.fields("loss", record, ("kind", *names))
    relation = check_relation(known.pop("relation"))
    try:
        given = {key: records.decode(value, _from_record) for key, value in known.items() if key != "kind"}
        return cast(PrivacyLoss, kind(**given, relation=relation))
    except Refusal:
        raise
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise _unreadable(name, record, "a field of it is not of the form that to_json writes") from error


def _unreadable(name: str, value: object, why: str) -> BadParameter:
    return BadParameter(name, value, why=why, fix="pass the text that to_json returned, unchanged")
