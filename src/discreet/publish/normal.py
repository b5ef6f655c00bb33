"""The normal distribution's quantiles, for error bars."""

from __future__ import annotations

from statistics import NormalDist


def quantile(chance: float) -> float:
    """Return the value that a standard normal number stays below with this probability."""
    return NormalDist().inv_cdf(chance)
