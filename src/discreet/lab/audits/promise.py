"""What a claim allows, as points (delta, epsilon) that an audit can test."""

from __future__ import annotations

import math
from functools import lru_cache

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import failure
from discreet.account.numeric.rounding import up
from discreet.core.errors import BadParameter

Promise = tuple[tuple[float, float], ...]

# Where a claim is put to the test when the caller names no delta: certainty, rarities, and what every run can show.
DELTAS = (0.0, 1e-6, 1e-4, 1e-2, 0.05, 0.2)


@lru_cache(maxsize=256)
def promised(claim: PrivacyLoss, delta: float | None = None) -> Promise:
    """Return the epsilons the claim allows at one delta, or at several, where they are finite."""
    slack = float(claim.slack)
    asked = sorted({slack, *(each for each in DELTAS if each >= slack)}) if delta is None else [failure("delta", delta)]
    points = ((float(each), _epsilon(claim, float(each))) for each in asked)
    finite = tuple(point for point in points if math.isfinite(point[1]))
    if not finite:
        at = "any delta tried" if delta is None else f"delta {delta:g}"
        raise BadParameter(
            "claim", claim, why=f"it guarantees no finite epsilon at {at}", fix="claim more, or name a larger delta"
        )
    return finite


def _epsilon(claim: PrivacyLoss, delta: float) -> float:
    """Return the epsilon at delta: at most the peak, wherever delta covers the slack."""
    return min(claim.epsilon(delta), up(claim.peak)) if delta >= claim.slack else claim.epsilon(delta)
