"""People: how many different people have rows."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.budgets.price import Price
from discreet.measures.reach import Reach
from discreet.measures.sums import SumMeasure
from discreet.mechanisms.count import Count
from discreet.plan import aggregates as words
from discreet.plan.keys import Tally


def measure(name: str, aggregate: words.People, price: Price, reach: Reach) -> SumMeasure:
    """Return a count of people, who count once in each group; where rows are protected, each row counts."""
    tallies = (Tally("people", ()),)
    if not reach.people:
        return SumMeasure.of(name, aggregate, price, reach, Count(**price.noise(), **reach.contributions()), tallies)
    # People are whole, whatever their rows weigh.
    # So many counts of one each, at equal shares of the price.
    each = Count(**price.share(Fraction(1, reach.people_groups)).noise())
    return SumMeasure.of(name, aggregate, price, reach, each, tallies, times=reach.people_groups, grain=1)
