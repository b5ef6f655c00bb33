"""Batches: many marginals of a model of separate parts, all at once.

Each part's table is added up once along every axis, so its code 0 stands for "whatever the code"; the other codes
stay. Any marginal's numbers then lie in these tables, ready to be picked, and those of a marginal across parts are
products of them. What the code 0 itself has is the total less all the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.publish.domain import Clique
from discreet.publish.model.belief import Table
from discreet.publish.model.fit import Fit

# A batch has at most so many numbers, unless one marginal alone has more: eight megabytes of them.
MOST_NUMBERS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class MarginalBatch:
    """Sets of attributes whose marginals have the same shape, and the codes of every cell of it."""

    places: NDArray[np.int64]  # which attributes, a row for each set
    shape: tuple[int, ...]
    codes: NDArray[np.int64]  # a row for each cell

    @classmethod
    def of(cls, sizes: Sequence[int], cliques: Iterable[Clique]) -> Iterator[MarginalBatch]:
        """Put sets into batches, in the order in which their shapes first appear; none has too many numbers."""
        alike: dict[tuple[int, ...], list[Clique]] = {}
        for clique in cliques:
            alike.setdefault(tuple(sizes[place] for place in clique), []).append(clique)
        for shape, members in alike.items():
            codes = np.indices(shape).reshape(len(shape), math.prod(shape)).T
            places = np.array(members, np.int64).reshape(len(members), len(shape))
            many = max(1, MOST_NUMBERS // len(codes))
            for start in range(0, len(places), many):
                yield cls(places[start : start + many], shape, codes)

    @property
    def cliques(self) -> list[Clique]:
        """The sets, in order."""
        return [tuple(row) for row in self.places.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """The tables of a model of separate parts, added up so that code 0 of an attribute stands for all of its codes."""

    tables: tuple[Table, ...]
    steps: NDArray[np.int64]  # for each part, how far apart the codes of each attribute lie; 0 for those of others

    @classmethod
    def of(cls, model: Fit) -> Totals:
        """Add up the tables of a model, whose cliques share no attribute."""
        tree = model.tree
        assert not any(tree.separators), "parts that share nothing"
        steps = np.zeros((len(tree.cliques), len(tree.sizes)), np.int64)
        found = []
        for number, (clique, table) in enumerate(zip(tree.cliques, model.tables, strict=True)):
            summed = table.copy()
            step = 1
            for axis in range(len(clique) - 1, -1, -1):
                steps[number, clique[axis]] = step
                step *= summed.shape[axis]
                turned = np.moveaxis(summed, axis, 0)
                turned[0] = turned.sum(axis=0)
            found.append(summed.ravel())
        return cls(tuple(found), steps)

    def marginals(self, batch: MarginalBatch) -> Table:
        """Return the marginals of a batch, as shares of one: a row for each, with its cells in order."""
        found = np.ones((len(batch.places), len(batch.codes)))
        for table, steps in zip(self.tables, self.steps, strict=True):
            touched = steps[batch.places].any(axis=1)
            if touched.any():
                found[touched] *= table[steps[batch.places[touched]] @ batch.codes.T]
        found = found.reshape(-1, *batch.shape)
        for axis in range(1, found.ndim):
            turned = np.moveaxis(found, axis, 0)
            turned[0] -= turned[1:].sum(axis=0)
        return found.reshape(len(batch.places), len(batch.codes))
