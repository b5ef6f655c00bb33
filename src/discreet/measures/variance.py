"""Variance: the mean squared distance from the mean, of the values that are not null."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.account.budgets.price import Price
from discreet.answers.quantity import Quantity
from discreet.measures import moments
from discreet.measures.reach import Reach
from discreet.measures.sums import SumMeasure, present, sum_of
from discreet.mechanisms.variance import Variance
from discreet.plan import aggregates as words
from discreet.plan.keys import Tally


def measure(
    name: str,
    aggregate: words.Variance | words.Std,
    price: Price,
    reach: Reach,
    said: Callable[..., Quantity] = moments.variance,
) -> SumMeasure:
    """Return a variance, or what else is `said` of the sums of y and y^2."""
    what = aggregate.of
    low, high, step = reach.grid(what)
    made: dict[str, Any] = {**price.noise(), **reach.contributions()}
    variance = Variance(**reach.bounds(what), rows=reach.size, **made)
    return SumMeasure.of(
        name,
        aggregate,
        price,
        reach,
        variance,
        (sum_of(what), present(what), Tally("product", (what, what))),
        exact=lambda found: variance.exact_from(found[0], found[2], found[1]),
        quantity=lambda noisy: said(noisy, high - low, step=step),
        supposed=lambda rows: _spreads(rows, high - low),
    )


def _spreads(rows: int, width: int) -> list[tuple[int, ...]]:
    """Suppose all values in the middle, at one end, or half of them at each end."""
    middle, far = rows * width * width, 2 * rows * width * width
    return [(width * rows // 2, rows, middle), (0, rows, far), (width * rows // 2, rows, far)]
