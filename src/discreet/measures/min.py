"""Min: the smallest value that is not null, as near as privacy allows."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.budgets.price import Price
from discreet.measures.quantiles import QuantileMeasure, ranked
from discreet.measures.reach import Reach
from discreet.plan import aggregates as words


def measure(name: str, aggregate: words.Min, price: Price, reach: Reach) -> QuantileMeasure:
    """Return the lowest rank that the mechanism can tell from the empty space below it."""
    return ranked(name, aggregate, (Fraction(0),), price, reach, inside=1)
