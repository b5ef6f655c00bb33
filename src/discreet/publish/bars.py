"""Bars: how far the truth may lie from what a twin tells: the noise of what was measured, and its distance to that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.publish.domain import Clique
from discreet.publish.merged import Merged
from discreet.publish.model.belief import Table
from discreet.publish.model.fit import Fit, Noisy
from discreet.publish.model.marginal import Marginals

Picked = Mapping[int, NDArray[np.bool_]]


def half_width(deviation: float, beta: float, *, gaussian: bool) -> float:
    """Return what a sum of discrete noise stays within with probability 1 - beta, given its standard deviation.

    One step is added for what is discrete: P(X >= m) <= P(N >= m - 1) for the discrete Gaussian X and the normal N
    (Canonne, Kamath and Steinke 2020). Of sums of Laplace noise a single one has the longest tail and the normal limit
    the widest shoulders; the larger of the two quantiles serves all of them.
    """
    normal = NormalDist().inv_cdf(1 - beta / 2)
    single = math.log(1 / beta) / math.sqrt(2)
    return (normal if gaussian else max(normal, single)) * deviation + 1


def bar(
    model: Fit, merged: Merged, measured: Iterable[Noisy], picked: Picked, beta: float, *, gaussian: bool
) -> float | None:
    """Bound how far the answer to a question is from the truth; None where nothing that was measured bears on it.

    All measurements that hold the question's attributes are put together, weighted by their accuracy. The twin's answer
    differs from that by a known amount, and that from the truth by its noise.
    """
    marginals = Marginals.of(model)
    precision = apart = 0.0
    for each in measured:
        weights = _weights(merged, each.clique, picked)
        if weights is None:
            continue
        told = marginals.table(each.clique) * model.total
        weight = 1 / (each.scale**2 * _cells(merged, each.clique, picked, weights))
        precision += weight
        apart += weight * float(((told - each.values) * weights).sum())
    if not precision:
        return None
    return abs(apart) / precision + half_width(precision**-0.5, beta, gaussian=gaussian)


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
    """Return how many cells' noise an answer adds up; at least one, so that nothing is known without noise.

    A single attribute that was measured by its codes, and merged afterwards, has the noise of every code in a group,
    of which its stated scale is the mean over groups.
    """
    cells = float(weights.sum())
    if len(clique) == 1:
        group = merged.groups[clique[0]]
        codes = float(picked[clique[0]].sum()) if clique[0] in picked else float(len(group))
        cells = max(cells, codes * (int(group.max()) + 1) / len(group))
    return max(1.0, cells)
