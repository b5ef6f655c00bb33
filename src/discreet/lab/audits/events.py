"""Events: sets of cells of a feature, and the search for the one that tells two neighbours apart best."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.lab.audits.cells import FeatureCells, cells_of
from discreet.lab.audits.features import Feature
from discreet.lab.audits.outputs import Outputs
from discreet.lab.audits.promise import Promise

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]  # cells in a set
Masks = NDArray[np.bool_]  # one set a row

# The search scores events by Wilson's bounds at about the width that the final bounds will have; only those count.
_WIDTH = 5.0
_WIDTH_TAIL = 2.9e-7  # the probability that a normal variable exceeds it
# A set that was learned is preferred to one with a short description only if it is this much better.
_PLAINNESS = 1e-2


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outputs that is more likely on one neighbour than the claim allows, or nearly so."""

    feature: Feature
    cells: FeatureCells
    inside: Mask
    flipped: bool
    delta: float
    claimed: float
    margin: float
    text: str

    def hits(self, outputs: Outputs) -> int:
        """Count the outputs in the event."""
        return int(self.inside[self.cells.place(self.feature.compute(outputs))].sum())


def search(
    feature: Feature, learn: tuple[Outputs, Outputs], choose: tuple[Outputs, Outputs], promise: Promise
) -> Event:
    """Return the best event of a feature; cells and their order are learned on other runs than those that choose."""
    cells, ratios = learned(feature, *learn)
    zero, one = (cells.histogram(feature.compute(side)) for side in choose)
    sets = _sets(cells.count, ratios) if feature.labels is None else _choices(cells.count, ratios)
    masks = np.concatenate([sets[kind] for kind in sets])
    penalties = np.repeat([_PLAINNESS if kind == "learned" else 0.0 for kind in sets], [len(sets[k]) for k in sets])
    hits = masks @ np.column_stack([zero, one]).astype(float)
    best = None
    for flipped in (False, True):
        high, low = (hits[:, 1], hits[:, 0]) if flipped else (hits[:, 0], hits[:, 1])
        sizes = (int(one.sum()), int(zero.sum())) if flipped else (int(zero.sum()), int(one.sum()))
        for delta, claimed in promise:
            scores = _score(high, low, sizes, delta)
            place = int(np.argmax(scores - penalties))
            margin = margin_of(float(scores[place]), claimed)
            if margin > 0 and delta > promise[0][0]:
                margin /= 2  # a violation is best shown at the claim's own delta
            if best is None or margin > best[0] + 1e-3:
                best = margin, place, flipped, delta, claimed
    assert best is not None
    margin, place, flipped, delta, claimed = best
    mask = masks[place]
    text = _describe(feature, cells, mask)
    return Event(feature, cells, mask, flipped, delta, claimed, margin, text)


def learned(feature: Feature, zero: Outputs, one: Outputs) -> tuple[FeatureCells, Floats]:
    """Return the cells of a feature and the logarithms of their likelihood ratios, smoothed by half a run."""
    first, second = feature.compute(zero), feature.compute(one)
    cells = cells_of(first, second)
    a, b = cells.histogram(first) + 0.5, cells.histogram(second) + 0.5
    return cells, np.log(a / a.sum()) - np.log(b / b.sum())


def wilson(hits: Floats, runs: int) -> tuple[Floats, Floats]:
    """Return Wilson's lower and upper bounds of probabilities (Wilson 1927)."""
    share, square = hits / runs, _WIDTH**2 / runs
    middle, half = share + square / 2, np.sqrt(share * (1 - share) * square + square**2 / 4)
    return (middle - half) / (1 + square), (middle + half) / (1 + square)


def _score(high: Floats, low: Floats, sizes: tuple[int, int], delta: float) -> Floats:
    """Return about what the lower bound of epsilon would be, event by event; below 0 where nothing is shown.

    The Clopper-Pearson bounds of certain and of impossible events are used as they are: Wilson's are wider there than
    the final bounds will be, so that an event that always happens on one neighbour alone would look like one of many.
    """
    gain = np.where(high == sizes[0], _WIDTH_TAIL ** (1 / sizes[0]), wilson(high, sizes[0])[0]) - delta
    most = np.where(low == 0, 1 - _WIDTH_TAIL ** (1 / sizes[1]), wilson(low, sizes[1])[1])
    return np.log(np.maximum(gain, 1e-300) / most) + 1e-9 * (high / sizes[0] - low / sizes[1])


def margin_of(lower: float, claimed: float) -> float:
    """Order bounds by how far they exceed the claim, and those that do not by how near they come to it."""
    if lower > claimed:
        return lower - claimed
    # Those that show nothing are not all alike: the nearest to showing something comes first, down to -2.
    return lower / claimed - 1 if claimed and lower > 0 else -1 + math.tanh(min(lower, 0.0) / 50)


def _sets(count: int, ratios: Floats) -> Mapping[str, Masks]:
    """Return candidate events by kind: thresholds, single cells, both tails, and the cells of greatest likelihood.

    The last are the most powerful events there are on these cells (Neyman and Pearson 1933); the others are plainer.
    """
    lower = np.tri(count, dtype=bool)[:-1]
    outer = lower[: count // 2] | lower[: count // 2, ::-1]
    return {
        "threshold": np.concatenate([lower, ~lower, np.ones((1, count), dtype=bool)]),
        "single": np.eye(count, dtype=bool),
        "tails": np.concatenate([outer, ~outer]),
        "learned": _likeliest(count, ratios),
    }


def _choices(count: int, ratios: Floats) -> Mapping[str, Masks]:
    """Return candidate events for values without an order: one of them, all but one, or the most likely."""
    single = np.eye(count, dtype=bool)
    return {"single": np.concatenate([single, ~single]), "learned": _likeliest(count, ratios)}


def _likeliest(count: int, ratios: Floats) -> Masks:
    ranks = np.empty(count, dtype=np.int64)
    ranks[np.argsort(-ratios, kind="stable")] = np.arange(count)
    best = ranks[None, :] <= np.arange(count - 1)[:, None]
    return np.concatenate([best, ~best])


def _describe(feature: Feature, cells: FeatureCells, inside: Mask) -> str:
    """Say in words which outputs a set of cells holds."""
    if inside.all():
        return "any output"
    if feature.labels is not None:
        return _named(feature.name, cells, inside, feature.labels)
    edges = np.diff(np.concatenate([[False], inside, [False]]).astype(int))
    ranges = list(zip(np.flatnonzero(edges == 1).tolist(), (np.flatnonzero(edges == -1) - 1).tolist(), strict=True))
    if len(ranges) > 3:
        return f"{feature.name} in a learned set of {len(ranges)} ranges"
    return " or ".join(_range(feature.name, cells, first, last) for first, last in ranges)


def _named(name: str, cells: FeatureCells, inside: Mask, labels: Mapping[int, str]) -> str:
    """Name the values in a set, or those outside of it, whichever are fewer."""
    values = [labels.get(value, f"{value:.10g}") for value in cells.cuts.tolist()]
    have = [value for value, chosen in zip(values, inside[1::2], strict=True) if chosen]
    lack = [value for value in values if value not in have]
    if min(len(have), len(lack)) > 3:
        return f"{name} in a learned set of {len(have)} values"
    return f"{name} is {' or '.join(have)}" if len(have) <= len(lack) else f"{name} is not {' or '.join(lack)}"


def _range(name: str, cells: FeatureCells, first: int, last: int) -> str:
    """Say in words which values lie in the cells from the first to the last."""
    cuts, top = [f"{value:.10g}" for value in cells.cuts.tolist()], cells.count - 1
    # An odd cell is a cut itself, so the range includes it; an even one is the gap that ends, or begins, at a cut.
    low = "" if first == 0 else cuts[first // 2] + " <=" if first % 2 else cuts[first // 2 - 1] + " <"
    high = "" if last == top else "<= " + cuts[last // 2] if last % 2 else "< " + cuts[last // 2]
    if first == last and first % 2:
        return f"{name} = {cuts[first // 2]}"
    if low and high:
        return f"{low} {name} {high}"
    if high:
        return f"{name} {high}"
    return f"{name} {'>=' if low.endswith('=') else '>'} {low.partition(' ')[0]}"
