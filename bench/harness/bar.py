"""Bars: promises about a case's figures, and whether they were kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.harness.figure import Comparison, Unit, compare, show_compared


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit on a comparison: at least for ratios, at most for all else. Made by `faster` and `at_most`.

    A figure that is missing never clears a bar.
    """

    comparison: Comparison
    limit: float
    peer: str | None = None

    def measure(self, figures: Mapping[str, float]) -> float | None:
        """The number the bar speaks of, from the medians per item."""
        return compare(figures, self.comparison, self.peer)

    def cleared(self, figures: Mapping[str, float]) -> bool:
        """Whether the promise was kept."""
        measured = self.measure(figures)
        if measured is None:
            return False
        return measured >= self.limit if self.comparison == "ratio" else measured <= self.limit

    def text(self, unit: Unit) -> str:
        """The promise in a few characters: >= 1,000x, <= 50.0 ms."""
        sign = ">=" if self.comparison == "ratio" else "<="
        return f"{sign} {show_compared(self.limit, self.comparison, unit)}"


def faster(peer: str, factor: float) -> Bar:
    """At least `factor` times as fast per item as a peer; a factor below 1 allows us to be slower."""
    return Bar("ratio", factor, peer)


def at_most(limit: float, *, above: str | None = None) -> Bar:
    """Our figure is at most `limit`, or at most that much above a peer's."""
    return Bar("figure" if above is None else "difference", limit, above)
