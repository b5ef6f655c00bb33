"""Bars: how far the truth may be from synthetic data: the noise of what was measured, and the distance to that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.publish.domain import Clique
from discreet.publish.merged_codes import Merged
from discreet.publish.model.fit import Fit, NoisyMarginal
from discreet.publish.model.junction import Table
from discreet.publish.model.marginal import ModelMarginals

Picked = Mapping[int, NDArray[np.bool_]]

_SUMS = 1.001
# Measurements of the same number that noise would put so far apart no more often than this do not speak of the same.
_NEVER_BY_NOISE = 1e-4


def half_width(deviation: float, beta: float, *, gaussian: bool) -> float:
    """Return what a sum of discrete noise stays within with probability 1 - beta, given its standard deviation.

    One step is added for what is discrete: P(X >= m) <= P(N >= m - 1) for the discrete Gaussian X and the normal N
    (Canonne, Kamath and Steinke 2020). Of sums of Laplace noise a single one has the longest tail and the normal limit
    the widest shoulders; the larger of the two quantiles serves all of them, up to less than a thousandth where the
    two meet (a sum of two, at beta 0.093), which is added.
    """
    normal = -NormalDist().inv_cdf(beta / 2)  # and not of 1 - beta / 2, which is 1 for a small beta
    single = math.log(1 / beta) / math.sqrt(2)
    return (normal if gaussian else _SUMS * max(normal, single)) * deviation + 1


def bar(
    model: Fit, merged: Merged, measured: Iterable[NoisyMarginal], picked: Picked, beta: float, *, gaussian: bool
) -> float | None:
    """Bound how far the answer to a question is from the truth; None where nothing that was measured bears on it.

    All measurements that hold the question's attributes are combined, weighted by their accuracy. The model's answer
    differs from that by a known amount, and that from the truth by its noise. A row that lacks a value is missing from
    some marginals and not from others; where they contradict each other, the bar takes in all of them.
    """
    marginals = ModelMarginals.of(model)
    found: list[tuple[float, float]] = []  # how far the answer is from each measurement, and its standard deviation
    for each in measured:
        weights = _weights(merged, each.clique, picked)
        if weights is None:
            continue
        told = marginals.table(each.clique) * model.total
        deviation = each.scale * math.sqrt(_cells(merged, each.clique, picked, weights))
        found.append((float(((told - each.values) * weights).sum()), deviation))
    if not found:
        return None
    precision = sum(deviation**-2 for _, deviation in found)
    mean = sum(apart / deviation**2 for apart, deviation in found) / precision
    chance = _NEVER_BY_NOISE / len(found)
    if all(abs(apart - mean) <= half_width(deviation, chance, gaussian=gaussian) for apart, deviation in found):
        return abs(mean) + half_width(precision**-0.5, beta, gaussian=gaussian)
    return max(abs(apart) + half_width(deviation, beta, gaussian=gaussian) for apart, deviation in found)


def _weights(merged: Merged, clique: Clique, picked: Picked) -> Table | None:
    """Return which cells of a marginal are meant; None where it lacks an attribute, or a group is meant in part."""
    if not {*picked} <= {*clique}:
        return None
    weights = np.ones(merged.smaller.shape(clique))
    for axis, place in enumerate(clique):
        if place not in picked:
            continue
        group = merged.groups[place]
        share = np.bincount(group, weights=picked[place]) / np.bincount(group)
        if ((share > 0) & (share < 1)).any():
            return None
        weights = weights * share.reshape([-1 if other == axis else 1 for other in range(len(clique))])
    return weights


def _cells(merged: Merged, clique: Clique, picked: Picked, weights: Table) -> float:
    """Return how many cells' noise an answer adds up; at least one, so nothing is known without noise.

    A single attribute that was measured by its codes, and merged afterwards, has the noise of every code in a group,
    of which its stated scale is the mean over groups.
    """
    cells = float(weights.sum())
    if len(clique) == 1:
        group = merged.groups[clique[0]]
        codes = float(picked[clique[0]].sum()) if clique[0] in picked else float(len(group))
        cells = max(cells, codes * (int(group.max()) + 1) / len(group))
    return max(1.0, cells)
