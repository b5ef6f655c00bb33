"""Methods of synthesis: what each is given, what each gives back, and where it is found by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from typing import Protocol, cast

from discreet.core.errors import BadParameter, UnknownName
from discreet.publish.allowance import Allowance
from discreet.publish.code_table import Measure
from discreet.publish.domain import Clique, Domain
from discreet.publish.merged_codes import Merged
from discreet.publish.model.fit import Fit, NoisyMarginal
from discreet.publish.workload import MarginalWorkload

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
