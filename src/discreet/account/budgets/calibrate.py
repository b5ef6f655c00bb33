"""Calibration: the least noise that keeps within an epsilon, found from the safe side.

Guarantee: the losses of the noise returned have, by their own accountants, an epsilon of at most the one asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.account.losses.composition import repeated
from discreet.account.losses.gaussian import Gaussian
from discreet.account.numeric.checks import Number, positive, positive_failure, probability, whole
from discreet.account.numeric.rounding import up
from discreet.core.errors import BadParameter

CLOSE = 1e-7  # relative width at which a search stops
MOST_TRIES = 200


def laplace(epsilon: Number) -> float:
    """Return the least scale of Laplace noise (continuous or discrete) for sensitivity 1 that is epsilon-private."""
    return up(1 / Fraction(positive("epsilon", epsilon)))


def gaussian(epsilon: Number, delta: Number) -> float:
    """Return the least sigma of Gaussian noise for sensitivity 1 that is (epsilon, delta)-private.

    The analytic Gaussian mechanism (Balle and Wang 2018): right for every epsilon. The classical formula
    sqrt(2 ln(1.25/delta))/epsilon is proved for epsilon <= 1 only, is too large there and too small far above.
    """
    target, failure = _down(positive("epsilon", epsilon)), positive_failure("delta", delta)
    start = 1 / min(max(target, 1e-100), 1e100)
    return _least(lambda sigma: Gaussian(sigma).epsilon(failure), target, start=start, close=1e-14)


def noise_multiplier(epsilon: Number, delta: Number, rate: Number, steps: int) -> float:
    """Return the least sigma of Gaussian noise on `steps` Poisson samples that is (epsilon, delta)-private."""
    target, failure = _down(positive("epsilon", epsilon)), positive_failure("delta", delta)
    share, times = probability("rate", rate), whole("steps", steps)
    if share == 0:
        raise BadParameter(
            "rate", rate, why="nobody is ever sampled, so no noise is needed", fix="use a rate in (0, 1]"
        )
    if share == 1:
        return _least(lambda sigma: repeated(Gaussian(sigma), times).epsilon(failure), target, start=1.0, close=1e-14)
    return _least(
        lambda sigma: (Gaussian(sigma).sampled(share) * times).epsilon(failure), target, start=1.0, close=CLOSE
    )


def _least(epsilon: Callable[[float], float], target: float, *, start: float, close: float) -> float:
    """Return the least noise whose epsilon is at most the target, by bracketing and regula falsi in logarithms."""
    low, high = start, start  # the noise `low` is too little, `high` is enough
    excess_low = excess_high = _excess(epsilon(start), target)
    while excess_high > 0:
        low, excess_low, high = high, excess_high, high * 2
        excess_high = _excess(epsilon(high), target)
        if high > 1e200:
            raise BadParameter("epsilon", target, why="no noise is enough", fix="use a larger epsilon or delta")
    while excess_low <= 0:
        high, excess_high, low = low, excess_low, low / 2
        if low < 1e-150:
            return high  # whatever noise there is, it is enough
        excess_low = _excess(epsilon(low), target)
    for attempt in range(MOST_TRIES):
        if high / low - 1 <= close or -excess_high <= close:
            break
        middle = _between(low, high, excess_low, excess_high, bisect=attempt % 3 == 2)
        excess = _excess(epsilon(middle), target)
        if excess > 0:
            low, excess_low = middle, excess
        else:
            high, excess_high = middle, excess
    return high


def _excess(found: float, target: float) -> float:
    """Return ln(found/target), bounded: positive if the noise is too little."""
    if found <= 0 or target <= 0:
        return -50.0 if found <= 0 else 50.0
    return min(50.0, max(-50.0, math.log(found / target)))


def _between(low: float, high: float, excess_low: float, excess_high: float, *, bisect: bool) -> float:
    if bisect:
        return math.sqrt(low * high)
    # A little towards the safe end, so the bracket closes from that side.
    share = excess_low / (excess_low - excess_high)
    share = min(max(share + 0.3 * CLOSE, 0.02 * CLOSE), 1 - 0.02 * CLOSE)
    return float(math.exp(math.log(low) + share * (math.log(high) - math.log(low))))


def _down(value: Number) -> float:
    return -up(-Fraction(value))
