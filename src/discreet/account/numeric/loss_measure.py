"""Measures: a pair's privacy loss, rounded to finitely many values so that no delta is lowered.

Connect the dots (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022): mass at a loss between two allowed values a < b is
divided between them so that its weight under P and under Q is kept. As a function of e^epsilon the curve of delta is
convex; the divided mass joins its points at a and b by a chord, which lies above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.account.numeric.pair import Array, DensityCurve, Outcome, Pair
from discreet.core.value import dataclass

Index = npt.NDArray[np.int64]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)
# Masses are raised by this share. It covers quadrature (below 2^-46 by the steps that curves declare) and the rounding
# of exponentials and logarithms (arguments below 2^10, so errors below 2^-43).
GUARD = 2.0**-40
# Losses are raised by this, relative to 1 + |loss|: a few roundings of their formulas.
NUDGE = 2.0**-49

PILOT_LUMPS = 400
SHORT = 1024  # places up to which none is worth leaving out
PLACES = 2**18  # places that a curve is divided among, about, at most
RELATIVE = 2.0**-10  # gaps, relative to the loss they lie at, at most
_AROUND_ZERO = np.array([-1.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True)
class LossMeasure:
    """Masses under P at increasing losses, and the mass whose loss is unbounded."""

    losses: Array
    masses: Array
    infinity: float


def discretize(pair: Pair, edges: Array) -> LossMeasure:
    """Divide all mass of P among the given losses; what lies above them counts as unbounded, what lies below moves up.

    Guarantee: at every epsilon the measure's delta is at least that of the pair.
    """
    if pair.others:
        return envelope([discretize(each, edges) for each in pair.each()])
    loss, mass = _mass(pair, edges)
    loss = np.maximum(loss + NUDGE * (1 + np.abs(loss)), edges[0])
    inside = loss <= edges[-1]
    infinity = float(mass[~inside].sum())
    loss, mass = loss[inside], mass[inside]
    cell = np.minimum(np.searchsorted(edges, loss, side="right") - 1, len(edges) - 2)
    below = edges[cell]
    share = np.expm1(below - loss) / np.expm1(below - edges[cell + 1])
    up = mass * np.minimum(share, 1.0)
    masses = np.bincount(cell, mass - up, len(edges)) + np.bincount(cell + 1, up, len(edges))
    return LossMeasure(edges, (masses * (1 + GUARD)).astype(np.float64), infinity * (1 + GUARD))


def pilot_edges(pair: Pair, finer: int = 1) -> Array:
    """Return a few hundred losses (or `finer` times as many) that follow the pair and show where its mass lies."""
    points = [curve_edges(curve, finer) for each in pair.each() for curve in each.curves]
    highs = np.concatenate([each.high for each in pair.each()])
    finite = np.unique(highs[np.isfinite(highs)])
    if len(finite) > PILOT_LUMPS * finer:
        finite = finite[np.linspace(0, len(finite) - 1, PILOT_LUMPS * finer).astype(int)]
    edges = np.unique(np.concatenate([*points, finite, np.zeros(1)]))
    # Losses that are all but equal would make differences of the curve all but rounding.
    edges = edges[np.append(np.diff(edges) > 1e-12 * (edges[-1] - edges[0]), True)]
    # One loss more above the last, so a nudged maximum still lies inside.
    return np.append(edges, edges[-1] + 1e-6 * (1 + abs(edges[-1])))


def lattice_edges(pair: Pair, spacing: float, pilot: LossMeasure, theta: float, share: float = RELATIVE) -> Index:
    """Return the multiples of `spacing` among which to divide the pair, fewer of them where little mass lies.

    Mass divided over a gap g adds mass g^2 to the variance (roughly), so gaps may grow as the tilted mass, of
    density e^(theta loss), falls: each of n stretches gets gaps of spacing / sqrt(n mass), and all of them together add
    at most twice what gaps of `spacing` would. A single loss that is rare and large may decide delta all by itself, so
    that no gap is wider than the given share of the loss it lies at.
    """
    first, last = math.floor(pilot.losses[0] / spacing), math.floor(pilot.losses[-1] / spacing) + 2
    if last - first < SHORT:
        return np.arange(min(first, -1), max(last, 1) + 1)
    highs = np.concatenate([each.high for each in pair.each()])
    known = np.sort(np.floor(highs[np.isfinite(highs)] / spacing))
    # The last place is one more than needed: a loss that is a multiple of the spacing may be rounded to either side.
    found = [known, known + 1, known[-1:] + 2, _AROUND_ZERO]
    if any(each.curves for each in pair.each()):
        edges = pilot.losses
        with np.errstate(divide="ignore"):
            exponent = theta * edges + np.log(pilot.masses)
        weight = np.exp(exponent - exponent.max())
        part = (weight[1:] + weight[:-1]) / (2 * weight.sum()) + 1e-12
        width = edges[1:] - edges[:-1]
        gap = np.maximum(1.0, 1 / np.sqrt(len(part) * part)) * spacing
        gap *= max(1.0, float((width / gap).sum()) / PLACES)
        counts = np.ceil(width / gap).astype(np.int64)
        step = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        points = np.repeat(edges[:-1], counts) + step * np.repeat(width / counts, counts)
        found += [np.rint(points / spacing), np.floor(edges[[0, -1]] / spacing), np.floor(edges[-1:] / spacing) + 2]
        found += [_geometric(float(edges[-1]) / spacing, share), -_geometric(-float(edges[0]) / spacing, share)]
    places = np.sort(np.concatenate(found).astype(np.int64))
    return np.asarray(places[np.append(True, places[1:] != places[:-1])])


def _geometric(most: float, share: float) -> Array:
    """Return integers from 1 / share up to `most`, each larger than the one before by that share of itself."""
    count = max(0, math.ceil(math.log(max(most * share, 1.0)) / math.log1p(share)))
    return np.asarray(np.floor(np.exp(np.arange(count) * math.log1p(share)) / share))


def envelope(measures: Sequence[LossMeasure]) -> LossMeasure:
    """Return the measure, on the losses that all share, whose delta is the largest of theirs at each of these losses.

    With r = e^(a - b) for neighbouring losses a < b and A(b) the mass at b and above, delta(a) is (1 - r) A(b) +
    r delta(b): positive terms, by which delta is found, and by which masses follow where another measure takes over.
    """
    losses = measures[0].losses
    fall = -np.expm1(losses[:-1] - losses[1:])  # 1 - r
    curves = np.array([_deltas(measure, fall) for measure in measures])
    leader, best = curves.argmax(axis=0), curves.max(axis=0)
    masses = np.array([measure.masses for measure in measures])[leader, np.arange(len(losses))]
    infinity = float(best[-1])
    above = np.append(best[1:] + (best[:-1] - best[1:]) / fall, infinity)
    # Where the leader is the same on both sides of a loss, its mass is the leader's; elsewhere the change of slope.
    changes = np.flatnonzero((leader[1:-1] != leader[:-2]) | (leader[1:-1] != leader[2:])) + 1
    rounding = 2.0**-48 * best[changes - 1] / np.minimum(fall[changes - 1], fall[changes])
    masses[changes] = np.maximum(above[changes - 1] - above[changes], 0.0) + rounding
    masses[0], masses[-1] = max(measure.masses[0] for measure in measures), max(m.masses[-1] for m in measures)
    return LossMeasure(losses, masses, infinity)


def _deltas(measure: LossMeasure, fall: Array) -> Array:
    above = measure.infinity + np.cumsum(measure.masses[::-1])[::-1]
    deltas = [measure.infinity]
    for share, mass in zip(fall[::-1].tolist(), above[:0:-1].tolist(), strict=True):
        deltas.append(share * mass + (1 - share) * deltas[-1])
    return np.array(deltas[::-1])


def curve_edges(curve: DensityCurve, finer: int = 1) -> Array:
    """Return increasing losses along a curve, evenly spread over its outcomes."""
    count = int(min(4096, max(24, math.ceil((curve.high - curve.low) / (4 * curve.step)))))
    loss, _, _ = curve.at(np.linspace(curve.low, curve.high, finer * count + 1))
    return np.sort(loss)


def quadrature(curve: DensityCurve, losses: Array) -> Outcome:
    """Return nodes whose weights stand for the curve's masses, exactly so between any two of the given losses."""
    count = max(1, math.ceil((curve.high - curve.low) / curve.step))
    inner = np.clip(curve.position(losses), curve.low, curve.high)
    evenly = curve.low + np.arange(count + 1.0) * ((curve.high - curve.low) / count)
    breaks = np.sort(np.concatenate([np.minimum(evenly, curve.high), inner]))
    half, middle = np.diff(breaks) / 2, (breaks[1:] + breaks[:-1]) / 2
    some = half > 0
    half, middle = half[some, None], middle[some, None]
    loss, p, q = curve.at((middle + half * NODES).ravel())
    weight = (half * WEIGHTS).ravel()
    return loss, p * weight, q * weight


def total_variation(pair: Pair) -> float:
    """Return P - Q of the outcomes that favour P, rounded up."""
    zero = np.zeros(1)
    total = float(np.maximum(pair.p - pair.q, 0.0).sum())
    for curve in pair.curves:
        _, p, q = quadrature(curve, zero)
        total += float(np.maximum(p - q, 0.0).sum())
    return min(1.0, total * (1 + GUARD) + GUARD)


def _mass(pair: Pair, edges: Array) -> tuple[Array, Array]:
    parts = [quadrature(curve, edges) for curve in pair.curves]
    loss = np.concatenate([pair.high, *(part[0] for part in parts)])
    mass = np.concatenate([pair.p, *(part[1] for part in parts)])
    some = mass > 0
    return loss[some], mass[some]
