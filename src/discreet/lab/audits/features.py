"""Features: numbers computed from one output, in which neighbours may differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from discreet.lab.audits.cells import FeatureCells
from discreet.lab.audits.outputs import KIND, Column, Outputs

Compute = Callable[[Outputs], Column]

_PAIRED = 6  # columns up to which all pairs are compared, and the order of all is taken
_EXAMINED = 8  # columns whose low-order bits are looked at
_MULTIPLIER = 0x9E3779B97F4A7C15  # odd, so multiplying loses nothing (2^64 / golden ratio, as in Knuth)
_SPECIAL = {0: "an ordinary number", 1: "NaN", 2: "infinity", 3: "minus infinity", 4: "minus zero"}


@dataclass(frozen=True, slots=True)
class Feature:
    """A name, how to compute it from outputs, and whether a reader can picture it."""

    name: str
    compute: Compute
    plain: bool = True
    labels: Mapping[int, str] | None = None  # of values that stand for names; None where values have an order


def features(zero: Outputs, one: Outputs) -> list[Feature]:
    """List what to look at, for outputs that look like these."""
    numeric = [name for name in zero.columns if name != KIND]
    found = [Feature(KIND, _column(KIND), labels=zero.words)] if KIND in zero.columns else []
    both = {name: np.concatenate([zero.columns[name], one.columns[name]]) for name in numeric[:_EXAMINED]}
    found += [
        Feature(f"class of {name}", _of(name, _special), labels=_SPECIAL)
        for name, values in both.items()
        if _special(values).any()
    ]
    found += [Feature(name, _column(name)) for name in numeric]
    found += [_low_bits(name, values) for name, values in both.items()]
    if len(zero.columns) > 1:
        found.append(Feature("whole output", _mixed, plain=False, labels={}))
    if len(numeric) > 1:
        found += _together(numeric)
    return found


def _together(names: list[str]) -> list[Feature]:
    """Features of several columns: sum, differences, which is largest, how they are ordered."""
    found = [
        Feature("sum of outputs", lambda outputs: _table(outputs, names).sum(axis=1)),
        Feature("place of the largest", lambda outputs: _table(outputs, names).argmax(axis=1), labels={}),
        Feature("place of the smallest", lambda outputs: _table(outputs, names).argmin(axis=1), labels={}),
        Feature("largest output", lambda outputs: _table(outputs, names).max(axis=1)),
        Feature("number of zeros", lambda outputs: (_table(outputs, names) == 0).sum(axis=1)),
    ]
    pairs = combinations(names, 2) if len(names) <= _PAIRED else pairwise(names)
    found += [Feature(f"{a} - {b}", _difference(a, b)) for a, b in pairs]
    if len(names) <= _PAIRED:
        found.append(Feature("order of outputs", lambda outputs: _order(_table(outputs, names)), labels={}))
    return found


def likelihood(parts: list[tuple[Feature, FeatureCells, Column]]) -> Feature:
    """Return the sum of the log likelihood ratios of several features, as learned cell by cell.

    If the features are independent this is the most powerful statistic (Neyman and Pearson); if not, it is a statistic.
    """

    def compute(outputs: Outputs) -> Column:
        total = np.zeros(len(outputs))
        for feature, cells, ratios in parts:
            total += ratios[cells.place(feature.compute(outputs))]
        return total

    return Feature("learned likelihood ratio", compute, plain=False)


def _column(name: str) -> Compute:
    return lambda outputs: outputs.columns[name]


def _of(name: str, compute: Callable[[Column], Column]) -> Compute:
    return lambda outputs: compute(outputs.columns[name])


def _difference(first: str, second: str) -> Compute:
    return lambda outputs: np.subtract(outputs.columns[first], outputs.columns[second])


def _table(outputs: Outputs, names: list[str]) -> Column:
    return np.column_stack([outputs.columns[name] for name in names])


def _order(table: Column) -> Column:
    """Give each order of a few columns a number, whose digits are the places from smallest to largest."""
    ranks = np.argsort(table, axis=1, kind="stable")
    return np.asarray(ranks @ (10 ** np.arange(table.shape[1], dtype=np.int64)))


def _low_bits(name: str, both: Column) -> Feature:
    finite = both[np.isfinite(both)] if both.dtype.kind == "f" else both
    if both.dtype.kind == "i" or (finite == np.floor(finite)).all():
        return Feature(f"{name} modulo 8", _of(name, _residue), labels={})
    return Feature(f"exponent of the lowest bit of {name}", _of(name, _lowest))


def _residue(values: Column) -> Column:
    if values.dtype.kind == "i":
        return values & 7
    with np.errstate(invalid="ignore"):
        return np.mod(values, 8)


def _lowest(values: Column) -> Column:
    """Return the exponent of the lowest bit set in each float: x is a multiple of 2**k for no greater k."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(whole == 0, 9999, exponent - 53 + lowest)


def _special(values: Column) -> Column:
    """Give special floats their number, and all others 0."""
    if values.dtype.kind != "f":
        return np.zeros(len(values), dtype=np.int64)
    kinds = [np.isnan(values), values == np.inf, values == -np.inf, (values == 0) & np.signbit(values)]
    return np.select(kinds, [1, 2, 3, 4], 0)


def _mixed(outputs: Outputs) -> Column:
    """Mix all columns into one integer; equal outputs have equal ones, and others collide by bad luck only."""
    total = np.zeros(len(outputs), dtype=np.uint64)
    for column in outputs.columns.values():
        plain = np.where(np.isnan(column), np.nan, column) if column.dtype.kind == "f" else column.astype(np.int64)
        bits = plain.view(np.uint64)
        total = (total ^ (bits >> np.uint64(29)) ^ bits) * np.uint64(_MULTIPLIER)
    return (total >> np.uint64(1)).astype(np.int64)
