"""Sampled: what is public of how rows add up to the columns of a question, for intervals of sampling."""

from __future__ import annotations

from fractions import Fraction

from discreet.answers.sampled_rows import SampledRows
from discreet.core.unit import Unit
from discreet.measures.measure import Measure

_COUNTS = ("count", "histogram", "cdf")
_FUNCTIONS = ("mean", "variance", "std")


def sampled_rows_of(measure: Measure, unit: Unit) -> SampledRows | None:
    """Return what a row adds to a column, from declarations alone; None of what has no interval of sampling."""
    most = unit.max_rows
    if measure.kind in _COUNTS:
        return SampledRows(most, Fraction(0), Fraction(1), all_rows=measure.about == "number of rows")
    if measure.kind == "people":
        return SampledRows(unit.max_groups, Fraction(0), Fraction(1))
    if measure.kind == "sum":
        ends = (getattr(getattr(measure, "statistic", None), end, None) for end in ("low", "high"))
        low, high = (None if end is None else Fraction(end) for end in ends)
        return SampledRows(most, low, high)
    return SampledRows(most) if measure.kind in _FUNCTIONS else None
