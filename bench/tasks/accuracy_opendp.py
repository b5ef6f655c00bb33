"""Tasks of accuracy for OpenDP: the root mean square error of its mechanisms, at the scale it finds for a price."""

from __future__ import annotations

import bisect
import math
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from statistics import NormalDist
from typing import Any

import opendp.prelude as dp

dp.enable_features("contrib")
warnings.simplefilter("ignore")

ROWS, PEOPLE, HIGH = 27_000, 2_700, 500
NINE = [place / 10 for place in range(1, 10)]


@cache
def values() -> list[int]:
    """Whole numbers from 0 to 500, normal around 250."""
    normal = NormalDist(250, 80)
    return [min(max(round(normal.inv_cdf((place + 0.5) / ROWS)), 0), HIGH) for place in range(ROWS)]


def rmse(
    question: str, rows: int, runs: int, epsilon: str | None = None, rho: str | None = None
) -> Callable[[], float]:
    """The error of a question at a price, for units of so many rows, over so many runs: in ranks, for quantiles."""
    price = float(epsilon if epsilon is not None else rho or 0)
    laplace = epsilon is not None
    if question in ("median", "nine quantiles"):
        shares = [0.5] if question == "median" else NINE
        mechanisms = [_quantile(share, rows, price / len(shares), laplace) for share in shares]
        return lambda: _ranked(mechanisms, shares, runs)
    total = sum(values())
    if question == "mean":  # half of the price for the sum, half for the count
        above, below = (_integer(moved, price / 2, laplace) for moved in (rows * HIGH, rows))
        return lambda: _error([above(total) / max(below(ROWS), 1) for _ in range(runs)], total / ROWS)
    moved, truth = {"count": (rows, ROWS), "people": (1, PEOPLE), "sum": (rows * HIGH, total)}[question]
    noisy = _integer(moved, price, laplace)
    return lambda: _error([noisy(truth) for _ in range(runs)], truth)


def _integer(moved: int, price: float, laplace: bool) -> Callable[[int], int]:
    """The mechanism for an integer that one unit moves so far."""
    make: Any = dp.m.make_laplace if laplace else dp.m.make_gaussian
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    scale = dp.binary_search_param(lambda scale: make(*space, scale=scale), d_in=moved, d_out=price)
    mechanism: Callable[[int], int] = make(*space, scale=scale)
    return mechanism


def _quantile(share: float, rows: int, price: float, laplace: bool) -> Callable[[Sequence[int]], int]:
    """The mechanism that chooses among all points of the grid."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    measure = dp.max_divergence() if laplace else dp.zero_concentrated_divergence()

    def make(scale: float) -> Any:
        return dp.m.make_private_quantile(*space, measure, candidates=list(range(HIGH + 1)), alpha=share, scale=scale)

    mechanism: Callable[[Sequence[int]], int] = make(
        dp.binary_search_param(make, d_in=rows, d_out=price, bounds=(1e-3, 1e9))
    )
    return mechanism


def _ranked(mechanisms: Sequence[Callable[[Sequence[int]], int]], shares: Sequence[float], runs: int) -> float:
    data, squares = values(), 0.0
    for _ in range(runs):
        for answer, share in zip(sorted(mechanism(data) for mechanism in mechanisms), shares, strict=True):
            rank = (bisect.bisect_left(data, answer) + bisect.bisect_right(data, answer)) / 2
            squares += (rank - share * ROWS) ** 2
    return math.sqrt(squares / runs / len(shares))


def _error(found: Sequence[float], truth: float) -> float:
    return math.sqrt(sum((each - truth) ** 2 for each in found) / len(found))
