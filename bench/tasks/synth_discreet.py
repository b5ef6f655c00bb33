"""Tasks of synthetic data for Discreet: each in a process of its own, compared with peers and with one another."""

from __future__ import annotations

import json
import math
import runpy
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
STARTED = time.time()
ALONE = runpy.run_path(str(HERE / "synth_alone.py"))
TABLES = runpy.run_path(str(HERE / "synth_tables.py"))


def figure(figure: str, seeds: int, **arguments: Any) -> Callable[[], float]:
    """One figure of runs in processes of their own, over seeds."""
    return lambda: ALONE["mean"](__file__, figure, seeds, arguments)


def made(table: str, method: str, epsilon: str, delta: str, seed: int) -> dict[str, Any]:
    """The columns of a sample with as many rows as the table; without a delta the promise is pure epsilon."""
    from discreet.testing import seeded

    sizes, columns = TABLES["table"](table)
    with seeded(seed):
        return _synthetic(columns, sizes, method, epsilon, delta).codes(len(next(iter(columns.values()))))


def beyond(peer: str, seeds: int, **arguments: Any) -> Callable[[], float]:
    """By how much the ratio of our mean error to a peer's of this very run exceeds 1 and two standard errors."""

    def call() -> float:
        ALONE["mean"](__file__, "error", seeds, arguments)
        path = ALONE["kept"](peer, arguments)
        if not path.exists() or path.stat().st_mtime < STARTED:
            raise RuntimeError("the peer's errors are of no use: measure them in the same run")
        ours, theirs = (
            np.array(json.loads(each.read_text(encoding="utf-8")))
            for each in (ALONE["kept"](Path(__file__).stem, arguments), path)
        )
        ratio = ours.mean() / theirs.mean()
        spread = ratio * math.hypot(*(each.std(ddof=1) / math.sqrt(len(each)) / each.mean() for each in (ours, theirs)))
        return float(ratio - 1 - 2 * spread)

    return call


def relative(to: str, method: str, seeds: int, **arguments: Any) -> Callable[[], float]:
    """The mean error of one method over that of another."""

    def mean(name: str) -> float:
        return float(ALONE["mean"](__file__, "error", seeds, {**arguments, "method": name}))

    return lambda: mean(method) / mean(to)


def behind(methods: Sequence[str], seeds: int, **arguments: Any) -> Callable[[], float]:
    """By how much the error of `auto` exceeds that of the best method."""

    def call() -> float:
        errors = {name: ALONE["mean"](__file__, "error", seeds, {**arguments, "method": name}) for name in methods}
        auto = ALONE["mean"](__file__, "error", seeds, {**arguments, "method": "auto"})
        return float(auto / min(errors.values()) - 1)

    return call


def rounds(fixed: int, repetitions: int, epsilon: str) -> Callable[[], float]:
    """CPU seconds of MWEM with fixed rounds and repetitions, over all marginals of at most three of 20 bits."""
    from itertools import combinations

    from discreet.account.budgets.budget import Budget
    from discreet.publish.allowance import Allowance
    from discreet.publish.code_table import Coded
    from discreet.publish.domain import Domain
    from discreet.publish.method import MarginalWorkload
    from discreet.publish.methods import mwem

    sizes, columns = TABLES["table"]("bits")
    domain = Domain.of(sizes)
    workload = MarginalWorkload({part: 1 for ways in (1, 2, 3) for part in combinations(range(len(domain)), ways)})

    def call() -> float:
        start = time.process_time()
        coded, allowance = Coded.of(columns, domain), Allowance.of(Budget(epsilon=Fraction(epsilon)))
        mwem.build(coded.measure, domain, allowance, workload, lambda _: None, fixed=fixed, repetitions=repetitions)
        return time.process_time() - start

    return call


def learned(method: str, epsilon: str, delta: str, seeds: int) -> Callable[[], float]:
    """How much accuracy on real rows a logistic regression loses that is trained on synthetic rows, not on real ones.

    A fifth of the rows, held out, judges both; the synthetic data is made from the others.
    """
    from discreet.testing import seeded

    sizes, columns = TABLES["table"]("Adult-32")
    held = np.arange(len(columns[TABLES["LABEL"]])) % 5 == 4
    train = {name: values[~held] for name, values in columns.items()}
    test = {name: values[held] for name, values in columns.items()}

    def call() -> float:
        real, losses = _accuracy(sizes, train, test), []
        for seed in range(1, seeds + 1):
            with seeded(seed):
                synthetic = _synthetic(train, sizes, method, epsilon, delta)
                losses.append(real - _accuracy(sizes, synthetic.codes(int((~held).sum())), test))
        return float(np.mean(losses))

    return call


def _synthetic(columns: Any, sizes: dict[str, int], method: str, epsilon: str, delta: str) -> Any:
    from discreet import publish
    from discreet.account.budgets.budget import Budget

    bound = Budget(epsilon=Fraction(epsilon), delta=Fraction(delta) if Fraction(delta) else None)
    return publish.synthesize(columns, sizes, budget=bound, method=method)


def _accuracy(sizes: dict[str, int], train: Any, test: Any) -> float:
    """The accuracy of a logistic regression on one-hot columns, with a little ridge."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    label = TABLES["LABEL"]
    names = [name for name in sizes if name != label]
    starts = dict(zip(names, np.cumsum([0, *(sizes[name] for name in names[:-1])]).tolist(), strict=True))
    width = sum(sizes[name] for name in names)

    def features(columns: Any) -> Any:
        places = np.stack([columns[name] + starts[name] for name in names], axis=1)
        rows = len(places)
        ends = np.arange(0, rows * len(names) + 1, len(names))
        return csr_matrix((np.ones(places.size), places.ravel(), ends), shape=(rows, width))

    x, sign = features(train), 2.0 * train[label] - 1

    def loss(weights: Any) -> tuple[float, Any]:
        margin = sign * (x @ weights)
        slope = -sign / (1 + np.exp(np.minimum(margin, 500)))
        value = np.logaddexp(0, -margin).mean() + 0.5e-4 * weights @ weights
        return float(value), x.T @ slope / len(sign) + 1e-4 * weights

    found = minimize(loss, np.zeros(width), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return float(((features(test) @ found > 0) == (test[label] == 1)).mean())
