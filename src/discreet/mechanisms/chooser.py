"""Choose: of several mechanisms that answer one question, the one with the least predicted error, and why."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from discreet.account.numeric.checks import Number
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation
from discreet.core.value import dataclass, replace
from discreet.mechanisms.cdf import Cdf
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parts.mechanism import Mechanism
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.workload import Thresholds, Workload

_MOST = 1 << 40


class CandidateMechanism(NamedTuple):
    """A mechanism that answers the question, and the half-width of its worst answer."""

    name: str
    mechanism: Mechanism
    error: float


@dataclass(frozen=True, slots=True)
class MechanismChoice:
    """The chosen mechanism, the reason, and all candidates, best first."""

    mechanism: Mechanism
    why: str
    candidates: tuple[CandidateMechanism, ...]


def choose(
    question: Workload | Mechanism,
    *others: Mechanism,
    epsilon: Number | None = None,
    delta: Number = 0,
    relation: Relation = "add_remove",
    beta: float = 0.05,
) -> MechanismChoice:
    """Return the mechanism whose worst answer is off by the least, with probability 1 - beta.

    A workload, with a budget, is answered by Laplace noise, by Gaussian noise where a delta is given and, for
    thresholds, by a tree. Several quantiles are found by both methods. Otherwise the candidates are the mechanisms
    themselves.

    Guarantee: none of the data is looked at; every candidate keeps its own loss.
    """
    if isinstance(question, Workload):
        if epsilon is None or others:
            why = "a workload is answered within a budget, by mechanisms that are made here"
            raise BadParameter("epsilon", epsilon, why=why, fix="call choose(workload, epsilon=1, delta=1e-6)")
        candidates = _answering(question, epsilon, delta, relation, beta)
    else:
        if epsilon is not None or delta:
            why = "the mechanisms have their own parameters"
            raise BadParameter("epsilon", epsilon, why=why, fix="leave epsilon and delta out")
        candidates = [candidate for each in (question, *others) for candidate in _ways(each, beta)]
    ordered = tuple(sorted(candidates, key=lambda candidate: candidate.error))
    return MechanismChoice(ordered[0].mechanism, _reason(ordered, beta), ordered)


def crossover(*, epsilon: Number, delta: Number, beta: float = 0.05) -> int:
    """Return the least number of attributes whose counts are better answered by Gaussian than by Laplace noise.

    One row moves all d of them: Laplace noise grows like d, Gaussian noise like the root of d.
    """
    # The calibration for a vector does not depend on its size except for the root; take it from d = 2.
    base = Gaussian(sensitivity_squared=2, epsilon=epsilon, delta=delta, dimension=2).sigma / 2

    def better(d: int) -> bool:
        sigma = Fraction(base * Fraction(2 * d) ** 0.5)
        normal = Gaussian(sigma=sigma, sensitivity_squared=d, dimension=d).error(beta, dimension=d)
        return normal < Laplace(sensitivity=d, epsilon=epsilon).error(beta, dimension=d)

    high = 2
    while not better(high) and high < _MOST:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if better(middle) else (middle, high)
    return high


def _answering(
    workload: Workload, epsilon: Number, delta: Number, relation: Relation, beta: float
) -> list[CandidateMechanism]:
    offered = workload.mechanisms(epsilon=epsilon, delta=delta, relation=relation)
    found = [
        CandidateMechanism(type(each).__name__.lower(), each, each.error(beta, dimension=workload.queries))
        for each in offered
    ]
    if isinstance(workload, Thresholds) and workload.cells > 1:
        tree = Cdf(thresholds=tuple(range(workload.cells - 1)), epsilon=epsilon, relation=relation)
        found.append(CandidateMechanism("cdf", tree, tree.error(beta)))
    return found


def _ways(mechanism: Mechanism, beta: float) -> list[CandidateMechanism]:
    if isinstance(mechanism, Quantile) and len(mechanism.quantiles) > 1:
        ways = [replace(mechanism, method="recursive"), replace(mechanism, method="separate")]
        return [CandidateMechanism(f"quantile, {way.method}", way, way.error(beta)) for way in ways]
    return [CandidateMechanism(type(mechanism).__name__.lower(), mechanism, mechanism.error(beta))]


def _reason(ordered: Sequence[CandidateMechanism], beta: float) -> str:
    best, *rest = ordered
    text = f"{best.name}: off by at most {best.error:.4g} with probability {1 - beta:g}"
    others = [f"{each.name} {each.error:.4g}{_ratio(each.error, best.error)}" for each in rest]
    return f"{text}; {', '.join(others)}" if others else f"{text}; the only candidate"


def _ratio(error: float, least: float) -> str:
    return f" ({error / least:.2f} times as much)" if least else ""
