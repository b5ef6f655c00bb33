"""Seeded bits and goodness of fit, for tests alone; nothing in the package imports this module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike

from discreet.noise import bits, sampling

# The rate at which a statistical test of a right program may fail.
FALSE_ALARM = 1e-6


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Make this thread draw the same noise every time, inside a `with` block.

    Never for real data: whoever knows the seed can take the noise off. Other threads and forked children
    keep drawing from the operating system.
    """
    # Which tables are there decides how a value is drawn from the bits, and so which value the same bits give.
    sampling.clear()
    before = bits._threads.source
    bits._threads.source = bits.BitSource(_entropy(seed))
    try:
        yield
    finally:
        bits._threads.source = before


def _entropy(seed: int) -> Callable[[int], bytes]:
    """Make a stand-in for os.urandom that gives the same keys for the same seed."""
    calls = iter(range(1 << 62))
    return lambda size: sha256(f"discreet.testing {seed} {next(calls)}".encode()).digest()[:size]


def fit(observed: ArrayLike, expected: ArrayLike) -> float:
    """Return the p-value of Pearson's chi-square test of counts against probabilities that sum to 1.

    Cells whose expected count is below 20 are pooled, so that the statistic is close to its limit; an observation in a
    cell of probability zero gives 0.
    """
    from scipy.special import chdtrc

    counts, chances = np.asarray(observed, dtype=float), np.asarray(expected, dtype=float)
    if counts[chances <= 0].any():
        return 0.0
    total = counts.sum()
    large = chances * total >= 20
    cells = [*zip(counts[large], chances[large] * total, strict=True)]
    rest = total - sum(want for _, want in cells)
    if rest > 1e-9 * total:
        cells.append((total - sum(have for have, _ in cells), rest))
    if len(cells) < 2:
        return 1.0
    statistic = sum((have - want) ** 2 / want for have, want in cells)
    return float(chdtrc(len(cells) - 1, statistic))


def same(first: ArrayLike, second: ArrayLike) -> float:
    """Return the p-value of the chi-square test that two vectors of counts come from one distribution."""
    from scipy.special import chdtrc

    table = np.asarray([first, second], dtype=float)
    table = np.column_stack([table[:, table.sum(0) >= 40], table[:, table.sum(0) < 40].sum(1)])
    table = table[:, table.sum(0) > 0]
    want = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return float(chdtrc(table.shape[1] - 1, ((table - want) ** 2 / want).sum()))
