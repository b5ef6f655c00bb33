"""Tasks of synthetic data for mbi: MST, put together from its inference as the mechanism beside it does.

The package holds the inference alone. What is measured follows the MST of its repository: a third of rho for single
columns, a third for choosing a spanning tree, a third for its pairs; values below three deviations of the noise are
merged; 2,500 steps of mirror descent before the choice and 10,000 after it.
"""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ALONE = runpy.run_path(str(HERE / "synth_alone.py"))  # once: it remembers runs
BEFORE, AFTER, TOO_RARE = 2_500, 10_000, 3.0


def figure(figure: str, seeds: int, **arguments: Any) -> Callable[[], float]:
    """One figure of runs in processes of their own, over seeds."""
    return lambda: ALONE["mean"](__file__, figure, seeds, arguments)


def made(table: str, method: str, epsilon: str, delta: str, seed: int) -> dict[str, Any]:
    """The columns of a sample with as many rows as the table."""
    import jax

    jax.config.update("jax_enable_x64", True)  # as its import asks for, both
    jax.config.update("jax_enable_compilation_cache", False)
    import mbi

    assert method == "mst", method
    np.random.seed(seed)  # noqa: NPY002, TID251  (its sampler draws from numpy's shared generator)
    generator = np.random.default_rng(seed)  # noqa: TID251  (a peer's noise)
    sizes, columns = runpy.run_path(str(HERE / "synth_tables.py"))["table"](table)
    data = mbi.Dataset(columns, mbi.Domain(sizes.keys(), sizes.values()))
    rho = _rho(float(epsilon), float(delta))

    def measured(data: Any, cliques: list[tuple[str, ...]]) -> list[Any]:
        sigma = math.sqrt(3 * len(cliques) / (2 * rho))
        exact = [data.project(clique).datavector() for clique in cliques]
        return [
            mbi.LinearMeasurement(each + generator.normal(0, sigma, each.size), clique, sigma)
            for each, clique in zip(exact, cliques, strict=True)
        ]

    singles = measured(data, [(name,) for name in sizes])
    # Only where there is something to merge: its estimate of the total comes from measurements left as they are.
    merged = {one.clique[0]: group for one in singles if (group := _merged(one)).max() + 1 < len(group)}
    small = data.compress(merged)
    known = [one.compress(merged, data.domain) for one in singles]
    chosen = _chosen(mbi, small, known, rho / 3, generator)
    model = mbi.estimation.MirrorDescent().estimate(small.domain, known + measured(small, chosen), iters=AFTER)
    sample = model.synthetic_data(rows=len(next(iter(columns.values())))).decompress(merged)
    return {name: np.asarray(sample.to_dict()[name], np.int64) for name in sizes}


def _merged(one: Any) -> Any:
    """The group of each value: its own where it is frequent, a common one where it is not."""
    often = np.asarray(one.noisy_measurement) >= TOO_RARE * one.stddev
    return np.where(often, np.cumsum(often) - 1, often.sum())


def _chosen(mbi: Any, data: Any, known: list[Any], rho: float, generator: Any) -> list[tuple[str, ...]]:
    """A spanning tree, edge by edge, by the exponential mechanism on the distance from independence."""
    model = mbi.estimation.MirrorDescent().estimate(data.domain, known, iters=BEFORE)
    pairs = [*combinations(data.domain.attributes, 2)]
    scores = {
        pair: float(np.abs(data.project(pair).datavector() - np.asarray(model.project(pair).datavector())).sum())
        for pair in pairs
    }
    part = {name: name for name in data.domain.attributes}
    chosen: list[tuple[str, ...]] = []
    epsilon = math.sqrt(8 * rho / (len(part) - 1))
    while len(chosen) < len(part) - 1:
        free = [pair for pair in pairs if part[pair[0]] != part[pair[1]]]
        weights = np.array([epsilon / 2 * scores[pair] for pair in free])
        chances = np.exp(weights - weights.max())
        chosen.append(free[generator.choice(len(free), p=chances / chances.sum())])
        one, other = (part[name] for name in chosen[-1])
        part = {name: one if group == other else group for name, group in part.items()}
    return chosen


def _rho(epsilon: float, delta: float) -> float:
    """The rho whose conversion (Canonne, Kamath, Steinke 2020) keeps epsilon and delta."""

    def at(rho: float) -> float:
        alphas = 1 + np.exp(np.linspace(-7, 9, 20_001))
        logs = (alphas - 1) * (alphas * rho - epsilon) + alphas * np.log1p(-1 / alphas) - np.log(alphas - 1)
        return float(logs.min())

    low, high = 0.0, epsilon + 1
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) <= math.log(delta) else (low, middle)
    return low
