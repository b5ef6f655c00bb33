"""Few losses: compositions small enough to be added up term by term, without a transform.

All terms are positive, so every delta comes out to nearly the last digit, however small it is and however the
losses are spaced.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.account.numeric.loss_measure import GUARD, NUDGE, discretize, pilot_edges
from discreet.account.numeric.pair import Array, Pair
from discreet.account.numeric.pilot import Leaf
from discreet.account.numeric.profile import Profile

LISTED = 2**14  # sums of losses that are listed one by one
PLACES = 2**12  # multiples of a common unit that sums of losses may take
COPIES = 2**12
FINE = 64  # how much finer than a pilot's grid that of a single mechanism is

Counted = Sequence[tuple[Pair, int]]


def exactly(leaves: Sequence[Leaf], tail: float) -> Profile | None:
    """Return the profile of a composition that is small enough, or None.

    Guarantee: at every epsilon at least the delta of the product of the leaves' pairs.
    """
    copies = sum(leaf.count for leaf in leaves)
    if copies > COPIES or len(leaves) > math.log2(LISTED):
        return None
    pairs = [(leaf.pair(tail), leaf.count) for leaf in leaves]
    if not any(pair.curves or pair.others for pair, _ in pairs):
        return _on_unit(pairs) or _listed(pairs)
    if copies > 1:
        return None
    measure = discretize(pairs[0][0], pilot_edges(pairs[0][0], FINE))
    return Profile(measure.losses, measure.masses, measure.infinity)


def _listed(pairs: Counted) -> Profile | None:
    """Return the profile from a list of all sums."""
    losses, masses = np.zeros(1), np.ones(1)
    for pair, count in pairs:
        finite = np.isfinite(pair.high)
        if math.log2(len(losses)) + count * math.log2(max(2, int(finite.sum()))) > math.log2(LISTED):
            return None
        for _ in range(count):
            losses = np.add.outer(losses, pair.high[finite]).ravel()
            masses = np.multiply.outer(masses, pair.p[finite]).ravel()
    order = np.argsort(losses)
    return _profile(losses[order], masses[order], pairs)


def _on_unit(pairs: Counted) -> Profile | None:
    """Return the profile of losses that are all multiples of one unit, by convolution of their masses."""
    unit = pairs[0][0].unit
    if not unit or any(pair.unit != unit for pair, _ in pairs):
        return None
    start, masses = 0, np.ones(1)
    for pair, count in pairs:
        finite = np.isfinite(pair.high)
        places = np.rint(pair.high[finite] / unit)  # floats, since they may be beyond all machine integers
        first = float(places.min())
        if len(masses) + count * (float(places.max()) - first) > PLACES:
            return None
        each = np.bincount((places - first).astype(np.int64), pair.p[finite]).astype(np.float64)
        start, masses = start + count * int(first), np.convolve(masses, _power(each, count))
    return _profile(np.asarray((start + np.arange(len(masses))) * unit, dtype=np.float64), masses, pairs)


def _power(masses: Array, count: int) -> Array:
    if count == 1:
        return masses
    half = _power(masses, count // 2)
    square = np.convolve(half, half)
    return np.convolve(square, masses) if count % 2 else square


def _profile(losses: Array, masses: Array, pairs: Counted) -> Profile:
    safe = copies = 0.0
    for pair, count in pairs:
        unbounded = min(1 - 2.0**-53, float(pair.p[pair.high == np.inf].sum()) * (1 + GUARD))
        safe, copies = safe + count * math.log1p(-unbounded), copies + count
    guard = (1 + GUARD) ** copies  # of every factor, and of sums of at most PLACES positive terms
    return Profile(losses + NUDGE * copies * (1 + np.abs(losses)), masses * guard, -math.expm1(safe) * (1 + GUARD))
