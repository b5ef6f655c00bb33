"""Ranked measures: quantiles, minimum and maximum: chosen among the grid's points, with brackets that were paid for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.account.loss import PrivacyLoss
from discreet.core.unit import Relation
from discreet.curator.measure import Reach, about_of, number, word_of
from discreet.curator.price import Price, root_below
from discreet.curator.quantity import Bracket, Plain, Quantity
from discreet.mechanisms._refine import Counts
from discreet.mechanisms._relabel import under
from discreet.mechanisms.quantile import Quantile, search_together
from discreet.plan import aggregates as words
from discreet.plan.aggregates import Aggregate
from discreet.plan.expressions import Expression

_ENDS = 3  # a quantile, and the two ends of its bracket


@dataclass(frozen=True, slots=True)
class Ranked:
    """Quantiles of one expression, each found with a bracket: three exponential mechanisms at a third of the price.

    Guarantee: the loss of three `Quantile` mechanisms, for units that reach as far as was derived.
    """

    name: str
    kind: str
    about: str
    of: Expression
    columns: tuple[str, ...]
    middle: Quantile
    price: Price
    relation: Relation
    written: Callable[[int], Plain]

    @property
    def word(self) -> str:
        """The mechanism's name."""
        return "quantile"

    @property
    def three(self) -> tuple[Quantile, Quantile, Quantile]:
        """The mechanisms: below, at and above each quantile."""
        ends = self.middle.bracket()
        return (
            self.middle.shifted(ends.below + self.middle.offset),
            self.middle,
            self.middle.shifted(ends.above + self.middle.offset),
        )

    @property
    def loss(self) -> PrivacyLoss:
        """What all groups together cost."""
        first, *others = (under(each.loss, self.relation) for each in self.three)
        return sum(others, first)

    def answers(self, counts: Counts, groups: int) -> list[list[Quantity]]:
        """Return a column of quantities for each quantile, a row for each group, from counts of cells."""
        below, middle, above = search_together(self.three, counts, groups)
        return [
            [
                Bracket(
                    self.written(int(at)),
                    self.written(int(min(low, at))),
                    self.written(int(max(high, at))),
                )
                for low, at, high in zip(below[:, column], middle[:, column], above[:, column], strict=True)
            ]
            for column in range(len(self.columns))
        ]

    @property
    def sensitivity(self) -> str:
        """How many ranks one unit moves, for people to read."""
        return f"{self.middle.contributions:,} ranks"

    @property
    def noise(self) -> str:
        """The mechanism, for people to read."""
        return f"exponential, epsilon {float(Fraction(self.middle.epsilon)):,.4g} each of three"

    @property
    def ranks(self) -> float:
        """How many ranks the ends of the bracket lie from the quantile."""
        return float(self.middle.bracket().above)

    @property
    def spread(self) -> float:
        """The half-width by which mechanisms are compared: in ranks."""
        return self.ranks


def ranked(name: str, aggregate: Aggregate, price: Price, reach: Reach) -> Ranked:
    """Return the measure of quantiles, of a minimum or of a maximum."""
    assert isinstance(aggregate, words.Quantile | words.Min | words.Max)
    column = number(aggregate.of, reach)
    low, high = column.steps
    step = column.step or Fraction(1)
    asked = aggregate.q if isinstance(aggregate, words.Quantile) else (Fraction(isinstance(aggregate, words.Max)),)
    rounds = len(asked)

    def made(q: Sequence[Fraction], offset: int = 0) -> Quantile:
        return Quantile(
            q=tuple(q),
            low=low * step,
            high=high * step,
            step=step,
            epsilon=_each(price, rounds) * rounds,
            contributions=reach.rows,
            method="separate",
            offset=offset,
        )

    middle = made(asked)
    if not isinstance(aggregate, words.Quantile):
        # The very end has no neighbourhood of its own: go as far inside as the mechanism can tell ranks apart.
        inside = middle.bracket().above
        middle = made(asked, inside if isinstance(aggregate, words.Min) else -inside)
    single = len(asked) == 1
    columns = tuple(name if single else f"{name}_{_percent(q)}" for q in asked)
    return Ranked(
        name,
        word_of(aggregate),
        about_of(aggregate),
        aggregate.of,
        columns,
        middle,
        price,
        reach.relation,
        _writer(step),
    )


def _each(price: Price, rounds: int) -> Fraction:
    """Return the epsilon of every exponential mechanism: equal shares of epsilon, or of rho = epsilon^2 / 8."""
    if price.epsilon is not None:
        return price.epsilon / (_ENDS * rounds)
    assert price.rho is not None
    return root_below(8 * price.rho / (_ENDS * rounds))


def _percent(q: Fraction) -> str:
    return f"{float(100 * q):g}".replace(".", "_")


def _writer(step: Fraction) -> Callable[[int], Plain]:
    """Return how steps are written: as integers where all of them are, as floats otherwise."""
    if step.denominator == 1:
        return lambda steps: steps * step.numerator
    return lambda steps: float(steps * step)
