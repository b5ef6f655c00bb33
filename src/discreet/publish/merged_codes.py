"""Merging: codes that are too rare to be told from noise are counted together, and shared out again in the end."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Exact
from discreet.noise.bits import current
from discreet.publish.code_table import Counts, Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.kernels import grouped
from discreet.publish.model.fit import NoisyMarginal
from discreet.publish.model.junction import Table

# Codes below this many standard deviations of the noise are merged.
TOO_RARE = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """For each attribute the group that every code belongs to, and the share of its group that each code is given.

    Both follow from noisy counts alone.
    """

    domain: Domain  # what it was
    groups: tuple[NDArray[np.int64], ...]
    shares: tuple[Table, ...]

    @classmethod
    def of(
        cls, domain: Domain, ones: Sequence[NoisyMarginal], threshold: float = TOO_RARE, apart: Collection[int] = ()
    ) -> Merged:
        """Merge the codes of each attribute whose noisy count is below the threshold, in units of the noise.

        Those of attributes in `apart` are left as they are.
        """
        groups, shares = [], []
        for place, one in enumerate(ones):
            assert one.clique == (place,), "one noisy count of every attribute, in order"
            rare = one.values < threshold * one.scale
            if rare.sum() < 2 or place in apart:
                rare[:] = False
            often = np.cumsum(~rare) - 1
            group = np.where(rare, often[-1] + 1, often)
            weight = np.where(rare, np.maximum(one.values, 0) + one.scale / 4, 1.0)
            groups.append(group)
            shares.append(weight / np.bincount(group, weights=weight)[group])
        return cls(domain, tuple(groups), tuple(shares))

    @classmethod
    def none(cls, domain: Domain) -> Merged:
        """Merge nothing."""
        return cls(domain, tuple(map(np.arange, domain.sizes)), tuple(map(np.ones, domain.sizes)))

    @property
    def smaller(self) -> Domain:
        """The domain of groups."""
        return Domain(self.domain.names, tuple(int(group.max()) + 1 for group in self.groups))

    def measure(self, measure: Measure) -> Measure:
        """Return what measures marginals of groups, given what measures those of codes."""

        def smaller(cliques: Sequence[Clique]) -> list[Exact[Counts]]:
            found = zip(cliques, measure(cliques), strict=True)
            return [exact.map(grouped, [self.groups[place] for place in clique]) for clique, exact in found]

        return smaller

    def noisy(self, one: NoisyMarginal) -> NoisyMarginal:
        """Return the noisy count of an attribute by groups; merged noise counts as spread over all of them."""
        (place,) = one.clique
        values = np.bincount(self.groups[place], weights=one.values).astype(np.float64)
        return NoisyMarginal(one.clique, values, one.scale * float(np.sqrt(len(one.values) / len(values))))

    def expanded(self, clique: Clique, table: Table) -> Table:
        """Share a table of groups out over their codes."""
        for axis, place in enumerate(clique):
            shape = [-1 if other == axis else 1 for other in range(len(clique))]
            table = table.take(self.groups[place], axis=axis) * self.shares[place].reshape(shape)
        return table

    def codes(self, columns: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        """Draw a code of each row's group, by the shares."""
        return [self._drawn(place, column) for place, column in enumerate(columns)]

    def _drawn(self, place: int, column: NDArray[np.int64]) -> NDArray[np.int64]:
        group, share = self.groups[place], self.shares[place]
        order = np.argsort(group, kind="stable")
        upto = np.cumsum(share[order])  # each group's shares add up to one, so it ends at an integer
        chance = current().words(len(column), 53).astype(np.float64) / (1 << 53)
        found = np.searchsorted(upto, column + chance, side="right")
        return order[np.clip(found, 0, len(order) - 1)]
