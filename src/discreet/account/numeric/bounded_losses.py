"""Divergences of losses that are bounded, from a dominating pair."""

from __future__ import annotations

import numpy as np

from discreet.account.numeric.loss_measure import discretize, pilot_edges
from discreet.account.numeric.pair import Array, Pair
from discreet.account.numeric.rounding import CALL, TERM

FINE = 64  # how much finer than a pilot's the grid is
CHUNK = 2**22  # terms summed at once


def pair_divergence(pair: Pair, alphas: Array) -> Array:
    """Return ln E_P e^((alpha - 1) loss) / (alpha - 1), rounded up, for orders above 1.

    Divided over a grid the loss has larger moments of every order, since e^((alpha - 1) loss) is convex in e^-loss.
    """
    measure = discretize(pair, pilot_edges(pair, FINE))
    if measure.infinity > 0:
        return np.full(len(alphas), np.inf)
    some = measure.masses > 0
    losses, logs = measure.losses[some], np.log(measure.masses[some])
    rows = max(1, CHUNK // len(losses))
    blocks = [alphas[start : start + rows, None] for start in range(0, len(alphas), rows)]
    sums = np.concatenate([_log_sums((block - 1) * losses + logs) for block in blocks])
    rounding = CALL * (2 + np.abs(logs).max() + (alphas - 1) * np.abs(losses).max()) + TERM * len(losses)
    return np.asarray((np.maximum(sums, 0.0) + rounding) / (alphas - 1))


def _log_sums(exponents: Array) -> Array:
    """Return the logarithm of the sum of e^x over each row."""
    top = exponents.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(exponents - top).sum(axis=1)))
