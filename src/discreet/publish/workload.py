"""Workloads: the marginals that a twin is to get right, and how much each of them matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from discreet.core.errors import BadParameter
from discreet.publish.domain import Clique, Domain

# A workload of more marginals than this would spend its budget on choosing among them.
MOST_MARGINALS = 20_000
DEFAULT_WAYS = 3


@dataclass(frozen=True, slots=True)
class Workload:
    """Marginals by weight; the candidates for measuring are all of their parts, weighted by what they share.

    The codes of attributes in `apart` are never merged, however rare: something is said of each of them.
    """

    weights: Mapping[Clique, int]
    apart: frozenset[int] = frozenset()

    @classmethod
    def of(cls, domain: Domain, workload: int | Sequence[Sequence[str]] | None = None) -> Workload:
        """Read how many attributes each marginal has (3 by default), or a list of marginals by name."""
        if workload is None:
            workload = min(DEFAULT_WAYS, len(domain))
        if not isinstance(workload, int):
            if not workload:
                raise BadParameter("workload", workload, why="it asks for nothing", fix="name marginals, or use 3")
            return cls({domain.clique(names): 1 for names in workload})
        if not 1 <= workload <= len(domain):
            why = f"a marginal has 1 to {len(domain)} of the attributes"
            raise BadParameter("workload", workload, why=why, fix="use 2 or 3")
        if comb(len(domain), workload) > MOST_MARGINALS:
            why = f"{comb(len(domain), workload):,} marginals are more than {MOST_MARGINALS:,}"
            raise BadParameter(
                "workload", workload, why=why, fix="use fewer attributes in each, or list those that matter"
            )
        return cls(dict.fromkeys(combinations(range(len(domain)), workload), 1))

    def candidates(self) -> dict[Clique, int]:
        """Return every part of a marginal, with its weight: how many attributes it shares with all of them."""
        parts = {
            part for whole in self.weights for size in range(1, len(whole) + 1) for part in combinations(whole, size)
        }
        shares: Counter[int] = Counter()  # of each attribute: the weight of the marginals that have it
        for whole, weight in self.weights.items():
            shares.update(dict.fromkeys(whole, weight))
        return {part: sum(shares[place] for place in part) for part in sorted(parts)}
