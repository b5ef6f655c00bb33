"""Views: the marginals of a model that something was measured of, as one long vector, seen and spread back quickly.

Many marginals of one large clique share stations: tables over a few more attributes, from which each of them is a small
sum. The large table is then added up once for each station, and not once for each marginal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.publish.domain import Clique
from discreet.publish.model.belief import Table, axes_outside
from discreet.publish.model.junction import Junction

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
