"""Fitting: the distribution over a junction tree whose marginals come nearest to noisy ones, in weighted squares.

Accelerated mirror descent in the geometry of the entropy: each step is one belief propagation. The squared distance is
smooth relative to the entropy, with a constant that is found on the way: a step is taken back when the distance
between its marginals is larger than the constant times their divergence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.publish.domain import Clique
from discreet.publish.model.junction import Junction, Schedule, Table, axes_outside

# A station has at most this share of the cells of its clique.
_SHARE = 16


@dataclass(frozen=True, slots=True)
class Station:
    """A table between a clique and the marginals that are seen through it."""

    home: int
    axes: tuple[int, ...]  # of the clique, to sum over
    shape: tuple[int, ...]  # of the station within the clique
    size: tuple[int, ...]  # of the station itself
    seen: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]  # which view, its axes to sum over, its shape here


@dataclass(frozen=True, slots=True)
class Views:
    """Sets of attributes, in order, and the way from a tree's cliques to their marginals and back."""

    cliques: tuple[Clique, ...]
    shapes: tuple[tuple[int, ...], ...]
    ends: tuple[int, ...]  # where each view begins in the vector, and where the last ends
    stations: tuple[Station, ...]

    @classmethod
    def of(cls, tree: Junction, cliques: Sequence[Clique]) -> Views:
        """Plan the views of a tree; each set lies within one of its cliques."""
        shapes = tuple(tuple(tree.sizes[place] for place in clique) for clique in cliques)
        ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
        homes: dict[int, list[int]] = {}
        for number, clique in enumerate(cliques):
            home = tree.home(clique)
            assert home is not None, "the tree is made over all that was measured"
            homes.setdefault(home, []).append(number)
        stations = [
            _station(tree, home, union, [(number, cliques[number]) for number in members])
            for home, numbers in homes.items()
            for union, members in _grouped(tree, home, [(number, cliques[number]) for number in numbers])
        ]
        return cls(tuple(cliques), shapes, tuple(ends), tuple(stations))

    def seen(self, tables: Sequence[Table]) -> Table:
        """Return all marginals, one after the other."""
        found = np.empty(self.ends[-1])
        for station in self.stations:
            table = tables[station.home].sum(axis=station.axes)
            for view, axes, _ in station.seen:
                found[self.ends[view] : self.ends[view + 1]] = table.sum(axis=axes).ravel()
        return found

    def spread(self, base: Sequence[Table], vector: Table) -> list[Table]:
        """Add a vector over the views to the tables of the cliques that hold them."""
        found = [*base]
        for station in self.stations:
            table = np.zeros(station.size)
            for view, _, shape in station.seen:
                table += vector[self.ends[view] : self.ends[view + 1]].reshape(shape)
            found[station.home] = found[station.home] + table.reshape(station.shape)
        return found

    def joined(self, parts: Mapping[Clique, Table]) -> Table:
        """Return a vector of given tables, with zeros for views that have none."""
        found = np.zeros(self.ends[-1])
        for clique, (start, end) in zip(self.cliques, pairwise(self.ends), strict=True):
            if clique in parts:
                found[start:end] = parts[clique].ravel()
        return found

    def apart(self, vector: Table) -> dict[Clique, Table]:
        """Return a vector as the tables it is made of."""
        places = zip(self.cliques, self.shapes, pairwise(self.ends), strict=True)
        return {clique: vector[start:end].reshape(shape) for clique, shape, (start, end) in places}


def _grouped(tree: Junction, home: int, views: Sequence[tuple[int, Clique]]) -> list[tuple[Clique, list[int]]]:
    """Put views of one clique into groups whose attributes together make a table much smaller than the clique's."""
    most = math.prod(tree.sizes[place] for place in tree.cliques[home]) // _SHARE
    groups: list[tuple[set[int], list[int]]] = []
    for number, clique in sorted(views, key=lambda view: (-len(view[1]), view[1])):
        for union, members in groups:
            if math.prod(tree.sizes[place] for place in union.union(clique)) <= most:
                union |= {*clique}
                members.append(number)
                break
        else:
            groups.append(({*clique}, [number]))
    return [(tuple(sorted(union)), members) for union, members in groups]


def _station(tree: Junction, home: int, union: Clique, members: Sequence[tuple[int, Clique]]) -> Station:
    holder = tree.cliques[home]
    seen = tuple(
        (number, axes_outside(union, {*clique}), tuple(tree.sizes[each] if each in clique else 1 for each in union))
        for number, clique in members
    )
    return Station(
        home,
        axes_outside(holder, {*union}),
        tuple(tree.sizes[each] if each in union else 1 for each in holder),
        tuple(tree.sizes[each] for each in union),
        seen,
    )


_SHRINK = 0.9  # how much bolder the next step is
_GROW = 2.0
_LOOK = 20  # steps between looks at how far we are


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMarginal:
    """A noisy marginal: which attributes, what was measured, and the standard deviation of each cell's noise."""

    clique: Clique
    values: Table
    scale: float


@dataclass(frozen=True, slots=True)
class Fit:
    """Marginals of every clique of a tree, the total they are to be multiplied by, and what led to them."""

    tree: Junction
    tables: tuple[Table, ...]
    total: float
    potentials: Mapping[Clique, Table]  # of the sets of attributes that were measured

    @property
    def cells(self) -> int:
        """How many numbers the model has."""
        return self.tree.cells


def total_of(measured: Sequence[NoisyMarginal]) -> float:
    """Estimate how many rows there are from the totals of noisy marginals, each weighted by its accuracy."""
    weights = [1 / (each.scale**2 * each.values.size) for each in measured]
    sums = [float(each.values.sum()) for each in measured]
    return max(1.0, sum(weight * found for weight, found in zip(weights, sums, strict=True)) / sum(weights))


def fit(
    tree: Junction,
    measured: Sequence[NoisyMarginal],
    *,
    steps: int = 1000,
    start: Fit | None = None,
    forbidden: Sequence[NoisyMarginal] = (),
    tolerance: float = 1e-4,
) -> Fit:
    """Fit a distribution to noisy marginals, each within a clique of the tree.

    `start` is an earlier fit to begin from. `forbidden` tables have minus infinity where no row may be. It ends after
    so many steps, or when twenty of them have brought less than the tolerance, in units of the noise.
    """
    schedule, total = Schedule.of(tree), total_of(measured)
    misfit = Misfit.of(tree, measured, total)
    views, weights = misfit.views, misfit.weights
    base = _forbidden(tree, schedule, forbidden)
    potentials = views.joined({} if start is None else start.potentials)
    far = schedule.beliefs(views.spread(base, potentials))  # z of the literature; `near` is x
    near, far_seen = [table.copy() for table in far.tables], views.seen(far.tables)
    near_seen = far_seen
    most = float(misfit.bound)
    bound, share = most / len(views.cliques), 1.0
    last = misfit.value(near_seen)
    for step in range(steps):
        slope = weights * (near_seen + share * (far_seen - near_seen) - misfit.target)
        while True:
            ahead = potentials - slope / (share * bound)
            news = schedule.beliefs(views.spread(base, ahead))
            seen = views.seen(news.tables)
            # The divergence of the new beliefs from the old ones follows from the step between their potentials.
            diverged = -float(seen @ slope) / (share * bound) - (news.log_scale - far.log_scale)
            apart = float(weights @ (seen - far_seen) ** 2) / 2
            if bound >= most or apart <= bound * diverged * (1 + 1e-9) + 1e-12:
                break
            bound = min(bound * _GROW, most)
        potentials, far, far_seen = ahead, news, seen
        for table, new in zip(near, far.tables, strict=True):
            table *= 1 - share
            table += share * new
        near_seen = near_seen + share * (far_seen - near_seen)
        share = (math.sqrt(share**4 + 4 * share**2) - share**2) / 2
        bound *= _SHRINK
        if step % _LOOK == _LOOK - 1:
            found = misfit.value(near_seen)
            if last - found < tolerance * max(found, 1.0):
                break
            last = found
    return Fit(tree, tuple(near), total, views.apart(potentials))


@dataclass(frozen=True, slots=True)
class Misfit:
    """Half the weighted squared distance between what views see of a model and what was measured, as parts of one."""

    views: Views
    target: Table
    weights: Table
    bound: float  # a constant of smoothness that always suffices: the sum over all marginals of their weights

    @classmethod
    def of(cls, tree: Junction, measured: Sequence[NoisyMarginal], total: float) -> Misfit:
        """Put together what was measured of the same attributes, weighted by accuracy."""
        together: dict[Clique, tuple[Table, float]] = {}
        for each in measured:
            weight = each.scale**-2
            values, known = together.get(each.clique, (np.zeros(each.values.shape), 0.0))
            together[each.clique] = values + weight * each.values, known + weight
        views = Views.of(tree, [*together])
        target = np.concatenate([(values / (weight * total)).ravel() for values, weight in together.values()])
        spread = [np.full(values.size, weight * total**2) for values, weight in together.values()]
        bound = sum(weight * total**2 for _, weight in together.values())
        return cls(views, target, np.concatenate(spread), bound)

    def value(self, seen: Table) -> float:
        """Return the misfit of marginals."""
        return float(self.weights @ (seen - self.target) ** 2) / 2


def _forbidden(tree: Junction, schedule: Schedule, forbidden: Sequence[NoisyMarginal]) -> list[Table]:
    """Return potentials that keep rows out of cells where there can be none."""
    found = schedule.zeros()
    for each in forbidden:
        home = tree.home(each.clique)
        assert home is not None, "the tree is made over all that is forbidden"
        shape = tuple(tree.sizes[place] if place in each.clique else 1 for place in tree.cliques[home])
        found[home] = found[home] + each.values.reshape(shape)
    return found
