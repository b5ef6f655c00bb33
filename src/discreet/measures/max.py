"""Max: the largest value that is not null, as near as privacy allows."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.budgets.price import Price
from discreet.measures.quantiles import QuantileMeasure, ranked
from discreet.measures.reach import Reach
from discreet.plan import aggregates as words


def measure(name: str, aggregate: words.Max, price: Price, reach: Reach) -> QuantileMeasure:
    """Return the highest rank that the mechanism can tell from the empty space above it."""
    return ranked(name, aggregate, (Fraction(1),), price, reach, inside=-1)
