"""Ranked measures: quantiles, minimum and maximum: chosen among the grid's points, with brackets that were paid for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.account.budgets.price import Price, root_below
from discreet.account.losses.loss import PrivacyLoss
from discreet.answers.quantity import BracketedValue, Plain, Quantity
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation
from discreet.measures.sums import Reach, about_of, number, word_of
from discreet.mechanisms.joint_quantiles import search_together
from discreet.mechanisms.parts.integer_noise import total
from discreet.mechanisms.parts.refinement import Counts
from discreet.mechanisms.parts.relabel import under
from discreet.mechanisms.quantile import MOST_OFFSET, Quantile
from discreet.plan import aggregates as words
from discreet.plan.aggregates import Aggregate
from discreet.plan.expressions import Expression

# A quantile and the two ends of its bracket; of a minimum, or a maximum, one end is the declared bound: no mechanism
# can tell that there is not one record more out there.
_BOUGHT = {"quantile": 3, "median": 3, "min": 2, "max": 2}
_WORDS = {2: "two", 3: "three"}


@dataclass(frozen=True, slots=True)
class QuantileMeasure:
    """Quantiles of one expression, each found with a bracket: three exponential mechanisms at a third of the price.

    A minimum lies so many ranks inside the data as the mechanism can tell apart; its interval reaches from the declared
    bound to an end that is bought, at half of the price each. A maximum is its mirror.

    Guarantee: the loss of so many `Quantile` mechanisms, for units that reach as far as was derived.
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
    def bought(self) -> tuple[Quantile, ...]:
        """The mechanisms: at each quantile, below it (but for a minimum) and above it (but for a maximum)."""
        below, above = (self.middle.shifted(end + self.middle.offset) for end in self._ends(0.05))
        ends = {"min": (above,), "max": (below,)}.get(self.kind, (below, above))
        return self.middle, *ends

    @property
    def loss(self) -> PrivacyLoss:
        """What all groups together cost."""
        return under(total(each.loss for each in self.bought), self.relation)

    def answers(self, counts: Counts, groups: int) -> list[list[Quantity]]:
        """Return a column of quantities for each quantile, a row for each group, from counts of cells."""
        middle, *ends = search_together(self.bought, counts, groups)
        grid = self.middle.grid
        below = np.full_like(middle, grid.low) if self.kind == "min" else ends[0]
        above = np.full_like(middle, grid.high) if self.kind == "max" else ends[-1]
        return [
            [
                BracketedValue(
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
        each = float(Fraction(self.middle.epsilon)) / len(self.columns)
        return f"exponential, epsilon {each:,.4g} each of {_WORDS[_BOUGHT[self.kind]]}"

    @property
    def ranks(self) -> float:
        """How many ranks the ends of the bracket lie from the quantile; of a minimum, the end that is bought."""
        return self.half_width()

    def half_width(self, beta: float = 0.05) -> float:
        """Return `ranks` for a bracket that misses with probability beta at most: the answer is no farther off."""
        return float(abs(self.middle.offset) + self._ends(beta)[1])

    def _ends(self, beta: float) -> tuple[int, int]:
        """Return how many ranks the ends lie below and above the middle; one alone may miss with all of beta."""
        return self.middle.bracket(2 * beta if _BOUGHT[self.kind] == 2 else beta)[:2]

    @property
    def spread(self) -> float:
        """The half-width by which mechanisms are compared: in ranks."""
        return self.ranks


def ranked(name: str, aggregate: Aggregate, price: Price, reach: Reach) -> QuantileMeasure:
    """Return the measure of quantiles, of a minimum or of a maximum."""
    assert isinstance(aggregate, words.Quantile | words.Min | words.Max)
    column = number(aggregate.of, reach)
    low, high = column.steps
    step = column.step or Fraction(1)
    asked = aggregate.q if isinstance(aggregate, words.Quantile) else (Fraction(isinstance(aggregate, words.Max)),)
    word, rounds = word_of(aggregate), len(asked)

    def made(q: Sequence[Fraction], offset: int = 0) -> Quantile:
        return Quantile(
            q=tuple(q),
            low=low * step,
            high=high * step,
            step=step,
            epsilon=_each(price, _BOUGHT[word] * rounds) * rounds,
            contributions=reach.rows,
            method="separate",
            offset=offset,
        )

    middle = made(asked)
    if 4 * middle.bracket().above > MOST_OFFSET:
        why = "at so low a price the interval of a quantile reaches beyond every table"
        raise BadParameter("epsilon", float(middle.epsilon), why=why, fix="pay more: a larger epsilon, or rho")
    if not isinstance(aggregate, words.Quantile):
        # The very end has no neighbourhood of its own: go as far inside as the mechanism can tell ranks apart.
        inside = middle.bracket().above
        middle = made(asked, inside if isinstance(aggregate, words.Min) else -inside)
    single = len(asked) == 1
    columns = tuple(name if single else f"{name}_{_percent(q)}" for q in asked)
    return QuantileMeasure(
        name,
        word,
        about_of(aggregate),
        aggregate.of,
        columns,
        middle,
        price,
        reach.relation,
        _writer(step),
    )


def _each(price: Price, many: int) -> Fraction:
    """Return the epsilon of each of so many mechanisms: equal shares of epsilon, or of rho = epsilon^2 / 8."""
    if price.epsilon is not None:
        return price.epsilon / many
    assert price.rho is not None
    return root_below(8 * price.rho / many)


def _percent(q: Fraction) -> str:
    return f"{float(100 * q):g}".replace(".", "_")


def _writer(step: Fraction) -> Callable[[int], Plain]:
    """Return how steps are written: as integers where all of them are, as floats otherwise."""
    if step.denominator == 1:
        return lambda steps: steps * step.numerator
    return lambda steps: float(steps * step)
