"""Samples: rows drawn from a fitted model, clique by clique, each given what it shares with its parent."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import current
from discreet.publish.domain import Clique
from discreet.publish.model.fit import Fit
from discreet.publish.model.junction import Table

Codes = NDArray[np.int64]


def sample(model: Fit, rows: int, *, independent: bool = False) -> list[Codes]:
    """Draw rows, as a column of codes for each attribute.

    Rows are spread evenly over the cells of each clique (systematic sampling, in random order), so the sample's
    marginals are as near to the model's as whole rows can be; `independent` draws each row by itself.
    """
    found: list[Codes | None] = [None] * len(model.tree.sizes)
    for place, clique in enumerate(model.tree.cliques):
        shared = model.tree.separators[place]
        new = tuple(each for each in clique if each not in shared)
        table = _ordered(model.tables[place], clique, (*shared, *new))
        wide = table.reshape(math.prod(model.tree.sizes[each] for each in shared), -1)
        given = _index([found[each] for each in shared], [model.tree.sizes[each] for each in shared], rows)
        drawn = _drawn(wide, given, independent=independent)
        for each in reversed(new):
            drawn, found[each] = np.divmod(drawn, model.tree.sizes[each])
    return [codes for codes in found if codes is not None]


def _ordered(table: Table, clique: Clique, order: Clique) -> Table:
    return np.ascontiguousarray(table.transpose([clique.index(each) for each in order]))


def _index(columns: list[Codes | None], sizes: list[int], rows: int) -> Codes:
    index = np.zeros(rows, np.int64)
    for column, size in zip(columns, sizes, strict=True):
        assert column is not None, "a parent is drawn before its children"
        index = index * size + column
    return index


def _drawn(wide: Table, given: Codes, *, independent: bool) -> Codes:
    """Draw for each row a column of `wide`, in proportion to the row of it that is given."""
    rows, width = len(given), wide.shape[1]
    # A row of zeros is never given, except by rounding; then every column is as good.
    weights = np.where(wide.sum(axis=1, keepdims=True) > 0, np.maximum(wide, 0), 1.0)
    upto = np.cumsum(weights, axis=1)
    upto /= upto[:, -1:]
    points = _points(given, rows, independent=independent)
    # Each group's cumulative shares lie in a stretch of their own, so one search serves all of them.
    edges = (upto + np.arange(len(wide))[:, None]).ravel()
    found = np.searchsorted(edges, given + points, side="right")
    clipped: Codes = np.clip(found - given * width, 0, width - 1)
    return clipped


def _points(given: Codes, rows: int, *, independent: bool) -> NDArray[np.float64]:
    """Return a point of [0, 1) for each row: by chance, or evenly spread within each group in a random order."""
    chance = current().words(rows, 53).astype(np.float64) / (1 << 53)
    if independent:
        return chance
    order = np.lexsort((chance, given))
    counts = np.bincount(given, minlength=1)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    rank = np.empty(rows, np.int64)
    rank[order] = np.arange(rows) - np.repeat(starts, counts)
    offset = current().words(len(counts), 53).astype(np.float64) / (1 << 53)
    return (rank + offset[given]) / counts[given]
