"""Tasks of sketches, telemetry, means, marginals and heavy hitters for Discreet."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from discreet import local, noise
from discreet.testing import seeded

PROTOCOLS: dict[str, Callable[..., Any]] = {
    "count_mean_sketch": local.count_mean_sketch,
    "hadamard_count_mean_sketch": local.hadamard_count_mean_sketch,
    "d_bit_flip": partial(local.d_bit_flip, d=16),
}
SMALL: dict[str, Callable[[], Any]] = {
    "count_mean_sketch": lambda: local.count_mean_sketch(k=9, epsilon=1, rows=4, width=8),
    "hadamard_count_mean_sketch": lambda: local.hadamard_count_mean_sketch(k=30, epsilon=1, rows=8, width=16),
    "d_bit_flip": lambda: local.d_bit_flip(k=8, epsilon=1, d=3),
    "one_bit_mean": lambda: local.one_bit_mean(0, 24, 1, step=1),
    "mean": lambda: local.mean(0, 24, 1, method="hybrid", step=1),
    "marginals": lambda: local.marginals([3, 2, 4], 1, ways=2),
}


def encode(protocol: str, k: int, n: int) -> Callable[[], object]:
    """Reports of n values."""
    return partial(PROTOCOLS[protocol](k=k, epsilon=1).encode, noise.uniform(k, n))


def decode(protocol: str, k: int, epsilon: float, n: int) -> Callable[[], object]:
    """The estimates of all values from a sketch of n reports."""
    made = PROTOCOLS[protocol](k=k, epsilon=epsilon)
    return partial(made.estimate, made.aggregate(made.encode(noise.uniform(k, n))))


def decode_strings(candidates: int, epsilon: float, n: int) -> Callable[[], object]:
    """The estimates of candidate strings from a sketch of n reports of other strings."""
    made = local.hadamard_count_mean_sketch(epsilon=epsilon)
    words = [f"word {at}" for at in range(candidates)]
    sketch = made.aggregate(made.encode([words[at] for at in noise.uniform(candidates, n)]))
    return partial(made.estimate, sketch, candidates=words)


def error(protocol: str, k: int, epsilon: float, n: int, repeats: int, within: float | None) -> Callable[[], object]:
    """Mean squared error over theory, over hash functions too: within three standard errors of 1, or a share of it."""
    values = np.arange(n) % k
    truth = np.bincount(values, minlength=k)

    def call() -> None:
        squares, covered, widths = [], [], []
        with seeded(9):
            for _ in range(repeats):
                made = PROTOCOLS[protocol](k=k, epsilon=epsilon)  # draws its hash functions, where it has any
                theory = np.mean([made.variance(n, int(count)) for count in np.unique(truth)])
                one = made.estimate(made.aggregate(made.encode(values)))
                squares.append(((one.value - truth) ** 2).mean() / theory)
                covered.append(((one.low <= truth) & (truth <= one.high)).mean())
                widths.append((one.high - one.low).mean() / (2 * 1.959964 * math.sqrt(theory)))
        _within(np.array(squares), within)
        spread = max(float(np.std(covered)), math.sqrt(0.05 * 0.95 / k)) / math.sqrt(repeats)
        assert np.mean(covered) >= 0.95 - 4 * spread, f"intervals cover {np.mean(covered):.4f}"
        assert np.mean(widths) <= 1.1, f"intervals are {np.mean(widths):.3f} times the shortest"

    return call


def mean_error(method: str) -> Callable[[], object]:
    """Mean squared error of a sum over theory, over 400 repeats of values all alike."""
    made = local.one_bit_mean(-1, 1, 1) if method == "one_bit" else local.mean(-1, 1, 1, method=method)
    values, n = np.full(10_000, 0.25), 10_000

    def call() -> None:
        with seeded(9):
            found = [made.estimate(made.aggregate(made.encode(values))) for _ in range(400)]
        _within(np.array([(one.value[0] - n / 4) ** 2 for one in found]) / made.variance(n, 0.25), None)
        covered = np.mean([one.low[0] <= n / 4 <= one.high[0] for one in found])
        assert covered >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / 400), f"intervals cover {covered:.4f}"

    return call


def marginal_error() -> Callable[[], object]:
    """Mean squared error of all cells over theory."""
    made, n = local.marginals([2] * 8, 1, ways=2), 102_400
    rows = np.arange(n) % 256
    truth = n / 4

    def call() -> None:
        with seeded(9):
            found = [made.estimate(made.aggregate(made.encode(rows))) for _ in range(40)]
        theory = made.variance(n, truth)
        _within(np.array([((one.value - truth) ** 2).mean() / theory for one in found]), None)

    return call


def ratio(protocol: str) -> Callable[[], object]:
    """The largest likelihood ratio over all reports and pairs of values: at most e^epsilon, at least 0.999 of it."""
    made = SMALL[protocol]()

    def call() -> None:
        values = made.trial_values() if hasattr(made, "trial_values") else range(made.k)
        laws = [made.likelihood(value) for value in values]
        largest = max(
            max(one[report] / other[report], other[report] / one[report])
            for one, other in combinations(laws, 2)
            for report in one
        )
        assert largest == made.odds
        assert 0.999 * math.e <= float(largest)
        assert made.loss.epsilon(0) <= 1

    return call


def found(n: int) -> Callable[[], object]:
    """Five frequent strings among many rare ones: all are found, and no string that nobody has."""
    common = {"hello": 0.2, "world": 0.1, "maybe": 0.05, "a": 0.03, "zigzag": 0.02}
    rare = [chr(97 + at % 26) * 2 + chr(97 + at // 26 % 26) * 2 for at in range(676)]
    values = [text for text, share in common.items() for _ in range(int(share * n))]
    values += [rare[at % len(rare)] for at in range(n - len(values))]
    made = local.heavy_hitters(2, length=6)

    def call() -> None:
        with seeded(9):
            result = made.estimate(made.aggregate(made.encode(values)))
        assert {*common} <= {*result.strings}, f"found {result.strings}"
        assert {*result.strings} <= {*common, *rare}, f"found {result.strings}"

    return call


def _within(squares: np.ndarray, share: float | None) -> None:
    allowed = share if share is not None else 3 * squares.std(ddof=1) / math.sqrt(len(squares))
    assert abs(squares.mean() - 1) <= allowed, f"MSE / theory is {squares.mean():.4f}, not within {allowed:.4f}"
