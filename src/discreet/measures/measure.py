"""Measure: one aggregate of a question at its price: what it asks of the engine, how it becomes noisy, its words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.answers.column import figure
from discreet.core.value import dataclass
from discreet.measures import registry

if TYPE_CHECKING:
    from discreet.account.budgets.price import Price
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.answers.quantity import Quantity
    from discreet.core.unit import Relation
    from discreet.measures.reach import Reach
    from discreet.measures.request import Found, MeasureScope, Request
    from discreet.plan.aggregates import Aggregate
    from discreet.plan.keys import Tally


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """How far an answer will be off: a half-width (None where it depends on the data), in words, and in ranks."""

    half_width: float | None
    within: str
    ranks: float | None = None


class Measure(ABC):
    """One aggregate of a question, at its own price. All of it is a function of the question and the schema.

    A measure either shares the scan that all `tallies` of a question are found in, or makes a `request` of its own.
    What the engine finds goes through `noisy`, whose mechanism is the only one to look inside.

    Guarantee: `loss` is what all groups together cost, for units that reach as far as was derived.
    """

    __slots__ = ()

    name: str
    kind: str
    about: str
    price: Price
    relation: Relation

    # What is asked and drawn -----------------------------------------------------------------------------------------

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """What is wanted of the scan that measures share; none where `request` makes one of its own."""
        return ()

    def request(self, scope: MeasureScope) -> Request:
        """Return what is asked of the engine, by a measure that shares no scan."""
        raise NotImplementedError(f"{self.kind} is found in the scan that measures share")

    @property
    @abstractmethod
    def label(self) -> str:
        """Where its noise is drawn, among the draws of a debit."""

    @abstractmethod
    def noisy(self, found: Found, groups: int, mark: str) -> list[list[Quantity]]:
        """Return a list of quantities for each of `columns`, group by group; `mark` tells these draws from others.

        Guarantee: `loss`.
        """

    def noisy_together(
        self, pool: Sequence[Measure], found: Found, groups: int, mark: str
    ) -> dict[str, list[Quantity]]:
        """Return the columns of all measures that have this one's label, drawn once; most measures are alone at it.

        Guarantee: `loss`.
        """
        (only,) = pool
        return dict(zip(only.columns, only.noisy(found, groups, mark), strict=True))

    # What the answer has ---------------------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns of the answer."""
        return (self.name,)

    @property
    def title(self) -> str | None:
        """The name of a key column of its own, if it answers with a table of its own."""
        return None

    @property
    def labels(self) -> tuple[object, ...]:
        """What that column lists for every group."""
        return ()

    # Loss and error --------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def loss(self) -> PrivacyLoss:
        """What all groups together cost."""

    @property
    def most_loss(self) -> PrivacyLoss:
        """What it costs at most, whatever the number of rows that its noise is made for."""
        return self._paid()

    def _paid(self) -> PrivacyLoss:
        """Return what its price buys: pure epsilon for Laplace noise of any scale, rho for Gaussian noise."""
        if self.price.epsilon is not None:
            return Pure(self.price.epsilon, relation=self.relation)
        assert self.price.rho is not None
        return Zcdp(self.price.rho, relation=self.relation)

    @abstractmethod
    def half_width(self, beta: float = 0.05, rows: int = 1) -> float:
        """Return what an answer stays within, with probability 1 - beta; in ranks, for quantiles.

        `rows` is how many rows a group has, for what is `sized`.
        """

    @property
    def sized(self) -> bool:
        """Whether the error depends on how many rows there are."""
        return False

    @property
    def least_beta(self) -> float:
        """The least chance that half-widths are right for: simulated points are few, and grids have some slack."""
        return 0.0

    @property
    @abstractmethod
    def spread(self) -> float:
        """The half-width by which mechanisms are compared."""

    def expected(self, rows: int | None) -> ExpectedError:  # noqa: ARG002  (for what is sized)
        """Say how far the answer will be off, for so many rows in a group, if anybody said how many."""
        half = self.half_width()
        return ExpectedError(half, figure(half))

    @property
    def shared(self) -> str:
        """How its price is shared, for people to read; empty where it is its own."""
        return ""

    # Words -----------------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def word(self) -> str:
        """The mechanism's name."""

    @property
    @abstractmethod
    def sensitivity(self) -> str:
        """How far one unit moves it, for people to read."""

    @property
    @abstractmethod
    def noise(self) -> str:
        """The noise, for people to read."""

    def rehearse(self) -> None:
        """Work out all that an answer says but its numbers, so that what cannot be written raises now."""
        texts = self.word, self.about, self.noise, self.sensitivity, str(self.price)
        assert all(texts)

    # Worst neighbours ------------------------------------------------------------------------------------------------

    @property
    def at_ends(self) -> bool:
        """Whether one unit tells most where everybody else's values lie at both ends."""
        return False

    @property
    def trial_tallies(self) -> tuple[Tally, ...]:
        """What a made-up row is tried out by, to find those that weigh most."""
        return self.tallies

    def weight(self, tallied: Sequence[int]) -> float:  # noqa: ARG002
        """Return how far a row with such `trial_tallies` moves the answer, in units of its noise."""
        return 1.0


def drawn_once(measures: Sequence[Measure]) -> list[list[Measure]]:
    """Return measures by the label that their noise is drawn at: those of one label cost what one of them costs."""
    found: dict[str, list[Measure]] = {}
    for each in measures:
        found.setdefault(each.label, []).append(each)
    return list(found.values())


def measure_of(name: str, aggregate: Aggregate, price: Price, reach: Reach) -> Measure:
    """Return the measure of one aggregate at its own price: the one that the folder has under the aggregate's word."""
    return _entry(aggregate.word)(name, aggregate, price, reach)


@cache
def _entry(word: str) -> Callable[[str, Aggregate, Price, Reach], Measure]:
    return cast("Callable[[str, Aggregate, Price, Reach], Measure]", registry[word])
