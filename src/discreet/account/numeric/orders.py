"""From Renyi orders to epsilon and delta: the best that a curve of divergences proves.

(alpha, tau)-Renyi privacy implies delta(epsilon) <= e^((alpha - 1)(tau - epsilon)) (1 - 1/alpha)^alpha / (alpha - 1)
(Canonne, Kamath, Steinke 2020, Proposition 12): tighter than e^((alpha - 1)(tau - epsilon)) by the subtracted
ln(alpha/(alpha - 1)) and ln(alpha)/(alpha - 1). Every order gives a valid bound; the least over many orders is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.account.numeric.pair import Array
from discreet.account.numeric.rounding import CALL

Divergence = Callable[[Array], Array]

COARSE = 1 + np.geomspace(1e-4, 1e7, 331)
ROUNDS = 3


def epsilon(divergence: Divergence, delta: float, extra: Array | None = None) -> float:
    """Return the least epsilon >= 0 that some order proves at delta, rounded up; `extra` orders are tried as well."""

    def at(alphas: Array) -> Array:
        with np.errstate(invalid="ignore"):
            tau, above, over = divergence(alphas), np.log(alphas - 1), np.log(alphas)
            price = (math.log(delta) + over) / (alphas - 1)
            # Terms may cancel, so each is a source of rounding by its own size.
            rounding = 4 * CALL * (tau + np.abs(above) + over + (abs(math.log(delta)) + over) / (alphas - 1))
            return np.asarray(tau + (above - over) - price + rounding)

    return max(0.0, _least(at, extra))


def delta(divergence: Divergence, epsilon: float, extra: Array | None = None) -> float:
    """Return the least delta that some order proves at epsilon, rounded up."""

    def at(alphas: Array) -> Array:
        tau, above, over = divergence(alphas), np.log(alphas - 1), np.log(alphas)
        rounding = 4 * CALL * ((alphas - 1) * (tau + epsilon) + alphas * (np.abs(above) + over))
        return np.asarray((alphas - 1) * (tau - epsilon) + alphas * (above - over) - above + rounding)

    return min(1.0, math.exp(min(0.0, _least(at, extra))) * (1 + CALL))


def _least(at: Callable[[Array], Array], extra: Array | None) -> float:
    """Minimise over orders above 1: a coarse row of them, then finer rows about the best."""
    alphas = COARSE if extra is None else np.union1d(COARSE, extra[np.isfinite(extra) & (extra > 1)])
    values = at(alphas)
    for _ in range(ROUNDS):
        best = int(np.nanargmin(values))
        low, high = alphas[max(0, best - 1)], alphas[min(len(alphas) - 1, best + 1)]
        finer = 1 + np.geomspace(low - 1, high - 1, 41)
        alphas = np.sort(np.append(finer, alphas[best]))
        values = at(alphas)
    return float(np.nanmin(values))
