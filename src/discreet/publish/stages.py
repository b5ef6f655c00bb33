"""Stages: the steps that a method goes through and about how long they take, both known from its parameters alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from discreet.publish.domain import Clique, Domain
from discreet.publish.method import MarginalWorkload

ROUNDS = "choose and measure, round by round"

# Seconds of one core: of a number of a model in one step of a fit (and as much again for so many marginals of it), of
# a number of a marginal that is compared with the model, and of a small database that is looked at.
_FITTED, _MARGINALS, _COMPARED, _LOOKED_AT = 1e-7, 50, 2e-8, 2e-9


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of a plan: which of how many, and how many seconds it takes at most, about; None where it reads the table.

    Guarantee: a function of the question and what was declared. How many rounds there were, and how long they took,
    follows from noisy answers, and is not told.
    """

    name: str
    number: int
    of: int
    seconds: float | None

    def __str__(self) -> str:
        about = f", about {self.seconds:,.0f} s at most" if self.seconds is not None and self.seconds >= 2 else ""
        return f"{self.number} of {self.of}: {self.name}{about}"


Progress = Callable[[Stage], None]


def stages_of(method: str, domain: Domain, workload: MarginalWorkload) -> tuple[Stage, ...]:
    """Return the plan of a method."""
    plan = _PLANS[method](domain, workload)
    return tuple(Stage(name, place, len(plan), seconds) for place, (name, seconds) in enumerate(plan, 1))


def telling(stages: Sequence[Stage], progress: Progress) -> Callable[[str], None]:
    """Return what a method calls: it tells each stage of the plan once, and rounds without their number."""
    named = {stage.name: stage for stage in stages}

    def say(step: str) -> None:
        stage = named.pop(ROUNDS if step.startswith("round ") else step, None)
        if stage is not None:
            progress(stage)

    return say


_Plan = list[tuple[str, float | None]]


def _fit(cells: float, steps: int, marginals: int) -> float:
    return _FITTED * cells * steps * (1 + marginals / _MARGINALS)


def _cells(domain: Domain, cliques: Iterable[Clique]) -> int:
    return sum(map(domain.cells, cliques))


def _independent(domain: Domain, workload: MarginalWorkload) -> _Plan:  # noqa: ARG001
    fitting = _fit(sum(domain.sizes), 500, len(domain))
    return [("measure single attributes", None), ("fit the model", fitting)]


def _mst(domain: Domain, workload: MarginalWorkload) -> _Plan:  # noqa: ARG001
    pairs = [*combinations(range(len(domain)), 2)]
    largest = sorted(map(domain.cells, pairs))[-(len(domain) - 1) :] if pairs else []
    choosing: _Plan = [("choose pairs", None)] if pairs else []
    fitting = _fit(sum(largest) or sum(domain.sizes), 1000, len(domain))
    return [("measure single attributes", None), *choosing, ("measure pairs", None), ("fit the model", fitting)]


def _tables(domain: Domain, workload: MarginalWorkload) -> _Plan:
    fitting = _fit(math.prod(domain.sizes), 400, len(workload.weights))
    return [("measure the workload", None), ("fit the model", fitting)]


def _in_rounds(domain: Domain, workload: MarginalWorkload, many: int, most_cells: int, steps: int, last: int) -> _Plan:
    candidates = workload.candidates()
    compared = _COMPARED * _cells(domain, candidates)
    # The model grows from nothing to what there is room for.
    model = min(most_cells, math.prod(domain.sizes))
    rounds = many * len(domain)
    return [
        ("measure single attributes", None),
        ("count the workload", None),
        (ROUNDS, rounds * (compared + _fit(model / 2, steps, rounds // 2))),
        ("fit the model", _fit(model, last, rounds)),
    ]


def _merf(domain: Domain, workload: MarginalWorkload) -> _Plan:
    from discreet.publish.methods import merf

    features = max(merf.FEATURES, len(workload.weights))
    codes = sum(domain.cells((place,)) for clique in workload.weights for place in clique) / len(workload.weights)
    return [("measure the workload", None), ("fit the generator", 2e-9 * 1500 * features * merf.CLASSES * (10 + codes))]


def _smalldb(domain: Domain, workload: MarginalWorkload) -> _Plan:
    from discreet.publish.methods.smalldb import ALPHA, Sizes

    cells = math.prod(domain.sizes)
    looked = Sizes.of(cells, cells, ALPHA).databases * cells * _cells(domain, workload.weights)
    return [("count the table", None), ("go through all small databases", _LOOKED_AT * looked)]


def _aim(domain: Domain, workload: MarginalWorkload) -> _Plan:
    from discreet.publish.methods.aim import LAST_STEPS, MOST_CELLS, ROUNDS, STEPS

    return _in_rounds(domain, workload, ROUNDS, MOST_CELLS, STEPS, LAST_STEPS)


def _mwem(domain: Domain, workload: MarginalWorkload) -> _Plan:
    from discreet.publish.methods.mwem import LAST_STEPS, MOST_CELLS, ROUNDS, STEPS

    return _in_rounds(domain, workload, ROUNDS, MOST_CELLS, STEPS, LAST_STEPS)


_PLANS: dict[str, Callable[[Domain, MarginalWorkload], _Plan]] = {
    "aim": _aim,
    "independent": _independent,
    "merf": _merf,
    "mst": _mst,
    "mwem": _mwem,
    "smalldb": _smalldb,
    "tables": _tables,
}
