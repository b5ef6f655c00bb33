"""Results: samples, their medians and spreads, and which bars were missed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median, quantiles

from bench.harness.bar import Bar
from bench.harness.case import Case
from bench.harness.figure import compare, show_compared


@dataclass(frozen=True, slots=True)
class Samples:
    """One participant's figures in one case, per item, in the order they were taken; or why there are none."""

    values: tuple[float, ...]
    items: int = 1
    failure: str | None = None

    @property
    def median(self) -> float | None:
        """The middle figure; None after a failure, whatever was measured before it."""
        return median(self.values) if self.values and self.failure is None else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """The first and third quartile."""
        if self.median is None:
            return None
        if len(self.values) == 1:
            return self.values[0], self.values[0]
        low, _, high = quantiles(self.values, n=4, method="inclusive")
        return low, high


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case with everyone's samples, ours first."""

    case: Case
    samples: Mapping[str, Samples]

    @property
    def figures(self) -> dict[str, float]:
        """Medians per item of those who have one."""
        return {name: one.median for name, one in self.samples.items() if one.median is not None}

    @property
    def failures(self) -> dict[str, str]:
        """Why some have no figure."""
        return {name: one.failure for name, one in self.samples.items() if one.failure is not None}

    @property
    def missed(self) -> tuple[Bar, ...]:
        """The bars that were not cleared."""
        return tuple(bar for bar in self.case.bars if not bar.cleared(self.figures))

    def ratio(self, peer: str) -> float | None:
        """How many times our figure the peer's is, per item."""
        return compare(self.figures, "ratio", peer)


@dataclass(frozen=True, slots=True)
class AreaResult:
    """All outcomes of an area, the versions that ran, and who was absent with the reason."""

    name: str
    outcomes: tuple[Outcome, ...]
    versions: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def misses(self) -> list[str]:
        """One line for each reason not to pass: a bar missed, a task that failed, a peer that is absent.

        A bar whose figure is missing is not said twice: the failure or the absence is its line.
        """
        lines = [f"{self.name}: {name} is absent: {why}" for name, why in self.absent.items()]
        for outcome in self.outcomes:
            where = f"{self.name}: {outcome.case.name}"
            lines += [f"{where}: {n} failed: {why}" for n, why in outcome.failures.items() if n not in self.absent]
            measured = (bar for bar in outcome.missed if bar.measure(outcome.figures) is not None)
            lines += [f"{where}: {reading(outcome, bar)}" for bar in measured]
        return lines


def reading(outcome: Outcome, bar: Bar) -> str:
    """What was measured beside its bar: 812x vs opendp (bar >= 1,000x)."""
    measured = bar.measure(outcome.figures)
    found = "-" if measured is None else show_compared(measured, bar.comparison, outcome.case.unit)
    against = f" vs {bar.peer}" if bar.peer else ""
    return f"{found}{against} (bar {bar.text(outcome.case.unit)})"
