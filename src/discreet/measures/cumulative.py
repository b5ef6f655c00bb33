"""Cumulative counts: the quantities of a distribution function, from the noisy nodes of its tree."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.answers.quantity import FunctionQuantity, LinearQuantity, NoisyInteger, to_float
from discreet.mechanisms.cdf import Cdf, consistent, monotone

_DENOMINATOR = 10**9  # weights are quotients of small numbers, which come back from floats as they are

_LARGEST = 1e300


def cumulative(noisy: Sequence[NoisyInteger], statistic: Cdf, grain: int = 1) -> list[FunctionQuantity]:
    """Return how many values lie at or below each threshold, and at last all, from what was drawn in parts of rows.

    Least squares over the tree is linear in its nodes, so each count is a weighted sum of them with an interval of
    its own. The values shown are made monotone, as a distribution function is; an interval always holds its value.
    """
    assert statistic.branching is not None
    answers = len(statistic.thresholds) + 1
    leaves = consistent(np.eye(len(noisy)), statistic.branching, statistic.levels)
    weights = np.cumsum(leaves, axis=-1)[:, :answers]
    sums = [_weighted(noisy, weights[:, at].tolist(), grain) for at in range(answers)]
    settled = monotone(np.array([min(max(to_float(each.estimate), -_LARGEST), _LARGEST) for each in sums]))
    return [
        FunctionQuantity("settled", (each,), (Fraction(value),), Fraction(0))
        for each, value in zip(sums, settled.tolist(), strict=True)
    ]


def _weighted(noisy: Sequence[NoisyInteger], weights: list[float], grain: int) -> LinearQuantity:
    exact = [Fraction(weight).limit_denominator(_DENOMINATOR) / grain for weight in weights]
    return LinearQuantity(tuple(zip(exact, noisy, strict=True)))
