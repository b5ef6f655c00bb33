"""Tasks of mechanisms for numpy: a float softmax draw, and a sort, with no privacy at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

GENERATOR = np.random.default_rng()  # noqa: TID251  (the peer itself; draws no noise for anyone)


def choose(candidates: int, spread: int) -> Callable[[], object]:
    """One draw by weights exp(score / 2), in floats."""
    scores = np.arange(candidates, dtype=np.int64) * 7919 % spread

    def call() -> int:
        weights = np.exp((scores - scores.max()) / 2)
        sums = np.cumsum(weights)
        return int(np.searchsorted(sums, GENERATOR.random() * sums[-1]))

    return call


def median(size: int, kind: str) -> Callable[[], object]:
    """A sort of the same values."""
    values = (np.arange(size) * 7919 % 1_000_003) / 1_000_003 * 110
    return partial(np.sort, values.astype(np.int64) if kind == "integers" else values)
