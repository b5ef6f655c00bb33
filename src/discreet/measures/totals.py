"""Totals: sums whose bound is on what each person adds up to, not on their rows."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.account.budgets.price import Price
from discreet.account.losses.loss import PrivacyLoss
from discreet.answers.quantity import linear
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.measures.reach import Reach, about_of, word_of
from discreet.measures.sums import SumMeasure, first, present, sum_of
from discreet.mechanisms.person_total import PersonTotal
from discreet.plan import aggregates as words
from discreet.plan.keys import Tally
from discreet.plan.to_sql.person_totals import check_totals


@dataclass(frozen=True, slots=True)
class TotalMeasure(SumMeasure):
    """A sum of people's totals, each clamped: whatever rows it is made of, one person adds at most the farther bound.

    Guarantee: the loss of `PersonTotal`, for people in at most `Reach.person_groups` groups, under its relation.
    """

    least: int = 0  # the low bound of a row's value, in steps

    @property
    def loss(self) -> PrivacyLoss:
        """What all groups together cost; the statistic is told the relation itself."""
        return self.statistic.loss

    @property
    def trial_tallies(self) -> tuple[Tally, ...]:
        """A made-up row is tried out by what it adds to a total."""
        (tally,) = self.wanted
        return sum_of(tally.of[0]), present(tally.of[0])

    def weight(self, tallied: Sequence[int]) -> float:
        """Return how far a person of one such row moves the total, in units of the noise."""
        above, counted = tallied
        low, high = self.wanted[0].within or (0, 0)
        moved = min(max(above + self.least * counted, low), high) if counted else 0
        return abs(moved) / float(self.statistic.noises[0][0].scale)


def total_measure(name: str, aggregate: words.Sum, price: Price, reach: Reach) -> TotalMeasure:
    """Return the sum of what each person adds up to in a group, clamped to the bounds of the aggregate."""
    assert aggregate.per_person is not None
    low, high = aggregate.per_person
    if not reach.people:
        why = "rows are protected here, not people, so a person's rows are not told from others"
        raise BadParameter("per_person", [str(low), str(high)], why=why, fix="use clip(low, high) for each row's value")
    least, _, step = reach.grid(aggregate.of)
    statistic = PersonTotal(
        low=low, high=high, step=step, groups=reach.person_groups, relation=reach.relation, **price.noise()
    )
    tallies = (Tally("total", (aggregate.of,), (statistic.grid.low, statistic.grid.high)),)
    check_totals(tallies, reach.columns)
    return TotalMeasure(
        name,
        word_of(aggregate),
        about_of(aggregate),
        statistic,
        tallies,
        price,
        reach.relation,
        exact=first,
        quantity=lambda noisy: linear(noisy[0], statistic.unit),
        supposed=lambda _: [(0,)],
        least=least,
    )
