"""Poisoning: how far people who lie about their reports can move an estimate, and where it shows.

A string of random bits of the right length is a valid report, so fakes cannot be told from honest ones. What can
be said is how much each of them weighs: an estimate is a sum over reports, and none adds more than the largest term.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import positive_failure, whole
from discreet.core.errors import BadParameter, Refusal
from discreet.local.parts.oracle import Oracle
from discreet.local.protocol import Protocol
from discreet.local.sketch import Sketch

_MOST_REPORTS = 4096
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Influence:
    """How far so many fakes can move any one raw estimate: down to `low`, up to `high`, at the very most."""

    fakes: int
    low: float
    high: float

    @property
    def most(self) -> float:
        """The larger of both, as a distance."""
        return max(-self.low, self.high)


def influence(protocol: Protocol, fakes: int) -> Influence:
    """Bound how far `fakes` well-formed reports, added to any honest ones, move each raw estimate of a protocol.

    A report that supports a value adds (1 - q)/(p - q) to its estimate and one that does not adds -q/(p - q), by the
    decoding weights of frequency oracles. A protocol of another kind says so itself (`contribution`), or has few enough
    reports that each can be decoded alone. The bound of marginals is that of tables of all their `ways`: a cell of a
    smaller table adds up cells of these, and may move by as much as they do together.

    Guarantee: no choice of fakes moves an estimate beyond the bound, and some choice attains it, for each value alone.
    """
    count = whole("fakes", fakes, least=0)
    low, high = _contribution(protocol)
    return Influence(count, count * low, count * high)


def _contribution(protocol: Protocol) -> tuple[float, float]:
    """Return the least and the most that one report adds to an estimate, rounded outwards."""
    own = getattr(protocol, "contribution", None)
    if own is not None:
        low, high = cast(tuple[Fraction, Fraction], own)
        return _outwards(float(low), float(high))
    if isinstance(protocol, Oracle):
        p, q = protocol.support
        return _outwards(float(-q / (p - q)), float((1 - q) / (p - q)))
    return _outwards(*_enumerated(protocol))


def _outwards(low: float, high: float) -> tuple[float, float]:
    margin = _ROUNDING * max(abs(low), abs(high))
    return low - margin, high + margin


def _enumerated(protocol: Protocol) -> tuple[float, float]:
    """Decode every report alone: under a pure promise every report is possible for every value, so one lists all."""
    reports = list(protocol.likelihood(0))
    if len(reports) > _MOST_REPORTS:
        why = f"it has {len(reports):,} different reports and does not say what one of them weighs"
        fix = "give the protocol a property `contribution`: least and most that one report adds"
        raise Refusal(f"the influence of fakes on {protocol.name}", why=why, fix=fix, value=protocol.name)
    values = np.array([protocol.estimate(protocol.aggregate([report])).value for report in reports])
    together = protocol.estimate(protocol.aggregate(reports)).value
    if not np.allclose(values.sum(axis=0), together, rtol=1e-6, atol=1e-6 * np.abs(values).max()):
        why = "its estimate is no sum over reports, so that what one of them adds depends on the others"
        fix = "bound the raw counts it decodes from, or compare estimates with and without the part in doubt"
        raise Refusal(f"the influence of fakes on {protocol.name}", why=why, fix=fix, value=protocol.name)
    return float(values.min()), float(values.max())


@dataclass(frozen=True, slots=True)
class Outlier:
    """A part whose reports differ from those of all other parts: which part, in which cell most, and how surely.

    `statistic` is the likelihood-ratio statistic of that cell (G, compared with chi-square of one degree of freedom),
    `chance` a bound on the probability that any part looks like this when all are alike.
    """

    part: int
    cell: int
    statistic: float
    chance: float


def outliers(sketches: Sequence[Sketch], *, false_alarm: float = 1e-3) -> list[Outlier]:
    """Flag the parts (cohorts, batches, epochs, collectors) whose reports are not like those of the rest.

    In every cell, the share of a part's reports is compared with that of all parts together. Where reports were dealt
    out to the parts at random, the likelihood-ratio statistic G of a cell exceeds g with probability at most
    2 e^(-g/2) (Hoeffding 1963, Theorems 1 and 4: without an approximation), and the bounds of all cells and parts are
    added up (Bonferroni). A flag says that a part is different, not that it is fake: another town is different too.

    Guarantee: if all parts are alike, any flag is raised with probability at most `false_alarm`.
    """
    alarm = float(positive_failure("false_alarm", false_alarm))
    if len(sketches) < 2:
        return []
    whole_sketch = sum(sketches[1:], sketches[0])
    parts = [(index, sketch) for index, sketch in enumerate(sketches) if sketch.reports]
    if not all((sketch.counts >= 0).all() and (sketch.counts <= sketch.reports).all() for _, sketch in parts):
        why = "its reports do not add at most one to each cell"
        raise BadParameter("sketches", whole_sketch.spec_hash, why=why, fix="compare estimates of the parts instead")
    trials = len(parts) * max(1, len(whole_sketch.counts))
    found = []
    for index, sketch in parts:
        statistics = _likelihood_ratio(sketch.counts, sketch.reports, whole_sketch.counts, whole_sketch.reports)
        cell = int(statistics.argmax()) if len(statistics) else 0
        most = float(statistics[cell]) if len(statistics) else 0.0
        chance = min(1.0, 2 * trials * math.exp(-most / 2))
        if chance <= alarm:
            found.append(Outlier(index, cell, most, chance))
    return sorted(found, key=lambda outlier: outlier.chance)


def _likelihood_ratio(
    counts: NDArray[np.int64], reports: int, all_counts: NDArray[np.int64], all_reports: int
) -> NDArray[np.float64]:
    """Return 2 n KL(share of the part || share of all) for every cell."""
    share, whole_share = counts / reports, all_counts / all_reports
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(share > 0, share * np.log(share / whole_share), 0.0)
        outside = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - whole_share)), 0.0)
    # A rounding error must not raise an alarm.
    return np.asarray(np.maximum(2 * reports * (inside + outside) * (1 - 1e-9) - 1e-6, 0.0))
