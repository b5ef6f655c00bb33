"""Workloads: the marginals that synthetic data has to preserve, and how much each of them matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from discreet.core.errors import BadParameter
from discreet.publish.domain import Clique, Domain

# A workload of more marginals than this would spend its budget on choosing among them.
MOST_MARGINALS = 20_000
DEFAULT_WAYS = 3
# A marginal's parts are all candidates: of more columns than this there would be thousands for each.
MOST_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class MarginalWorkload:
    """Marginals by weight; the candidates for measuring are all of their parts, weighted by what they share.

    The codes of attributes in `apart` are never merged, however rare: something is said of each of them.
    """

    weights: Mapping[Clique, int]
    apart: frozenset[int] = frozenset()

    @classmethod
    def of(cls, domain: Domain, workload: int | Sequence[Sequence[str]] | None = None) -> MarginalWorkload:
        """Read how many attributes each marginal has (3 by default), or a list of marginals by name."""
        if workload is None:
            workload = min(DEFAULT_WAYS, len(domain))
        if isinstance(workload, bool) or not isinstance(workload, int | Sequence):
            why = "it is how many columns each marginal has, or a list of marginals"
            raise BadParameter("workload", workload, why=why, fix="use 2 or 3")
        if not isinstance(workload, int):
            if not workload:
                raise BadParameter("workload", workload, why="it asks for free", fix="name marginals, or use 3")
            return cls(dict.fromkeys(_listed(domain, workload), 1))
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


def _listed(domain: Domain, workload: Sequence[Sequence[str]]) -> list[Clique]:
    """Read marginals by name, of no more columns and no more in number than can be chosen among."""
    if isinstance(workload, str):
        raise BadParameter("workload", workload, why="it is a list of lists of names", fix=f"write [[{workload!r}]]")
    if len(workload) > MOST_MARGINALS:
        why = f"{len(workload):,} marginals are more than {MOST_MARGINALS:,}"
        raise BadParameter("workload", len(workload), why=why, fix="list those that matter")
    for names in workload:
        if isinstance(names, str):
            raise BadParameter("workload", names, why="a marginal is a list of names", fix=f"write [[{names!r}], ...]")
        if not isinstance(names, Collection):
            why, fix = "a marginal is a list of names", 'write [["age", "sex"], ...], or how many columns each has'
            raise BadParameter("workload", names, why=why, fix=fix)
        if not 1 <= len(names) <= MOST_COLUMNS:
            why = f"a marginal has 1 to {MOST_COLUMNS} columns"
            raise BadParameter("workload", [*names], why=why, fix="list marginals of two or three columns")
    return [domain.clique(names) for names in workload]
