"""Pooled: the quantity of several groups together, from those of each: sums add up, means are made again."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.answers.quantity import FunctionQuantity, LinearQuantity, Quantity, RatioQuantity
from discreet.core.errors import BadParameter

_MOMENTS = ("covariance", "correlation", "root")


def pooled(quantities: Sequence[Quantity]) -> Quantity:
    """Return what the groups have together; the interval is that of the sum, not the sum of intervals.

    A mean is a quotient of two sums, a variance a function of several: each of them is added up, and the quotient or
    the function is taken of the totals.
    """
    first = quantities[0]
    if len(quantities) == 1:
        return first
    if isinstance(first, LinearQuantity):
        return _total([each for each in quantities if isinstance(each, LinearQuantity)])
    if isinstance(first, RatioQuantity):
        ratios = [each for each in quantities if isinstance(each, RatioQuantity)]
        above, below = _total([each.above for each in ratios]), _total([each.below for each in ratios])
        return RatioQuantity(above, below, first.low, first.high)
    if isinstance(first, FunctionQuantity) and first.name in _MOMENTS:
        parts = zip(*(each.parts for each in quantities if isinstance(each, FunctionQuantity)), strict=True)
        return FunctionQuantity(
            first.name, tuple(pooled(each) for each in parts), first.parameters, first.low, first.high
        )
    why = "the value of all groups does not follow from the values of each"
    raise BadParameter("total", type(first).__name__, why=why, fix="ask without groups")


def _total(sums: Sequence[LinearQuantity]) -> LinearQuantity:
    terms = tuple(term for each in sums for term in each.terms)
    return LinearQuantity(terms, sum((each.constant for each in sums), Fraction(0)))
