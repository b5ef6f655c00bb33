"""Junction trees: cliques of attributes that meet in separators, so sums over all cells become sums over few."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.publish.domain import Clique


@dataclass(frozen=True, slots=True)
class Junction:
    """Maximal cliques in an order in which each comes after its parent, with whom it shares its separator.

    The first clique of each connected part has no parent, and an empty separator. A tree that leaves attributes out
    says nothing of them.
    """

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]  # -1 for a root
    separators: tuple[Clique, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], cliques: Iterable[Clique]) -> Junction:
        """Make a tree in which each of the given cliques, and each single attribute, lies within a clique."""
        wanted = [*cliques, *((place,) for place in range(len(sizes)))]
        return _rooted(tuple(sizes), _maximal(_eliminated(sizes, wanted)))

    @property
    def cells(self) -> int:
        """How many numbers a model over the tree has."""
        return sum(math.prod(self.sizes[place] for place in clique) for clique in self.cliques)

    def home(self, clique: Clique) -> int | None:
        """Return the smallest clique of the tree that holds a set of attributes; None where none does."""
        wanted = {*clique}
        found = [place for place, each in enumerate(self.cliques) if wanted <= {*each}]
        return min(found, key=lambda place: self._size(place), default=None)

    def _size(self, place: int) -> int:
        return math.prod(self.sizes[each] for each in self.cliques[place])


def cells_with(sizes: Sequence[int], cliques: Iterable[Clique]) -> int:
    """Return how many numbers a model over these cliques would have."""
    wanted = [*cliques, *((place,) for place in range(len(sizes)))]
    return sum(math.prod(sizes[place] for place in clique) for clique in _maximal(_eliminated(sizes, wanted)))


def _eliminated(sizes: Sequence[int], cliques: Sequence[Clique]) -> list[Clique]:
    """Return the cliques that arise when attributes are taken out one by one, the cheapest at each turn."""
    near: dict[int, set[int]] = {place: set() for place in range(len(sizes))}
    for clique in cliques:
        for one, other in combinations(clique, 2):
            near[one].add(other)
            near[other].add(one)
    found = []
    while near:
        # Ties are broken by the place of the attribute, so the same question always makes the same tree.
        taken = min(near, key=lambda place: (math.prod(sizes[other] for other in near[place]) * sizes[place], place))
        others = near.pop(taken)
        found.append(tuple(sorted((taken, *others))))
        for other in others:
            near[other] |= others - {other}
            near[other].discard(taken)
    return found


def _maximal(cliques: Iterable[Clique]) -> list[Clique]:
    """Leave out cliques that lie within another one."""
    found: list[Clique] = []
    for clique in sorted({*cliques}, key=lambda each: (-len(each), each)):
        if not any({*clique} <= {*other} for other in found):
            found.append(clique)
    return found


def _rooted(sizes: tuple[int, ...], cliques: list[Clique]) -> Junction:
    """Join cliques by the largest separators there are (a maximum spanning forest), and put parents first."""
    order: list[int] = []
    parents: list[int] = []
    separators: list[Clique] = []
    left = [*range(len(cliques))]
    while left:
        best = max(
            (
                (len({*cliques[one]} & {*cliques[seen]}), -one, -place)
                for one in left
                for place, seen in enumerate(order)
            ),
            default=(0, -left[0], 0),
        )
        shared, one, parent = best[0], -best[1], -best[2]
        parents.append(parent if shared else -1)
        separators.append(tuple(sorted({*cliques[one]} & {*cliques[order[parent]]})) if shared else ())
        order.append(one)
        left.remove(one)
    return Junction(sizes, tuple(cliques[each] for each in order), tuple(parents), tuple(separators))


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
