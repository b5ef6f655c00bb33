"""Gaussian differential privacy in closed form: delta and epsilon of N(mu, 1) against N(0, 1), any mu, any delta.

delta(epsilon) = Phi(-t) - e^epsilon Phi(-t - mu) with t = epsilon/mu - mu/2 (Balle and Wang 2018, Theorem 8). With
Mills' ratio R(t) = Phi(-t)/phi(t) it is phi(t) (R(t) - R(t + mu)): one factor that may be tiny, and a difference that
neither overflows nor underflows. Where mu is small the difference would cancel; it is the integral of the slope
-R'(s) = 1 - s R(s) from t to t + mu, which is a sum of positive terms.

Every answer is rounded up: t is lowered by its own rounding (delta falls as t grows) and each term is raised by a bound
on its error. The bounds depend on no last bit: `MILLS` is sixteen times the known error of the scaled error function.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.account.numeric.scipy_functions import special

HALVINGS = 70
SMALL = 0.5  # mu up to which the slope is integrated
MILLS = 2.0**-46  # relative error of Mills' ratio, generously
FEW = 2.0**-50  # a few roundings
TINY = 1e-322  # what exponentials below the normal range of floats may lose
ROOT = math.sqrt(math.pi / 2)

# Gauss-Legendre on [0, 1]. Even derivatives of the slope are positive (R is completely monotone), so the rule is
# below the integral; by less than 2^-57 of it with seven nodes and mu <= 1/2.
_NODES, _WEIGHTS = (np.polynomial.legendre.leggauss(7)[0] + 1) / 2, np.polynomial.legendre.leggauss(7)[1] / 2


def delta(mu: float, epsilon: float) -> float:
    """Return delta at epsilon >= 0, rounded up."""
    if mu == 0:
        return 0.0
    ratio = epsilon / mu
    t = ratio - mu / 2
    t -= 2.0**-51 * (ratio + mu / 2)
    if not t < 40:  # also where ratio and mu are both infinite, and t is not a number
        return TINY if t >= 40 else 1.0
    if mu <= SMALL:
        return min(1.0, _density(t) * mu * _slope(t, mu) + TINY)
    if t < 0:
        least = _density(t) * _mills(t + mu) * (1 - 4 * MILLS - FEW * (2 + t * t)) if t > -40 else 0.0
        return min(1.0, _below(-t) * (1 + 2 * MILLS) - max(0.0, least))
    first, second = _mills(t), _mills(t + mu)
    return min(1.0, _density(t) * (first - second + 2 * MILLS * (first + second)) + TINY)


def epsilon(mu: float, delta_: float) -> float:
    """Return the least epsilon >= 0 whose delta is at most the given one, rounded up."""
    if mu == 0 or delta(mu, 0.0) <= delta_:
        return 0.0
    if delta_ == 0:
        return math.inf
    # Phi(-t) <= e^(-t^2/2), so this epsilon is enough whatever the second term is.
    low, high = 0.0, mu * (mu / 2 + math.sqrt(-2 * math.log(delta_)))
    while high < math.inf and delta(mu, high) > delta_:
        high *= 1.01
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if delta(mu, middle) > delta_ else (low, middle)
    return high


def _density(t: float) -> float:
    """Return phi(t), rounded up: the square in the exponent is rounded, which multiplies by its size."""
    return math.exp(-t * t / 2) / math.sqrt(2 * math.pi) * (1 + FEW * (4 + t * t))


def _below(x: float) -> float:
    return float(special.ndtr(x))


def _mills(t: float) -> float:
    """Return Mills' ratio, to within `MILLS` of itself."""
    return ROOT * float(special.erfcx(t * math.sqrt(0.5)))


def _slope(t: float, mu: float) -> float:
    """Return the mean of 1 - s R(s) over s from t to t + mu, rounded up: s R(s) < 1 errs by `MILLS`."""
    places = t + mu * _NODES
    ratios = ROOT * special.erfcx(places * math.sqrt(0.5))
    return float(_WEIGHTS @ (1 - places * ratios)) * (1 + 16 * FEW) + 2 * MILLS
