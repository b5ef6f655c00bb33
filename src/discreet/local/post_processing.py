"""Post-processing: estimates made to look like counts, at no cost of privacy and at some of unbiasedness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import UnknownName
from discreet.local.estimate import Estimate

Floats = NDArray[np.float64]


def simplex(values: Floats, total: float) -> Floats:
    """Return the nearest point (in squares) whose numbers are at least zero and add up to the total."""
    if not len(values):
        return values.copy()
    ordered = np.sort(values)[::-1]
    shifts = (np.cumsum(ordered) - total) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(ordered - shifts >= 0)[-1]) if total > 0 else 0
    return np.asarray(np.maximum(values - shifts[last], 0.0)) if total > 0 else np.zeros(len(values))


def norm_sub(values: Floats, total: float) -> Floats:
    """Return the values with negative ones set to zero and the rest shifted by one number so as to add up.

    Repeated until nothing is negative, it ends where the projection onto the simplex is (Wang et al. 2020).
    """
    kept = np.ones(len(values), dtype=bool)
    out = np.array(values, dtype=float)
    while kept.any():
        out[kept] = values[kept] - (values[kept].sum() - total) / kept.sum()
        negative = kept & (out < 0)
        if not negative.any():
            break
        kept &= ~negative
    out[~kept] = 0.0
    return out


def base_cut(values: Floats, threshold: float) -> Floats:
    """Return the values with all that are below the threshold, and may well be noise, set to zero."""
    return np.where(values >= threshold, values, 0.0)


def processed(estimate: Estimate, name: str, threshold: float) -> Estimate:
    """Return the estimate with its values post-processed by name, and its intervals moved within what is possible.

    Guarantee: post-processing costs no privacy. A true count lies in [0, reports], so cutting its interval there
    loses no coverage; the interval then also takes in the post-processed value.
    """
    total = float(estimate.reports)
    ways: dict[str, Callable[[Floats], Floats]] = {
        "simplex": lambda values: simplex(values, total),
        "norm_sub": lambda values: norm_sub(values, total),
        "base_cut": lambda values: np.minimum(base_cut(values, threshold), total),
    }
    if name not in ways:
        raise UnknownName("post-processing", str(name), ways)
    value = ways[name](estimate.value)
    low = np.minimum(np.clip(estimate.low, 0, total), value)
    high = np.maximum(np.clip(estimate.high, 0, total), value)
    return replace(estimate, value=value, low=low, high=high, post=name)
