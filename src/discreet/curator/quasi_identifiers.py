"""Quasi-identifiers: small sets of columns that single out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from discreet.core.column import Column
from discreet.curator.raw_values import values_sql

if TYPE_CHECKING:
    import duckdb

# Sets of up to three of these many columns are tried: 10 + 45 + 120 scans at most.
_MOST_COLUMNS, _MOST_TOGETHER = 10, 3
_SHOWN = 5


def quasi_identifiers(
    engine: duckdb.DuckDBPyConnection,
    columns: Sequence[Column],
    physical: Mapping[str, str],
    rows: int,
    least: float,
) -> list[tuple[tuple[str, ...], float]]:
    """Return the smallest sets of columns on which at least that share of rows is unique, the sharpest first."""
    values = {str(column.name): values_sql(column, physical[str(column.name)]) for column in columns[:_MOST_COLUMNS]}
    found: dict[tuple[str, ...], float] = {}
    for size in range(1, _MOST_TOGETHER + 1):
        for names in combinations(values, size):
            # What is unique on fewer columns is unique on more, and says nothing new.
            if any(set(smaller) <= set(names) for smaller in found):
                continue
            keys = ", ".join(values[name] for name in names)
            sql = f"SELECT count(*) FROM (SELECT 1 FROM source GROUP BY {keys} HAVING count(*) = 1)"  # noqa: S608
            (unique,) = engine.execute(sql).fetchone() or (0,)
            if unique / rows >= least:
                found[names] = unique / rows
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN]
