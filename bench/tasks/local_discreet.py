"""Tasks of local privacy for Discreet: reports made and added up, estimates checked against the theory."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from discreet import local, noise
from discreet.lab.audits.audit import audit
from discreet.testing import seeded

PROTOCOLS: dict[str, Callable[..., Any]] = {
    "k-ary": local.randomized_response,
    "unary": local.unary,
    "unary, symmetric": partial(local.unary, symmetric=True),
    "local_hash": local.local_hash,
    "hadamard": local.hadamard,
}


def encode(protocol: str, k: int, epsilon: float, n: int) -> Callable[[], object]:
    """Reports of n values, checked and packed."""
    return partial(PROTOCOLS[protocol](k=k, epsilon=epsilon).encode, noise.uniform(k, n))


def aggregate(protocol: str, k: int, epsilon: float, n: int) -> Callable[[], object]:
    """The estimates of all values from n packed reports."""
    made = PROTOCOLS[protocol](k=k, epsilon=epsilon)
    reports = bytes(made.encode(noise.uniform(k, n)))
    return lambda: made.estimate(made.aggregate(reports))


def end_to_end(protocol: str, k: int, epsilon: float, n: int, most_bytes: int) -> Callable[[], object]:
    """From n values to all estimates; reports may have so many bytes."""
    made, values = PROTOCOLS[protocol](k=k, epsilon=epsilon), noise.uniform(k, n)
    assert made.bytes_per_report <= most_bytes, made.bytes_per_report
    return lambda: made.estimate(made.aggregate(made.encode(values)))


def error(protocol: str, k: int, epsilon: float, n: int, repeats: int, within: float | None) -> Callable[[], object]:
    """Mean squared error over theory: within three standard errors of 1, or within a share of it; and coverage."""
    made, values = PROTOCOLS[protocol](k=k, epsilon=epsilon), np.arange(n) % k
    truth = np.bincount(values, minlength=k)
    theory = made.variance(n, Fraction(n, k))  # linear in the count, so that the mean count has the mean variance

    def call() -> None:
        with seeded(9):
            found = [made.estimate(made.aggregate(made.encode(values))) for _ in range(repeats)]
        squares = np.array([((one.value - truth) ** 2).mean() / theory for one in found])
        allowed = within if within is not None else 3 * squares.std(ddof=1) / math.sqrt(repeats)
        assert abs(squares.mean() - 1) <= allowed, f"MSE / theory is {squares.mean():.4f}, not within {allowed:.4f}"
        covered = np.array([((one.low <= truth) & (truth <= one.high)).mean() for one in found])
        spread = max(covered.std(), math.sqrt(0.05 * 0.95 / k)) / math.sqrt(repeats)
        assert covered.mean() >= 0.95 - 4 * spread, f"intervals cover {covered.mean():.4f}"
        width = np.mean([(one.high - one.low).mean() for one in found]) / (2 * 1.959964 * math.sqrt(theory))
        assert width <= 1.1, f"intervals are {width:.3f} times the shortest"

    return call


def ratio(protocol: str, k: int, epsilon: float) -> Callable[[], object]:
    """The largest likelihood ratio over all reports and pairs of values: at most e^epsilon, at least 0.999 of it."""
    made = PROTOCOLS[protocol](k=k, epsilon=epsilon)

    def call() -> None:
        laws = [made.likelihood(value) for value in range(k)]
        largest = max(
            max(one[report] / other[report], other[report] / one[report])
            for one, other in combinations(laws, 2)
            for report in one
        )
        assert largest == made.odds
        assert 0.999 * math.exp(epsilon) <= float(largest)
        assert made.loss.epsilon(0) <= epsilon

    return call


def survey(n: int, runs: int, deviation: float, within: float) -> Callable[[], object]:
    """The standard deviation of the two-coin survey, and its audit."""
    made = local.randomized_response(truth=Fraction(3, 4))
    values = np.tile((np.arange(n) % 8 == 0).astype(np.uint8), 1000)

    def call() -> None:
        with seeded(10):
            said = [made.encode(values).rows.reshape(-1, n).mean(axis=1) for _ in range(runs // 1000)]
            finding = audit(made, 0, 1, samples=10**6, layers=["black_box"])
        found = (2 * np.concatenate(said) - 0.5).std()
        assert abs(found / deviation - 1) <= within, f"the deviation is {found:.5f}"
        assert 1.05 <= finding.lower <= 1.0986, f"the audit finds {finding.lower:.4f}"

    return call
