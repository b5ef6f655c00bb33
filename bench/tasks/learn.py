"""Tasks of learning: figures of models, trained ten times, and seconds of training through a vault and without one."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

SEEDS = 10
TRAIN = 32_561
NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
ROUNDS = 500  # that the rule asks for at this size and epsilon


def wrong(epsilon: str, delta: str) -> Callable[[], float]:
    """The share of test rows whose class is predicted wrongly: the median over the seeds."""
    return lambda: median(each[0] for each in _scores(epsilon, delta))


def uneven(epsilon: str, delta: str) -> Callable[[], float]:
    """What is missing of the area under the curve: the median over the seeds."""
    return lambda: median(each[1] for each in _scores(epsilon, delta))


@cache
def _scores(epsilon: str, delta: str) -> list[tuple[float, float]]:
    from sklearn.metrics import roc_auc_score

    from discreet import learn

    columns, train, test, target = _adult()
    names = [name for name in columns if name != target]
    found = []
    for _ in range(SEEDS):
        model = learn.LogisticRegression(
            epsilon=float(epsilon),
            delta=float(delta) if delta else None,
            columns={name: columns[name] for name in names},
            classes=[0, 1],
        ).fit(train[names], train[target])
        scores = model.decision_function(test[names])
        found.append((1 - model.score(test[names], test[target]), 1 - roc_auc_score(test[target], scores)))
    return found


def unexplained(epsilon: str, delta: str) -> Callable[[], float]:
    """The share of the variance of hours a week that is not explained on test rows: the median over the seeds."""
    from discreet import learn

    def task() -> float:
        columns, train, test, _ = _adult()
        names = [name for name in columns if name != "hours-per-week"]
        found = []
        for _ in range(SEEDS):
            model = learn.HuberRegressor(
                epsilon=float(epsilon),
                delta=float(delta),
                columns={name: columns[name] for name in names},
                target=columns["hours-per-week"],
            ).fit(train[names], train["hours-per-week"])
            found.append(1 - model.score(test[names], test["hours-per-week"]))
        return median(found)

    return task


@cache
def _adult() -> tuple[dict[str, Any], Any, Any, str]:
    import pandas as pd

    from discreet.core.schema import between, one_of

    folder = Path(os.environ.get("DISCREET_DATA", "../shared/data"))
    sizes = json.loads((folder / "adult-domain.json").read_text())
    frame = pd.read_csv(folder / "adult.csv")
    columns = {
        name: between(0, size - 1, nullable=False) if name in NUMBERS else one_of(*range(size), nullable=False)
        for name, size in sizes.items()
    }
    return columns, frame[:TRAIN], frame[TRAIN:], [*frame.columns][-1]


@cache
def _made(rows: int, columns: int) -> Path:
    """A Parquet file of columns of 16 codes, and a target that follows from some of them."""
    import duckdb

    place = Path(tempfile.mkdtemp()) / "rows.parquet"
    chance = np.random.default_rng(7)  # noqa: TID251  (a made-up table is no secret)
    made = {f"c{at}": chance.integers(0, 16, rows) for at in range(columns)}
    made["y"] = (made["c0"] + made["c1"] + chance.integers(0, 16, rows) > 22).astype(np.int64)
    with duckdb.connect() as connection:
        connection.register("made", made)
        connection.execute(f"COPY (SELECT * FROM made) TO '{place}' (FORMAT parquet)")
    return place


def vault(rows: int, columns: int) -> Callable[[], float]:
    """CPU seconds of a paid model, from the request to its weights."""
    from discreet import learn
    from discreet.account.budgets.budget import Budget
    from discreet.core.schema import one_of
    from discreet.core.unit import row
    from discreet.curator.curator import Curator

    path = _made(rows, columns)

    def task() -> float:
        with Curator(Path(tempfile.mkdtemp()) / "vault.discreet") as curator:
            declared = {f"c{at}": one_of(*range(16), nullable=False) for at in range(columns)}
            declared["y"] = one_of(0, 1, nullable=False)
            budget = Budget(epsilon=2, delta=1e-6)
            curator.register("made", path, unit=row(), columns=declared, budget=budget, rows=rows)
            with curator.session(curator.grant("analyst", "made")) as session:
                start = time.process_time()
                session.fit(session.table("made"), learn.LogisticRegression(), "y", epsilon=1, delta=1e-6)
                return time.process_time() - start

    return task


def loop(rows: int, columns: int) -> Callable[[], float]:
    """CPU seconds of as many rounds in scipy, from the Parquet file to the weights."""
    import duckdb
    from scipy.sparse import csr_array

    path = _made(rows, columns)

    def task() -> float:
        start = time.process_time()
        with duckdb.connect() as connection:
            found = connection.execute(f"SELECT * FROM '{path}'").fetchnumpy()
        places = np.stack([found[f"c{at}"] + 16 * at for at in range(columns)], axis=1).astype(np.int32)
        ends = np.arange(0, rows * columns + 1, columns)
        matrix = csr_array((np.ones(rows * columns), places.ravel(), ends), shape=(rows, 16 * columns))
        weights, moved = np.zeros(16 * columns), np.zeros(16 * columns)
        for _ in range(ROUNDS):
            gradient = matrix.T @ (found["y"] - 1 / (1 + np.exp(-(matrix @ weights)))) / rows
            moved = 0.9 * moved + 0.1 * gradient
            weights = weights + 8 * moved
        return time.process_time() - start

    return task
