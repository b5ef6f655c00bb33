"""Tasks of accuracy for Discreet: the root mean square error of the measures that answer, on exact numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.answers.functions import value_of
from discreet.core.exact import Exact
from discreet.core.schema import between
from discreet.measures.measure import Measure, measure_of
from discreet.measures.nested_quantiles import NestedQuantiles
from discreet.measures.reach import Reach
from discreet.plan.aggregates import Aggregate

ROWS, PEOPLE, HIGH = 27_000, 2_700, 500
NINE = [place / 10 for place in range(1, 10)]
ASKED: dict[str, Callable[[], Aggregate]] = {
    "count": dp.count,
    "sum": lambda: dp.sum("x"),
    "mean": lambda: dp.mean("x"),
    "people": dp.people,
    "median": lambda: dp.median("x", interval=False),
    "nine quantiles": lambda: dp.quantile("x", *NINE, interval=False),
    "median with its interval": lambda: dp.median("x"),
    "nine quantiles with intervals": lambda: dp.quantile("x", *NINE),
}


@cache
def values() -> np.ndarray:
    """Whole numbers from 0 to 500, normal around 250."""
    normal = NormalDist(250, 80)
    drawn = [round(normal.inv_cdf((place + 0.5) / ROWS)) for place in range(ROWS)]
    return np.clip(np.array(drawn), 0, HIGH)


def rmse(
    question: str, rows: int, runs: int, epsilon: str | None = None, rho: str | None = None
) -> Callable[[], float]:
    """The error of a question at a price, for units of so many rows, over so many runs: in ranks, for quantiles."""
    price = Price.of(epsilon=None if epsilon is None else Fraction(epsilon), rho=None if rho is None else Fraction(rho))
    columns = {"x": between(0, HIGH, nullable=False).named("x")}
    measure = measure_of("value", ASKED[question](), price, Reach(columns, rows, 1, "add_remove", None))
    if isinstance(measure, NestedQuantiles):
        return lambda: _of_ranks(measure, runs)
    return lambda: _of_sums(measure, question, runs)


def _of_sums(measure: Measure, question: str, runs: int) -> float:
    data = values()
    tallied = {"count": (ROWS,), "people": (PEOPLE,)}.get(question, (int(data.sum()), ROWS))
    truth = {"count": ROWS, "people": PEOPLE, "sum": int(data.sum()), "mean": float(data.mean())}[question]
    (column,) = measure.noisy(Exact([tallied] * runs), runs, "mark")
    return math.sqrt(sum((float(value_of(each)) - truth) ** 2 for each in column) / runs)  # type: ignore[arg-type]


def _of_ranks(measure: NestedQuantiles, runs: int) -> float:
    """From the middle of the ranks that a point covers to the quantile's."""
    data = values()
    answers = np.reshape(measure.middle.releases(data, runs), (runs, -1))
    ranks = (np.searchsorted(data, answers, "left") + np.searchsorted(data, answers, "right")) / 2
    targets = np.array([float(q) * ROWS for q in measure.middle.quantiles])
    return float(np.sqrt(((ranks - targets) ** 2).mean()))
