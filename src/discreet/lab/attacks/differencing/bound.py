"""What a promise leaves to differencing: the person is in one half of the answers alone."""

from __future__ import annotations

import math

from discreet.account.numeric.checks import Number, positive
from discreet.lab.defence import DELTA, Defence, GaussianDefence, LaplaceDefence, ceiling
from discreet.lab.vault_copy import Vaulted


def pair_success(epsilon: Number) -> float:
    """Return how often the best guess from the difference of two answers is right, at epsilon for each answer.

    Theorem: (1 + t (1 + t^2)/2)/2 with t = tanh(epsilon/2), exactly, for a fair bit and discrete Laplace noise.
    """
    t = math.tanh(float(positive("epsilon", epsilon)) / 2)
    return (1 + t * (1 + t * t) / 2) / 2


def halved(defence: Defence) -> tuple[float, float] | None:
    """Return the epsilon and delta of the answers that a person is in, or None where nothing is promised.

    The answers without the person are the same whatever they are like, and cost them nothing.
    """
    match defence:
        case LaplaceDefence(total) | Vaulted(total, None):
            return float(total) / 2, 0.0
        case GaussianDefence(rho):
            return GaussianDefence(float(rho) / 2).epsilon, DELTA
    return None if defence.epsilon is None else (defence.epsilon, DELTA)


def promised(defence: Defence) -> float | None:
    """Return how often, at most, any attacker guesses a fair bit."""
    bound = halved(defence)
    return None if bound is None else ceiling(*bound)
