"""Predictions: the error to expect of many answers with one noise, a function of parameters alone."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parts.integer_noise import Law


class Prediction(NamedTuple):
    """What answers of one mechanism will be off by: root mean square, and the mean of the largest error."""

    mechanism: Laplace | Gaussian
    rmse: float
    largest: float


def predicted(mechanism: Laplace | Gaussian, queries: int) -> Prediction:
    """Return the root mean square of one mechanism's noise, and the mean of the largest of so many."""
    law: Law = "laplace" if isinstance(mechanism, Laplace) else "gaussian"
    width = mechanism.scale if isinstance(mechanism, Laplace) else mechanism.sigma
    scale, step = float(width / mechanism.step), float(mechanism.step)
    deviation, tails, stride = _shape(law, scale)
    # The mean of a magnitude is the sum of P(> h) over h = 0, 1, ...; all of `queries` stay below with a power.
    terms = -np.expm1(queries * np.log1p(-np.minimum(tails, 1 - 1e-16)))
    largest = stride * (float(terms.sum()) - (0.5 * float(terms[0]) if stride > 1 else 0.0))
    return Prediction(mechanism, deviation * step, largest * step)


def _shape(law: Law, scale: float) -> tuple[float, NDArray[np.float64], int]:
    """Return the deviation of noise and P(|X| > h) for h = 0, stride, ...; wide noise is looked at coarsely."""
    from scipy.special import ndtr

    stride = max(1, int(scale / 4000))
    h = np.arange(0, math.ceil(60 * scale) + 60, stride, dtype=float)
    if law == "laplace":
        ratio = math.exp(-1 / scale)
        # 1 - ratio by itself is 0 from a scale of 1e16 on.
        return math.sqrt(2 * ratio) / -math.expm1(-1 / scale), 2 * np.exp(-(h + 1) / scale) / (1 + ratio), stride
    if stride > 1:
        return scale, 2 * ndtr(-(h + 0.5) / scale), stride
    weights = np.exp(-((h / scale) ** 2) / 2)
    total = 2 * float(weights.sum()) - 1
    above = 2 * (np.cumsum(weights[::-1])[::-1] - weights) / total
    return math.sqrt(2 * float((h**2 * weights).sum()) / total), above, stride
