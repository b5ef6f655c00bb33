"""Oracles: the truth about some compositions, by ways that share nothing with the library's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import mpmath
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Law = tuple[Array, Array]  # losses, and their probabilities under P (atoms, or the nodes of a quadrature)


def response_epsilon(epsilon: float, k: int, delta: float) -> mpmath.mpf:
    """Return the least epsilon of k randomized responses in 240 bits, by the sum of Kairouz, Oh, Viswanath 2015."""
    with mpmath.workprec(240):
        each, target = mpmath.mpf(epsilon), mpmath.mpf(delta)
        truth = mpmath.exp(each) / (1 + mpmath.exp(each))
        masses = [mpmath.binomial(k, lies) * truth ** (k - lies) * (1 - truth) ** lies for lies in range(k // 2 + 1)]
        mass = weight = mpmath.mpf(0)
        for lies, probability in enumerate(masses):
            # Losses above (k - 2 lies) epsilon: delta there is mass - e^(loss) weight.
            loss = (k - 2 * lies) * each
            if mass - mpmath.exp(loss) * weight >= target:
                break
            mass += probability
            weight += probability * mpmath.exp(-loss)
        return mpmath.log((mass - target) / weight)


def gaussian_delta(mu: float, epsilon: float) -> mpmath.mpf:
    """Gaussian privacy in 300 bits (Balle and Wang 2018)."""
    with mpmath.workprec(300):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def gaussian_epsilon(mu: float, delta: float) -> mpmath.mpf:
    """The inverse of `gaussian_delta`, by bisection."""
    with mpmath.workprec(300):
        low, high = mpmath.mpf(0), mpmath.mpf(mu) ** 2 / 2 + mu * mpmath.sqrt(-2 * mpmath.log(delta)) + 1
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
        return high


def composed_delta(laws: Sequence[tuple[Law, int]], epsilon: float) -> float:
    """delta of a long composition, by inverting its Laplace transform along a vertical line through the saddle point.

    delta = 1/(2 pi) * integral of e^(K(s) - s epsilon) / (s (s + 1)) over s = theta + it: no grid of losses at all.
    """

    def transform(s: complex) -> complex:
        total = 0j
        for (losses, masses), count in laws:
            exponent = s * losses
            top = exponent.real.max()
            total += count * (top + np.log(np.sum(masses * np.exp(exponent - top))))
        return total - s * epsilon

    theta = _least(lambda rate: transform(rate).real)
    step = 1e-3 * theta
    curvature = (transform(theta + step) - 2 * transform(theta) + transform(theta - step)).real / step**2
    spread = math.sqrt(curvature)
    stride, total, t = 2 * math.pi / (40 * spread), 0.0, 0.0
    centre = transform(theta).real
    while True:
        s = complex(theta, t)
        term = (np.exp(transform(s) - centre) / (s * (s + 1))).real
        total += term * (0.5 if t == 0 else 1.0)
        if t > 3 / spread and abs(np.exp(transform(s) - centre)) < 1e-14:
            return float(math.exp(centre) * total * stride / math.pi)
        t += stride


def _least(function: Callable[[float], float]) -> float:
    low, high = math.log(1e-6), math.log(1e6)
    for _ in range(200):
        a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
        low, high = (low, b) if function(math.exp(a)) < function(math.exp(b)) else (a, high)
    return math.exp((low + high) / 2)


def laplace_law(epsilon: float) -> Law:
    """Continuous Laplace noise: two atoms and a density e^((loss - epsilon)/2)/4 between them."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    losses, widths = epsilon * nodes, epsilon * weights
    ends = np.array([epsilon, -epsilon])
    masses = np.concatenate([[0.5, 0.5 * math.exp(-epsilon)], widths * np.exp((losses - epsilon) / 2) / 4])
    return np.concatenate([ends, losses]), masses


def response_law(epsilon: float) -> Law:
    """Randomized response."""
    truth = 1 / (1 + math.exp(-epsilon))
    return np.array([epsilon, -epsilon]), np.array([truth, 1 - truth])


def poisson_law(mu: float, rate: float, direction: str) -> Law:
    """Gaussian noise on a Poisson sample, when a person is removed or added: quadrature over the outcomes."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    breaks = np.linspace(-13.0, mu + 13.0, 400)
    half, middle = np.diff(breaks)[:, None] / 2, (breaks[1:] + breaks[:-1])[:, None] / 2
    x, w = (middle + half * nodes).ravel(), (half * weights).ravel()
    zero, one = (np.exp(-((x - centre) ** 2) / 2) / math.sqrt(2 * math.pi) for centre in (0.0, mu))
    ratio = np.log1p(rate * np.expm1(mu * (x - mu / 2)))
    return (ratio, w * ((1 - rate) * zero + rate * one)) if direction == "remove" else (-ratio, w * zero)


def enumerated_delta(laws: Sequence[Law], epsilon: float) -> float:
    """delta of a few mechanisms with few losses each, by adding up all combinations."""
    losses, masses = np.zeros(1), np.ones(1)
    for more, probabilities in laws:
        losses, masses = np.add.outer(losses, more).ravel(), np.multiply.outer(masses, probabilities).ravel()
    return float(masses @ np.maximum(0.0, -np.expm1(epsilon - losses)))
