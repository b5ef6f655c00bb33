"""Belief propagation: from potentials on the cliques of a junction tree to the marginals of all of them, exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.publish.domain import Clique
from discreet.publish.model.junction import Junction

Table = NDArray[np.float64]

_TINY = 1e-300  # stands for a probability of zero where a logarithm is wanted


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Marginals of every clique of a tree, which add up to one and agree on separators, and the log of their scale."""

    tables: list[Table]
    log_scale: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """Who tells whom what, worked out once for a tree: which axes are summed out, and how what is left lines up."""

    tree: Junction
    shapes: tuple[tuple[int, ...], ...]
    up: tuple[tuple[int, ...], ...] = field(repr=False)  # axes of a clique that are not in its separator
    down: tuple[tuple[int, ...], ...] = field(repr=False)  # axes of the parent that are not
    here: tuple[tuple[int, ...], ...] = field(repr=False)  # the separator's shape within the clique
    there: tuple[tuple[int, ...], ...] = field(repr=False)  # and within the parent

    @classmethod
    def of(cls, tree: Junction) -> Schedule:
        """Work out the schedule of a tree."""
        up, down, here, there = [], [], [], []
        for place, (clique, parent) in enumerate(zip(tree.cliques, tree.parents, strict=True)):
            shared = {*tree.separators[place]}
            above: Clique = tree.cliques[parent] if parent >= 0 else ()
            up.append(axes_outside(clique, shared))
            down.append(axes_outside(above, shared))
            here.append(tuple(tree.sizes[each] if each in shared else 1 for each in clique))
            there.append(tuple(tree.sizes[each] if each in shared else 1 for each in above))
        shapes = tuple(tuple(tree.sizes[each] for each in clique) for clique in tree.cliques)
        return cls(tree, shapes, tuple(up), tuple(down), tuple(here), tuple(there))

    def zeros(self) -> list[Table]:
        """Return potentials that say nothing."""
        return [np.zeros(shape) for shape in self.shapes]

    def beliefs(self, potentials: Sequence[Table]) -> Beliefs:
        """Return the marginals of the distribution proportional to the exponential of the sum of all potentials."""
        parents = self.tree.parents
        logs = [*potentials]
        told: list[Table] = [np.zeros(())] * len(logs)
        log_scale = 0.0
        for place in range(len(logs) - 1, -1, -1):
            # Each sum is scaled by its own largest term, so none of them vanishes beside the others.
            peak = logs[place].max(axis=self.up[place], keepdims=True)
            summed = np.exp(logs[place] - peak).sum(axis=self.up[place])
            told[place] = np.log(summed) + peak.reshape(summed.shape)
            parent = parents[place]
            if parent >= 0:
                logs[parent] = logs[parent] + told[place].reshape(self.there[place])
            else:
                log_scale += float(told[place])
        tables: list[Table] = []
        for place, parent in enumerate(parents):
            if parent < 0:
                tables.append(np.exp(logs[place] - told[place]))
                continue
            shared = tables[parent].sum(axis=self.down[place])
            news = np.log(np.maximum(shared, _TINY)) - told[place]
            tables.append(np.exp(logs[place] + news.reshape(self.here[place])))
        return Beliefs(tables, log_scale)


def axes_outside(clique: Clique, kept: set[int]) -> tuple[int, ...]:
    """Return the axes of a clique's table to sum over so that only some attributes are left."""
    return tuple(axis for axis, place in enumerate(clique) if place not in kept)


def uniform(shape: Sequence[int]) -> Table:
    """Return the table in which every cell is as likely as any other."""
    return np.full(shape, 1 / math.prod(shape))
