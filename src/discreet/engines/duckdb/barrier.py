"""Barrier: no optimizer of DuckDB reasons about records from statistics, or reads fewer of them because of those.

Parquet statistics leave NaN out, may be cut short, or may be wrong; they belong to all rows of a group together. An
optimizer that folds a comparison from them, even `isnan(x)`, lets one record decide how others are read.
"""

from __future__ import annotations

# Ranking within people is three times as fast without the first one; the others reason from statistics, move
# conditions into the scan of a file, where row groups are skipped by statistics, or change what a scan reads.
SWITCHED_OFF = (
    "top_n_window_elimination",
    "statistics_propagation",
    "compressed_materialization",
    "filter_pushdown",
    "join_filter_pushdown",
    "row_group_pruner",
    "late_materialization",
    "partitioned_execution",
    "type_pushdown",
    "scalar_fn_pushdown",
    "remote_pushdown",
    "regex_range",
)

# What a connection runs before anything else.
BARRIER = f"SET disabled_optimizers = '{','.join(SWITCHED_OFF)}'"
