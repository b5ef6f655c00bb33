"""Methods of synthesis: what each is given, what each gives back, and where it is found by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from math import comb
from typing import Protocol, cast

from discreet.core.errors import BadParameter, UnknownName
from discreet.publish.allowance import Allowance
from discreet.publish.code_table import Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.merged_codes import Merged
from discreet.publish.model.fit import Fit, NoisyMarginal

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


# Says which step of its plan a method is at; steps are known in advance, and say nothing of the data.
Say = Callable[[str], None]

# Exact marginals are held in memory while a method chooses among them: so many numbers are a gigabyte.
MOST_CELLS = 1 << 27
MOST_COMPARED = 1 << 31  # where they are looked at in turn

METHODS = ("aim", "independent", "merf", "mst", "mwem", "smalldb", "tables")


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A model of the merged domain, how its groups are shared out, and all that was measured to make it."""

    model: Fit
    merged: Merged
    measured: tuple[NoisyMarginal, ...]
    words: tuple[str, ...] = ()  # what the method promises


class Method(Protocol):
    """A module of `discreet.publish` that makes models."""

    def build(
        self, measure: Measure, domain: Domain, allowance: Allowance, workload: MarginalWorkload, say: Say
    ) -> Built:
        """Measure for no more than the allowance, and fit a model to what was measured."""


def method_of(name: str) -> Method:
    """Return the method of that name."""
    if name not in METHODS:
        raise UnknownName("method", str(name), (*METHODS, "auto"))
    return cast(Method, import_module(f"discreet.publish.methods.{name}"))


def check_method(name: str, domain: Domain) -> None:
    """Refuse, before anything is paid, a domain that a method could not do; a method that can do all has no `check`."""
    check: Callable[[Domain], None] | None = getattr(method_of(name), "check", None)
    if check is not None:
        check(domain)


def check_cells(name: str, domain: Domain, workload: MarginalWorkload) -> None:
    """Refuse, before anything is paid, marginals that would not fit memory."""
    counted = _SMALL[name](domain) if name in _SMALL else [*workload.weights]
    cells, most = sum(map(domain.cells, counted)), MOST_CELLS
    if name == "mst" and cells > MOST_COMPARED:
        most = MOST_COMPARED
    elif name == "mst" and counted:  # pairs are compared in turn, and a tree of them is kept
        cells = sum(sorted(map(domain.cells, counted))[1 - len(domain) :])
    elif cells <= MOST_CELLS and name in _CHOOSING:  # among all parts of marginals: many, but of few columns each
        cells = sum(map(domain.cells, workload.candidates()))
    if cells > most:
        why = f"its marginals have {cells:,} cells in all, and {most:,} are the most"
        raise BadParameter("workload", cells, why=why, fix="use fewer bins or columns, or marginals of fewer columns")


def _singles(domain: Domain) -> list[Clique]:
    return [(place,) for place in range(len(domain))]


def _pairs(domain: Domain) -> list[Clique]:
    return [*combinations(range(len(domain)), 2)]


# Methods that count single attributes or pairs, whatever the workload; and those that choose among all of its parts.
_SMALL: dict[str, Callable[[Domain], list[Clique]]] = {"independent": _singles, "mst": _pairs}
_CHOOSING = ("aim", "mwem")
