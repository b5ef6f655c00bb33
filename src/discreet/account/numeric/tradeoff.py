"""Trade-off curves: how well any test can tell neighbours apart (Wasserman and Zhou 2010; Dong, Roth, Su 2022).

f(a) is the least false-negative rate of a test whose false-positive rate is a. Being (epsilon, delta)-private says
f(a) >= max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)); f is the largest of these over all epsilon, and any
selection of epsilons gives a lower bound of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from discreet.account.numeric.pair import Array
from discreet.account.numeric.profile import Profile
from discreet.account.numeric.rounding import CALL
from discreet.account.numeric.scipy_functions import special

FLOOR = 1e-9  # rates of error below this are not resolved
POINTS = 513


def gaussian(mu: float, rates: Array) -> Array:
    """Return Phi(Phi^-1(1 - a) - mu)."""
    place = np.clip(special.ndtri(rates), -40.0, 40.0)
    # Lowered by the rounding of all terms; a test that never errs one way finds nothing the other way.
    least = special.ndtr(-place - mu - 8 * CALL * (1 + np.abs(place) + mu)) * (1 - 8 * CALL)
    return np.asarray(np.where(rates == 0, 1.0, least))


def of_profiles(profiles: Sequence[Profile], rates: Array) -> Array:
    """Return the curve that the worst of several profiles allows."""
    most = max(float(profile.losses[-1]) for profile in profiles)
    return of_curve(lambda epsilon: max(profile.delta(epsilon) for profile in profiles), rates, most)


def of_curve(delta: Callable[[float], float], rates: Array, most: float = 64.0) -> Array:
    """Return the curve that delta, as a function of epsilon, allows; epsilons up to `most` are tried."""
    epsilons = _useful(delta, most)
    deltas = np.array([delta(float(epsilon)) for epsilon in epsilons])
    flat = rates.reshape(-1, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.exp(epsilons) * (1 + CALL)  # infinity where a float cannot hold it
        steep = 1 - deltas - np.where(flat > 0, grown * flat, 0.0)
    shallow = (1 - deltas - flat) / grown
    # Both are lowered by the roundings of numbers up to 1; 1 itself is exact.
    steep = np.where((flat > 0) | (deltas > 0), steep - CALL, steep)
    best = np.maximum(np.maximum(steep, (shallow - CALL / grown) * (1 - CALL)).max(axis=1), 0.0)
    return np.asarray(best.reshape(rates.shape))


def _useful(delta: Callable[[float], float], most: float) -> Array:
    """Return epsilons from 0 to where delta has become too small to matter."""
    low, high = 0.0, max(most, 1e-12)
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) > FLOOR else (low, middle)
    return np.linspace(0.0, high, POINTS)
