"""Census solver: the records of a block as an integer program over its published tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.lab.attacks._coins import coins
from discreet.lab.attacks.census.tables import Design
from discreet.lab.attacks.reconstruction.knowledge import known
from discreet.lab.defence import Answers, Defence, SuppressedDefence
from discreet.lab.table_copy import Bits

# Weights by which one of the solutions is chosen.
_WEIGHTS = 10_000
_INFEASIBLE = 2  # what the solver says of a program of which it has shown that nothing fits


class UniquenessProof(StrEnum):
    """Whether no other records fit a block's tables: proven, refuted by others that do, or undecided in time."""

    PROVEN = "proven"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """How many records of each kind a block has, as solved for, and whether other records fit its tables as well."""

    counts: Bits
    unique: UniquenessProof


def solve(
    plan: Design, answers: Answers, middles: list[tuple[int, int]], defence: Defence, seconds: float
) -> Solution | None:
    """Return records that fit what was published, or nothing where there are none, or none in time.

    Where the tables bound every count, any records that fit are a solution, and a second program looks for others: that
    there are none is proven where it is infeasible, refuted where it finds some, and undecided where time runs out.
    Without bounds, the records whose counts are off by the least in all, and nothing is said of others.
    """
    told = known(defence)
    if told.width is None:
        found = _nearest(plan, answers, seconds)
        return None if found is None else Solution(found, UniquenessProof.UNDECIDED)
    low, high = _limits(answers * told.scale, told.width, defence)
    return _within(plan, low, high, middles, seconds)


def _limits(counts: Answers, width: float, defence: Defence) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest whole count behind each answer; halves were rounded up."""
    low, high = np.maximum(0, np.ceil(counts - width)), np.ceil(counts + width) - 1
    if isinstance(defence, SuppressedDefence):  # that a cell is missing says that it is small
        low, high = np.where(np.isnan(counts), 0, low), np.where(np.isnan(counts), defence.least - 1, high)
    return np.where(np.isnan(low), 0, low), np.where(np.isnan(high), math.inf, high)


def _within(
    plan: Design, low: NDArray[np.float64], high: NDArray[np.float64], middles: list[tuple[int, int]], seconds: float
) -> Solution | None:
    from scipy.optimize import LinearConstraint
    from scipy.sparse import csr_matrix, vstack

    rows = _matrix(plan)
    # A kind of record that some table says nobody is of is left out: of thousands, tens remain.
    kept = np.asarray(rows.T @ (high <= 0)) == 0
    if not kept.any():
        return Solution(np.zeros(plan.kinds, np.int64), UniquenessProof.PROVEN)
    more, floors, tops = _medians(plan, middles)
    system = vstack([rows, csr_matrix(more)], format="csr")[:, kept]
    limits = LinearConstraint(system.tocsc(), np.concatenate([low, floors]), np.concatenate([high, tops]))
    weights = coins().integers(_WEIGHTS, size=int(kept.sum())).astype(np.float64)
    first = _milp(weights, limits, seconds).x
    if first is None:
        return None
    counts = np.zeros(plan.kinds, np.int64)
    counts[kept] = np.rint(first).astype(np.int64)
    return Solution(counts, _others(counts[kept], system, limits, seconds))


def _others(found: Bits, system: Any, limits: Any, seconds: float) -> UniquenessProof:  # noqa: ANN401  (scipy's types)
    """Look for records that fit as well and differ: fewer of some kind that was found, or more in all.

    Each way to differ gets a switch, of which one at least is on. A kind that was found c times has at most c - 1 where
    its switch is on; the last switch asks for one record more than there are.
    """
    from scipy.optimize import LinearConstraint
    from scipy.sparse import csc_matrix, eye, hstack

    support, kinds, total = np.flatnonzero(found), len(found), int(found.sum())
    several, most = len(support), _roof(system, limits)
    if not np.isfinite(most[support]).all():  # a switch that is off would bound a count that no table does
        return UniquenessProof.UNDECIDED
    picked = csc_matrix((np.ones(several), (np.arange(several), support)), shape=(several, kinds))
    slack = csc_matrix((most[support] - found[support] + 1, (np.arange(several),) * 2), shape=(several, several + 1))
    fewer = hstack([picked, slack], format="csc")
    more = hstack([csc_matrix(np.ones((1, kinds))), csc_matrix((1, several)), csc_matrix([[-(total + 1.0)]])], "csc")
    switched = hstack([csc_matrix((1, kinds)), csc_matrix(np.ones((1, several + 1)))], "csc")
    fitted = hstack([limits.A, csc_matrix((limits.A.shape[0], several + 1))], "csc")
    switches = hstack([csc_matrix((several + 1, kinds)), eye(several + 1)], "csc")
    constraints = [
        LinearConstraint(fitted, limits.lb, limits.ub),
        LinearConstraint(fewer, -np.inf, most[support]),
        LinearConstraint(more, 0, np.inf),
        LinearConstraint(switched, 1, np.inf),
        LinearConstraint(switches, 0, 1),
    ]
    solved = _milp(np.zeros(kinds + several + 1), constraints, seconds)
    if solved.x is not None and bool((np.rint(solved.x[:kinds]) != found).any()):
        return UniquenessProof.REFUTED
    return UniquenessProof.PROVEN if solved.status == _INFEASIBLE else UniquenessProof.UNDECIDED


def _roof(system: Any, limits: Any) -> NDArray[np.float64]:  # noqa: ANN401  (of scipy's own types)
    """Return the most records of each kind that the least of its cells allows."""
    entries = system.tocoo()
    roof = np.full(system.shape[1], np.inf)
    np.minimum.at(roof, entries.col, limits.ub[entries.row])
    return roof


def _milp(costs: NDArray[np.float64], limits: Any, seconds: float) -> Any:  # noqa: ANN401  (of scipy's own type)
    """Solve an integer program: x is None or fits, and the status says whether all of the work was done."""
    from scipy.optimize import milp

    options = {"time_limit": seconds, "mip_rel_gap": 0.0}
    return milp(costs, integrality=np.ones(len(costs)), constraints=limits, options=options)


def _nearest(plan: Design, answers: Answers, seconds: float) -> Bits | None:
    """Return the whole counts of the least summed error: x and two slacks for every published number."""
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import eye, hstack

    given = np.isfinite(answers)
    rows = _matrix(plan)[given]
    published = rows.shape[0]
    if not published:
        return None
    system = hstack([rows, eye(published), -eye(published)], format="csc")
    costs = np.concatenate([np.zeros(plan.kinds), np.ones(2 * published)])
    whole = np.concatenate([np.ones(plan.kinds), np.zeros(2 * published)])
    limits = LinearConstraint(system, answers[given], answers[given])
    # Noise leaves many tables as good as the best: one within a hundredth of it will do.
    options = {"time_limit": seconds, "mip_rel_gap": 0.01}
    solved = milp(costs, integrality=whole, constraints=limits, options=options)
    return None if solved.x is None else np.rint(solved.x[: plan.kinds]).astype(np.int64)


def _matrix(plan: Design) -> Any:  # noqa: ANN401  (a sparse matrix of scipy's)
    """Return the tables as a matrix: a row for every published cell, a column for every kind of record."""
    from scipy.sparse import csr_matrix, vstack

    every = np.arange(plan.kinds)
    parts = [
        csr_matrix((np.ones(plan.kinds), (of, every)), shape=(int(of.max()) + 1, plan.kinds)) for of in plan.tables
    ]
    return vstack(parts, format="csr")


def _medians(plan: Design, middles: list[tuple[int, int]]) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """Return what published medians say: at most half lie below one, and more than half up to it."""
    rows, floors, tops = [], [], []
    for among, (size, middle) in zip(plan.medians, middles, strict=True):
        if middle >= 0:
            half = (size - 1) // 2
            rows += [among & (plan.order < middle), among & (plan.order <= middle)]
            floors += [0, half + 1]
            tops += [half, size]
    return np.array(rows, np.float64).reshape(-1, plan.kinds), np.array(floors, float), np.array(tops, float)
