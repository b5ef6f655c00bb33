"""Gaussian differential privacy in closed form: delta and epsilon of N(mu, 1) against N(0, 1), any mu, any delta.

delta(epsilon) = Phi(a) - e^epsilon Phi(b) with a = mu/2 - epsilon/mu and b = -mu/2 - epsilon/mu (Balle and Wang 2018,
Theorem 8). Since e^epsilon phi(b) = phi(a), both terms share the factor e^(-a^2/2), which is taken out: what is left is
a difference of scaled error functions that neither overflows nor underflows.
"""

from __future__ import annotations

import math

from discreet.account._scipy import special

HALVINGS = 70


def delta(mu: float, epsilon: float) -> float:
    """Return delta at epsilon >= 0, rounded up."""
    if mu == 0:
        return 0.0
    a, b = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    shared = math.exp(-a * a / 2) / 2
    first = float(special.ndtr(a)) if a > 0 else shared * float(special.erfcx(-a / math.sqrt(2)))
    second = shared * float(special.erfcx(-b / math.sqrt(2)))
    # a is rounded to 2^-53 of its larger term, which changes e^(-a^2/2) by |a| times that.
    wobble = 2.0**-50 * (4 + abs(a) * (mu + epsilon / mu))
    return min(1.0, max(0.0, (first - second) * (1 + wobble) + (first + second) * 2.0**-51) + 5e-324)


def epsilon(mu: float, delta_: float) -> float:
    """Return the least epsilon >= 0 whose delta is at most the given one, rounded up."""
    if mu == 0 or delta(mu, 0.0) <= delta_:
        return 0.0
    if delta_ == 0:
        return math.inf
    # Phi(-t) <= e^(-t^2/2), so that this epsilon is enough whatever the second term is.
    low, high = 0.0, mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta_))
    while delta(mu, high) > delta_:
        high *= 1.01
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if delta(mu, middle) > delta_ else (low, middle)
    return high
