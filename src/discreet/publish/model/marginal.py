"""Marginals of a model: of any attributes, also those that no clique holds together, by variable elimination."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.publish.domain import Clique
from discreet.publish.model.fit import Fit
from discreet.publish.model.junction import Junction, Table, axes_outside


@dataclass(frozen=True, slots=True, eq=False)
class ModelMarginals:
    """The marginals of a fitted model, as shares of one; what several of them need is worked out once."""

    model: Fit
    below: tuple[frozenset[int], ...]  # the attributes at or under each clique
    given: tuple[Table, ...]  # each clique's table, divided by its separator's

    @classmethod
    def of(cls, model: Fit) -> ModelMarginals:
        """Prepare a model."""
        tree = model.tree
        below = [{*clique} for clique in tree.cliques]
        for place in range(len(tree.cliques) - 1, -1, -1):
            if tree.parents[place] >= 0:
                below[tree.parents[place]] |= below[place]
        given = tuple(_given(tree, place, table) for place, table in enumerate(model.tables))
        return cls(model, tuple(map(frozenset, below)), given)

    def table(self, clique: Clique) -> Table:
        """Return the marginal of a set of attributes; its axes are in the order of the clique."""
        tree = self.model.tree
        home = tree.home(clique)
        if home is not None:
            return summed(self.model.tables[home], axes_outside(tree.cliques[home], {*clique}))
        found: Table = np.ones(())
        have: Clique = ()
        for root, parent in enumerate(tree.parents):
            wanted = tuple(place for place in clique if place in self.below[root])
            if parent < 0 and wanted:
                top = self._top(root, wanted)
                table, attributes = self._summed(top, wanted, self.model.tables[top], wanted)
                found, have = np.multiply.outer(found, table), (*have, *attributes)
        return found.transpose([have.index(place) for place in clique])

    def _top(self, root: int, wanted: Clique) -> int:
        """Return the lowest clique under which all of the attributes lie: what is above it adds up to one."""
        parents = self.model.tree.parents
        found = root
        for place in range(root + 1, len(parents)):  # children come after their parents
            if parents[place] == found and {*wanted} <= self.below[place]:
                found = place
        return found

    def _summed(self, place: int, wanted: Clique, table: Table, keep: Clique) -> tuple[Table, Clique]:
        """Multiply a clique's table with what comes from below, and sum over all that is not kept."""
        tree = self.model.tree
        attributes: Clique = tree.cliques[place]
        news = []
        for child, parent in enumerate(tree.parents):
            if parent != place:
                continue
            shared = tree.separators[child]
            under = tuple(each for each in wanted if each in self.below[child] and each not in shared)
            if under:
                news.append(self._summed(child, wanted, self.given[child], (*shared, *under)))
        for number, (message, theirs) in enumerate(news):
            later = {each for _, others in news[number + 1 :] for each in others}
            kept = tuple(dict.fromkeys(each for each in (*attributes, *theirs) if each in keep or each in later))
            table, attributes = _product(table, attributes, message, theirs, kept), kept
        kept = tuple(each for each in attributes if each in keep)
        return summed(table, axes_outside(attributes, {*kept})), kept


def summed(table: Table, axes: tuple[int, ...]) -> Table:
    """Sum a table over axes; what is left is a table, also where it is a single number."""
    return np.asarray(table.sum(axis=axes), np.float64)


def _product(one: Table, ours: Clique, other: Table, theirs: Clique, kept: Clique) -> Table:
    product: Callable[..., Table] = np.einsum
    return product(one, [*ours], other, [*theirs], [*kept])


def _given(tree: Junction, place: int, table: Table) -> Table:
    axes = axes_outside(tree.cliques[place], {*tree.separators[place]})
    whole = table.sum(axis=axes, keepdims=True)
    width = math.prod(table.shape[axis] for axis in axes)
    return np.where(whole > 0, table / np.where(whole > 0, whole, 1.0), 1 / width)
