"""Quantiles: measures that choose among the grid's points, in counts of cells, with brackets that are paid for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NoReturn

import numpy as np

from discreet.account.budgets.price import Price, root_below
from discreet.account.losses.composition import under
from discreet.account.losses.loss import PrivacyLoss
from discreet.answers.quantity import BracketedValue, Plain, Quantity
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation
from discreet.core.value import dataclass
from discreet.measures.measure import ExpectedError, Measure
from discreet.measures.reach import Reach, about_of, word_of
from discreet.measures.request import CountsRequest, MeasureScope, Request
from discreet.mechanisms.joint_quantiles import search_together
from discreet.mechanisms.parts.integer_noise import total
from discreet.mechanisms.parts.refinement import Counts, RefinementRequest
from discreet.mechanisms.quantile import MOST_OFFSET, Quantile
from discreet.plan import aggregates as words
from discreet.plan.expressions import Expression
from discreet.plan.keys import Tally
from discreet.plan.to_sql.cells import CellRequest

# A quantile and the two ends of its bracket are bought; of a minimum, or a maximum, one end is the declared bound: no
# mechanism can tell that there is not one record more out there.
_WORDS = {2: "two", 3: "three"}


@dataclass(frozen=True, slots=True)
class QuantileMeasure(Measure):
    """Quantiles of one expression, each found with a bracket: three exponential mechanisms at a third of the price.

    A minimum lies so many ranks inside the data as the mechanism can tell apart; its interval reaches from the declared
    bound to an end that is bought, at half of the price each. A maximum is its mirror.

    Guarantee: the loss of so many `Quantile` mechanisms, for units that reach as far as was derived.
    """

    name: str
    kind: str
    about: str
    of: Expression
    names: tuple[str, ...]
    middle: Quantile
    price: Price
    relation: Relation
    written: Callable[[int], Plain]

    @property
    def columns(self) -> tuple[str, ...]:
        """A column for each quantile."""
        return self.names

    @property
    def label(self) -> str:
        """Where its choices are drawn."""
        return f"column {self.name}/quantile"

    def request(self, scope: MeasureScope) -> Request:
        """Ask for counts of cells, coarse ones first."""
        return CountsRequest(self.name, scope, self.of, self.first_cells)

    def first_cells(self, groups: int) -> list[CellRequest]:
        """Return what the mechanisms ask first about so many groups, each request once; nobody answers."""

        def seen(requests: list[RefinementRequest]) -> NoReturn:
            raise _Seen(requests)

        try:
            search_together(self.bought, seen, groups)
        except _Seen as found:
            return list(dict.fromkeys(CellRequest(*each) for each in found.requests))
        return []

    @property
    def word(self) -> str:
        """The mechanism's name."""
        return "quantile"

    @property
    def bought(self) -> tuple[Quantile, ...]:
        """The mechanisms: at each quantile, below it (but for a minimum) and above it (but for a maximum)."""
        return _bought(self.middle)

    @property
    def loss(self) -> PrivacyLoss:
        """What all groups together cost."""
        return under(total(each.loss for each in self.bought), self.relation)

    @property
    def most_loss(self) -> PrivacyLoss:
        """The same: what a choice costs does not depend on how many rows it covers."""
        return self.loss

    def noisy(self, found: Counts, groups: int, mark: str) -> list[list[Quantity]]:  # noqa: ARG002
        """Return a column of quantities for each quantile, a row for each group, from counts of cells.

        Guarantee: `loss`, by the choices of the exponential mechanisms.
        """
        middle, *ends = search_together(self.bought, found, groups)
        grid = self.middle.grid
        below = np.full_like(middle, grid.low) if self.middle.offset > 0 else ends[0]
        above = np.full_like(middle, grid.high) if self.middle.offset < 0 else ends[-1]
        return [
            [
                BracketedValue(
                    self.written(int(at)),
                    self.written(int(min(low, at))),
                    self.written(int(max(high, at))),
                )
                for low, at, high in zip(below[:, column], middle[:, column], above[:, column], strict=True)
            ]
            for column in range(len(self.names))
        ]

    @property
    def sensitivity(self) -> str:
        """How many ranks one unit moves, for people to read."""
        return f"{self.middle.contributions:,} ranks"

    @property
    def noise(self) -> str:
        """The mechanism, for people to read."""
        each = float(Fraction(self.middle.epsilon)) / len(self.names)
        return f"exponential, epsilon {each:,.4g} each of {_WORDS[2 if self.middle.offset else 3]}"

    @property
    def ranks(self) -> float:
        """How many ranks the ends of the bracket lie from the quantile; of a minimum, the end that is bought."""
        return self.half_width()

    def half_width(self, beta: float = 0.05, rows: int = 1) -> float:  # noqa: ARG002
        """Return `ranks` for a bracket that misses with probability beta at most: the answer is no farther off."""
        return float(abs(self.middle.offset) + self._ends(beta)[1])

    def _ends(self, beta: float) -> tuple[int, int]:
        """Return how many ranks the ends lie below and above the middle; one alone may miss with all of beta."""
        return _ends(self.middle, beta)

    def expected(self, rows: int | None) -> ExpectedError:  # noqa: ARG002
        """Return the error in ranks: how far that is in values depends on the data."""
        return ExpectedError(None, f"{self.ranks:,.0f} ranks", self.ranks)

    @property
    def spread(self) -> float:
        """The half-width by which mechanisms are compared: in ranks."""
        return self.ranks

    def rehearse(self) -> None:
        """Write the ends of the grid as well, and buy the brackets."""
        Measure.rehearse(self)
        for end in (self.middle.grid.low, self.middle.grid.high):
            str(self.written(end))
        assert self.bought

    @property
    def at_ends(self) -> bool:
        """Whether one unit tells most among values at both ends: there it moves the middle farthest."""
        return True

    @property
    def trial_tallies(self) -> tuple[Tally, ...]:
        """Whether a row has a value, and how high it lies."""
        return Tally("present", (self.of,)), Tally("sum", (self.of,))

    def weight(self, tallied: Sequence[int]) -> float:
        """Return 1 for a row that has a value: each moves as many ranks."""
        return float(tallied[0])


def _ends(middle: Quantile, beta: float) -> tuple[int, int]:
    return middle.bracket(2 * beta if middle.offset else beta)[:2]


@lru_cache(maxsize=256)
def _bought(middle: Quantile) -> tuple[Quantile, ...]:
    """Return the mechanisms at a quantile and at the ends of its bracket: they follow from what is declared."""
    below, above = (middle.shifted(end + middle.offset) for end in _ends(middle, 0.05))
    return (middle, *((below,) if middle.offset <= 0 else ()), *((above,) if middle.offset >= 0 else ()))


class _Seen(Exception):
    """Carries the first requests out of a mechanism, before it has drawn anything."""

    def __init__(self, requests: Sequence[RefinementRequest]) -> None:
        super().__init__()
        self.requests = requests


def ranked(
    name: str,
    aggregate: words.Quantile | words.Min | words.Max,
    q: Sequence[Fraction],
    price: Price,
    reach: Reach,
    inside: Literal[-1, 0, 1] = 0,
) -> QuantileMeasure:
    """Return the measure of quantiles; `inside` moves their ranks up or down, as far as can be told apart.

    The very end of the data has no neighbourhood of its own: a minimum goes as far inside as that.
    """
    low, high, step = reach.grid(aggregate.of)
    word, rounds = word_of(aggregate), len(q)

    def made(offset: int = 0) -> Quantile:
        return Quantile(
            q=tuple(q),
            low=low * step,
            high=high * step,
            step=step,
            epsilon=_each(price, (2 if inside else 3) * rounds) * rounds,
            contributions=reach.rows,
            method="separate",
            offset=offset,
        )

    middle = made()
    if 4 * middle.bracket().above > MOST_OFFSET:
        why = "at so low a price the interval of a quantile reaches beyond every table"
        raise BadParameter("epsilon", float(middle.epsilon), why=why, fix="pay more: a larger epsilon, or rho")
    if inside:
        middle = made(inside * middle.bracket().above)
    names = column_names(name, q)
    return QuantileMeasure(
        name, word, about_of(aggregate), aggregate.of, names, middle, price, reach.relation, written_steps(step)
    )


def column_names(name: str, q: Sequence[Fraction]) -> tuple[str, ...]:
    """Return the name of each quantile's column: half_25, half_75 where there are several."""
    return (name,) if len(q) == 1 else tuple(f"{name}_{_percent(each)}" for each in q)


def _each(price: Price, many: int) -> Fraction:
    """Return the epsilon of each of so many mechanisms: equal shares of epsilon, or of rho = epsilon^2 / 8."""
    if price.epsilon is not None:
        return price.epsilon / many
    assert price.rho is not None
    return root_below(8 * price.rho / many)


def _percent(q: Fraction) -> str:
    return f"{float(100 * q):g}".replace(".", "_")


def written_steps(step: Fraction) -> Callable[[int], Plain]:
    """Return how steps are written: as integers where all of them are, as floats otherwise."""
    if step.denominator == 1:
        return lambda steps: steps * step.numerator
    return lambda steps: float(steps * step)
