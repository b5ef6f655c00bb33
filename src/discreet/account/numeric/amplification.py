"""Amplification by sampling: the pair of a mechanism that runs on a random part of the table.

Poisson sampling keeps each person with probability `rate`. If (P, Q) dominates when a person is removed, then
((1 - rate) Q + rate P, Q) dominates the sampled mechanism when a person is removed; adding a person exchanges the roles
(Zhu, Dong, Wang 2022, Theorem 11). Both are transformations of the loss, the same at every outcome.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from discreet.account.numeric.loss_measure import total_variation
from discreet.account.numeric.pair import Array, DensityCurve, Outcome, Pair


def poisson_remove(pair: Pair, rate: float) -> Pair:
    """Return ((1 - rate) Q + rate P, Q) for the pair (P, Q)."""

    def change(loss: Array, p: Array, q: Array) -> Outcome:
        return diluted(loss, rate), (1 - rate) * q + rate * p, q

    curves = tuple(_changed(curve, change, lambda loss: concentrated(loss, rate)) for curve in pair.curves)
    mixed = (1 - rate) * pair.q + rate * pair.p
    others = tuple(poisson_remove(other, rate) for other in pair.others)
    return Pair(diluted(pair.low, rate), diluted(pair.high, rate), mixed, pair.q, curves, others)


def poisson_add(pair: Pair, rate: float) -> Pair:
    """Return (P, (1 - rate) P + rate Q) for the pair (P, Q)."""
    return poisson_remove(pair.reversed(), rate).reversed()


def without_replacement(pair: Pair, rate: float) -> Pair:
    """Return the pair of a mechanism that runs on a fixed number of rows, the share `rate` of all, drawn at random.

    For neighbours by replacement the delta of the sampled mechanism is that of ((1 - rate) Q + rate P, Q) at
    epsilon >= 0 and that of (P, (1 - rate) P + rate Q) below (Zhu, Dong, Wang 2022, Proposition 30). One pair has this
    curve: losses above 0 as in the former, losses below 0 as in the latter, and the mass that is left over at 0.
    """

    def change(loss: Array, p: Array, q: Array) -> Outcome:
        up = loss > 0
        mixed_p, mixed_q = (1 - rate) * q + rate * p, (1 - rate) * p + rate * q
        return _folded(loss, rate), np.where(up, mixed_p, p), np.where(up, q, mixed_q)

    def inverse(loss: Array) -> Array:
        return np.sign(loss) * concentrated(np.abs(loss), rate)

    curves = tuple(_changed(curve, change, inverse) for curve in pair.curves)
    _, p, q = change(pair.high, pair.p, pair.q)
    # A cut-out middle may reach across 0: both its masses together bound either form.
    across = (pair.low <= 0) & (pair.high > 0)
    p, q = np.where(across, pair.p + pair.q, p), np.where(across, pair.p + pair.q, q)
    zero, rest = np.zeros(1), np.array([(1 - rate) * total_variation(pair)])
    others = tuple(without_replacement(other, rate) for other in pair.others)
    folded = Pair(_folded(pair.low, rate), _folded(pair.high, rate), p, q, curves, others)
    return folded.with_lumps(zero, zero, rest, rest)


def diluted(loss: Array, rate: float) -> Array:
    """Return ln(1 - rate + rate e^loss)."""
    if rate == 1:
        return loss
    with np.errstate(over="ignore"):
        # Each form is exact on its side: expm1 keeps small losses, the sum of logarithms keeps large ones.
        small = np.log1p(rate * np.expm1(np.clip(loss, -1.0, 1.0)))
        return np.where(np.abs(loss) < 1, small, np.logaddexp(math.log1p(-rate), math.log(rate) + loss))


def concentrated(loss: Array, rate: float) -> Array:
    """Return the inverse of `diluted`; -infinity where nothing is as small."""
    if rate == 1:
        return loss
    least = math.log1p(-rate)
    with np.errstate(divide="ignore"):
        return loss + np.log(-np.expm1(np.minimum(least - loss, 0.0))) - math.log(rate)


def _folded(loss: Array, rate: float) -> Array:
    return np.sign(loss) * diluted(np.abs(loss), rate)


def _changed(
    curve: DensityCurve, change: Callable[[Array, Array, Array], Outcome], inverse: Callable[[Array], Array]
) -> DensityCurve:
    def at(x: Array) -> Outcome:
        return change(*curve.at(x))

    return DensityCurve(curve.low, curve.high, curve.step, at, lambda loss: curve.position(inverse(loss)))
