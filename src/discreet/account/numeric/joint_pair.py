"""Joint pairs: one dominating pair for a whole composition, true to both of its distributions far into their tails.

What runs on one random sample is amplified as a whole, so its pair is wanted, not only a point of its curve. One
transform errs by 1e-16 of the largest mass. Under a tilt the largest mass lies elsewhere, so the composition is
convolved under several tilts, from the tail of Q to the tail of P, and each place keeps the least of their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.account.numeric.enumerated import exactly
from discreet.account.numeric.lattice import Lattice, product
from discreet.account.numeric.loss_measure import NUDGE, Index, LossMeasure, discretize, lattice_edges
from discreet.account.numeric.pair import Array, Pair, atoms, lumps
from discreet.account.numeric.pilot import Leaf, Pilot

PLACES = 2**16  # of the lattice
KEPT = 2**13  # places that are kept at even distances
SHARE = 2.0**-9  # and where losses are small, at distances of this share of the loss
TILTS = 48
APART = 50.0  # how far (as a Bregman divergence) neighbouring tilts are apart: e^-12.5 is lost half-way between two
NARROW = 2.0**-20  # lumps of at most this width, relative to 1 + |loss|, are places; wider ones are cut-off tails

Part = tuple[LossMeasure, Index, int]


def joint(leaves: Sequence[Leaf], tail: float) -> Pair:
    """Return the pair of a composition; tails of about the given mass are cut off and counted as told.

    Guarantee: dominates the product of the leaves' pairs, in this direction and, reversed, in the other.
    """
    if not leaves:
        return lumps((0.0, 0.0, 1.0, 1.0))
    pilot = Pilot.of(leaves, tail)
    untold = sum(_untold(pair) * count for pair, _, count in pilot.by_weight()) * (1 + 1e-6)
    slop = sum(_slop(pair, coarse) * count for pair, coarse, count in pilot.by_weight())
    few = exactly(leaves, tail)
    if few is not None:
        return _pair(LossMeasure(few.losses, few.masses, few.infinity), untold, slop)
    rates = _rates(pilot, tail)
    first, last, spacing = _lattice(pilot, tail, rates)
    tilts = _tilts(pilot, tail)
    parts = [_divided(pair, coarse, spacing, tilts, count) for pair, coarse, count in pilot.by_weight()]
    masses = _masses(parts, first, last, spacing, tilts)
    below, above = _beyond(parts, first, last, spacing, rates)
    masses[0] += below * math.exp(max(first * spacing, -700.0))  # what P has below is less than what Q has
    safe = sum(count * math.log1p(-min(fine.infinity, 1 - 2.0**-53)) for fine, _, count in parts)
    infinity = (above - math.expm1(safe)) * (1 + 2.0**-40)
    losses = np.asarray(np.arange(first, last + 1) * spacing + slop, dtype=np.float64)
    return _pair(_thinned(LossMeasure(losses, masses, infinity)), untold + below, 2 * slop)


def _untold(pair: Pair) -> float:
    """Return the mass of Q in cut-off tails, for which the place where P's share of them is put does not account."""
    return sum(float(each.q[_width(each) > NARROW].sum()) for each in pair.each())


def _slop(pair: Pair, coarse: LossMeasure) -> float:
    """Return by how much a loss of the pair may have been raised until it lies on a lattice."""
    narrow = (_width(each)[_width(each) <= NARROW].max(initial=0.0) for each in pair.each())
    return float(4 * NUDGE + max(narrow)) * (1 + float(np.abs(coarse.losses[[0, -1]]).max()))


def _width(pair: Pair) -> Array:
    """Return the widths of lumps, relative to 1 + |loss|; what only one of the two can produce is a tail to itself."""
    sure = np.isinf(pair.low) | np.isinf(pair.high)
    low, high = np.where(sure, 0.0, pair.low), np.where(sure, 0.0, pair.high)
    return np.asarray(np.where(sure, np.inf, (high - low) / (1 + np.abs(high))))


def _rates(pilot: Pilot, tail: float) -> tuple[float, float]:
    """Return the rates at which Chernoff's bounds on the tails of Q (below) and P (above) are about best."""
    natural, room = 1 / math.sqrt(max(pilot.cumulants(0.0).variance, 1e-200)), -math.log(tail)
    rates = [natural * 2.0 ** (half / 2) for half in range(-16, 24)]
    down = max(rates, key=lambda rate: -(pilot.cumulants(-1 - rate).log_moment + room) / rate)
    return down, min(rates, key=lambda rate: (pilot.cumulants(rate).log_moment + room) / rate)


def _lattice(pilot: Pilot, tail: float, rates: tuple[float, float]) -> tuple[int, int, float]:
    """Return the first and the last place, and the spacing, of a lattice from the tail of Q to the tail of P."""
    (down, up), room = rates, -math.log(tail)
    ends = [
        sum(count * float(measure.losses[end]) * (1 + 1e-9) for measure, count in pilot.measured()) for end in (0, -1)
    ]
    low = max(-(pilot.cumulants(-1 - down).log_moment + room) / down, ends[0])
    high = min((pilot.cumulants(up).log_moment + room) / up, ends[1])
    low, high = min(low, -1e-12), max(high, 1e-12)
    spacing = (high - low) / PLACES
    return math.floor(low / spacing) - 2 * pilot.copies, math.ceil(high / spacing) + 3 * pilot.copies, spacing


def _tilts(pilot: Pilot, tail: float) -> list[float]:
    """Return tilts, `APART` from one to the next, of which the first is deep in the tail of Q and the last in P's."""
    room = -math.log(tail)
    found = [0.0, -1.0]
    for start, way in ((0.0, 1.0), (-1.0, -1.0)):
        tilt, before = start, -math.inf
        while len(found) < TILTS:
            log_moment, mean, _ = pilot.cumulants(tilt)
            deep = (tilt - start) * mean - log_moment
            if deep > room or deep < before + 1:  # far enough, or at an end, where there is nothing more to see
                break
            before = deep
            tilt = _next(pilot, tilt, way)
            found.append(tilt)
    inner = -1.0
    while len(found) < TILTS and (inner := _next(pilot, inner, 1.0)) < 0.0:
        found.append(inner)
    return sorted(found)


def _next(pilot: Pilot, tilt: float, way: float) -> float:
    """Return the next tilt in a direction: where the transform at this one is blind to what the other sees well."""
    log_moment = pilot.cumulants(tilt).log_moment
    natural = 1 / math.sqrt(max(pilot.cumulants(tilt).variance, 1e-200))
    low, high = 0.0, natural
    for _ in range(60):
        there = pilot.cumulants(tilt + way * high)
        if log_moment - there.log_moment + way * high * there.mean > APART or high > 1e6 * natural:
            break
        low, high = high, 1.5 * high
    return tilt + way * (low + high) / 2


def _divided(pair: Pair, coarse: LossMeasure, spacing: float, tilts: list[float], count: int) -> Part:
    """Return a pair divided over places that are close wherever one of the tilts looks."""
    views = {tilts[0], -1.0, 0.0, tilts[-1]}
    index = np.unique(np.concatenate([lattice_edges(pair, spacing, coarse, tilt) for tilt in views]))
    return discretize(pair, np.asarray(index * spacing, dtype=np.float64)), index, count


def _masses(parts: list[Part], first: int, last: int, spacing: float, tilts: list[float]) -> Array:
    """Return upper bounds of the masses of P: at each place the least that some tilt proves."""
    places = np.arange(first, last + 1) * spacing
    copies = sum(count for _, _, count in parts)
    logs = np.full(len(places), np.inf)
    for tilt in tilts:
        made = product([(Lattice.of(fine, index, tilt, spacing), count) for fine, index, count in parts], first, last)
        rounding = 2.0**-48 * (copies + abs(made.log_scale) + np.abs(tilt * places))
        with np.errstate(divide="ignore"):
            here = np.log(made.mass + made.error) + made.log_scale - tilt * places + rounding
        logs = np.minimum(logs, np.where(np.isnan(here), np.inf, here))
    return np.asarray(np.exp(np.minimum(logs, 0.0)) + 5e-324)


def _beyond(
    parts: list[Part], first: int, last: int, spacing: float, rates: tuple[float, float]
) -> tuple[float, float]:
    """Return Chernoff's bounds on the mass of Q below the first place and on that of P above the last."""
    down, up = rates
    plain = [(Lattice.of(fine, index, 0.0, spacing), count) for fine, index, count in parts]
    lowest = sum(int(index[0]) * count for _, index, count in parts)
    highest = sum(int(index[-1]) * count for _, index, count in parts)
    below = sum(count * part.log_moment(-1 - down) for part, count in plain) + down * first * spacing
    above = sum(count * part.log_moment(up) for part, count in plain) - up * last * spacing
    return (
        math.exp(min(0.0, below)) * (1 + 1e-6) if lowest < first else 0.0,
        math.exp(min(0.0, above)) * (1 + 1e-6) if highest > last else 0.0,
    )


def _thinned(whole: LossMeasure) -> LossMeasure:
    """Return the measure on fewer losses: enough everywhere, more of them where losses are small."""
    low, high = float(whole.losses[0]), float(whole.losses[-1])
    steps = SHARE * np.arange(math.ceil(math.log(PLACES) / SHARE))
    sides = [end * np.exp(-steps) for end in (low, high)]
    beyond = high + 1e-6 * (1 + high)
    edges = np.unique(np.concatenate([np.linspace(low, high, KEPT), *sides, [0.0, beyond]]))
    edges = edges[np.append(np.diff(edges) > 1e-13 * (high - low), True)]
    measure = discretize(atoms(whole.losses, whole.masses, whole.masses), edges)
    return LossMeasure(measure.losses, measure.masses, measure.infinity + whole.infinity)


def _pair(measure: LossMeasure, untold: float, slop: float) -> Pair:
    """Return the pair of masses under P; Q has at each loss as much as the least that the loss may be implies."""
    low = measure.losses - slop - 4 * NUDGE * (1 + np.abs(measure.losses))
    with np.errstate(over="ignore"):
        q = np.where(measure.masses > 0, np.minimum(measure.masses * np.exp(np.minimum(-low, 700.0)), 1.0), 0.0)
    rest = max(untold, 1.0 - float(q.sum()))
    ends = lumps((math.inf, math.inf, measure.infinity, 0.0), (-math.inf, -math.inf, 0.0, rest))
    return ends.with_lumps(low, measure.losses, measure.masses, q)
