"""Sums over all rows of a person in SQL, whose number nobody bounded."""

from __future__ import annotations

from discreet.engines.dialect import MOST_ROWS, Dialect
from discreet.plan.whole import Whole, is_wide


def summed(sql: str, bounds: tuple[int, int], dialect: Dialect) -> Whole:
    """Write the sum of a column between bounds, over the rows of a group: null where all are null."""
    low, high = (min(bounds[0], 0) * MOST_ROWS, max(bounds[1], 0) * MOST_ROWS)
    wide = is_wide(low, high)
    added = dialect.cast(dialect.total(sql, *bounds), dialect.wide if wide else dialect.narrow)
    return Whole(added, low, high, dialect, wide=wide)
