"""Jumps: compositions of few mechanisms whose rare and large losses decide delta, added up on a grid of ratios.

Where one rare loss is as likely as many small ones together, no tilt shows both, and the round-off of a transform hides
what is sought. Here sums are taken pair by pair: all terms are positive, so nothing cancels, however small delta
is. The places are powers of a ratio, so few of them resolve losses of every size.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.account.numeric.loss_measure import NUDGE, LossMeasure, discretize
from discreet.account.numeric.pair import Array
from discreet.account.numeric.pilot import Pilot
from discreet.account.numeric.profile import Profile

RATIO = 1.02  # between neighbouring places
FINEST = 1e-5  # the least place, relative to the epsilon sought
GUARD = 2.0**-26  # covers the rounding of sums of positive terms, fewer than 2^24 of them
MOST_PLACES = 2**12
MOST_COPIES = 64


def summed(pilot: Pilot, near: float) -> Profile | None:
    """Return the profile of a composition, sharp for epsilons about `near`; None where there is too much to add.

    Guarantee: at every epsilon at least the delta of the product of the pilot's pairs.
    """
    edges = _edges(pilot, near * FINEST)
    if pilot.copies > MOST_COPIES or len(edges) > MOST_PLACES:
        return None
    whole: LossMeasure | None = None
    for pair, count in zip(pilot.pairs, pilot.counts, strict=True):
        part = _power(discretize(pair, edges), count)
        whole = part if whole is None else _sum(whole, part)
    return None if whole is None else Profile(whole.losses, whole.masses, whole.infinity)


def _edges(pilot: Pilot, least: float) -> Array:
    """Return places on both sides of zero, out to the largest sum and the least."""
    above = sum(count * max(0.0, float(m.losses[-1])) for m, count in pilot.measured())
    below = sum(count * max(0.0, -float(m.losses[0])) for m, count in pilot.measured())

    def powers(most: float) -> Array:
        count = math.ceil(max(0.0, math.log(most / least)) / math.log(RATIO)) if most > 0 else 0
        return np.asarray(least * RATIO ** np.arange(min(count, MOST_PLACES) + 2))

    return np.concatenate([-powers(below)[::-1], np.zeros(1), powers(above)])


def _power(measure: LossMeasure, count: int) -> LossMeasure:
    if count == 1:
        return measure
    half = _power(measure, count // 2)
    square = _sum(half, half)
    return _sum(square, measure) if count % 2 else square


def _sum(one: LossMeasure, other: LossMeasure) -> LossMeasure:
    """Return the sum of two independent losses, divided among the same places (see `discretize`)."""
    edges, masses = one.losses, np.zeros(len(one.losses))
    kept = other.masses > 0
    for at in np.flatnonzero(one.masses > 0).tolist():
        loss = edges[at] + other.losses[kept]
        loss = np.clip(loss + NUDGE * (1 + np.abs(loss)), edges[0], None)
        mass = one.masses[at] * other.masses[kept]
        cell = np.clip(np.searchsorted(edges, loss, side="right") - 1, 0, len(edges) - 2)
        low = edges[cell]
        up = mass * np.minimum(np.expm1(low - loss) / np.expm1(low - edges[cell + 1]), 1.0)
        masses += np.bincount(cell, mass - up, len(edges)) + np.bincount(cell + 1, up, len(edges))
    return LossMeasure(edges, masses * (1 + GUARD), (one.infinity + other.infinity) * (1 + GUARD))
