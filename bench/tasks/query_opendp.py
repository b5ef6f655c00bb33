"""Tasks of query for OpenDP: the same question on the same file, with its own noise, through Polars."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
warnings.simplefilter("ignore", FutureWarning)

INCOME = pl.col("income").fill_nan(0.0).fill_null(0.0)
BOUNDS = (0.0, 200_000.0)
CANDIDATES = [1000.0 * number for number in range(201)]


def _aggregates(question: str) -> list[Any]:
    return {
        "count": [dp.len()],
        "sum": [INCOME.dp.sum(BOUNDS)],
        "mean": [INCOME.dp.sum(BOUNDS), dp.len()],
        "count and sum": [dp.len(), INCOME.dp.sum(BOUNDS)],
        "count by two": [dp.len()],
        "median": [INCOME.dp.median(candidates=CANDIDATES)],
    }[question]


def ask(
    question: str,
    path: str,
    rows: int,
    max_rows: int | None = None,
    max_groups: int | None = None,
    **_: object,
) -> Callable[[], object]:
    """The question, from a file to its noisy answer; a fresh budget every time."""
    by = ["region", "category"] if question == "count by two" else ["region"]
    groups = 1000 if question == "count by two" else 50
    margin = dp.polars.Margin(by=by, invariant="keys", max_length=rows, max_groups=groups)
    # Under person units it does not take keys to be public unless they are joined.
    keys = pl.LazyFrame({"region": [f"R{number:02d}" for number in range(50)]})
    people = {} if max_rows is None else {"identifier": pl.col("user_id")}

    def call() -> object:
        context = dp.Context.compositor(
            data=pl.scan_parquet(path),
            privacy_unit=dp.unit_of(contributions=1, **people),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            margins=[margin],
        )
        query = context.query()
        if max_groups is not None and max_groups != max_rows:
            query = query.truncate_num_groups(max_groups, by=by).truncate_per_group(max_rows, by=by)
        elif max_rows is not None:
            query = query.truncate_per_group(max_rows)
        asked = query.group_by(by).agg(*_aggregates(question))
        return (asked if max_rows is None else asked.with_keys(keys)).release().collect()

    return call
