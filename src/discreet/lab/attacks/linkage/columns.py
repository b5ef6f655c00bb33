"""Columns: what a stranger may know of people, what they would rather keep, and coarse codes of both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.lab.attacks.linkage.uniqueness import uniqueness
from discreet.lab.table_copy import Bits, TableCopy

COARSE = 32  # the most values a column of synthetic data has
_MOST_SECRETS = 20
_KNOWN = re.compile(
    "age|birth|born|dob|sex|gender|female|male|zip|post|city|town|county|region|state|site|district|address|race|ethnic"
    "|nation|country|language|marit|married|education|schooling|degree|occupation|job|employer|household|children"
)
_KEPT = re.compile(
    "health|diagn|disease|illness|drug|hiv|income|salary|wage|debt|religion|vote|party|crime|grade|score"
)


def known(copied: TableCopy, most: int = 4) -> tuple[str, ...]:
    """Return columns that outsiders may know: by their names or, where fewer than two sound so, those that tell most.

    A column that tells nearly everyone apart by itself is an identifier in disguise: names do not help it.
    """
    named = tuple(name for name in copied.attributes if _sounds(name, _KNOWN) and not _sounds(name, _KEPT))
    if len(named) >= 2:
        return named[:most]
    others = [name for name in copied.attributes if not _sounds(name, _KEPT)]
    left = TableCopy(copied.name, {name: copied.column(name) for name in others}) if others else copied
    return () if not left.attributes or not left.rows else uniqueness(left, most=min(most, 3)).whole.columns


def kept(copied: TableCopy, apart: Sequence[str]) -> str | None:
    """Return a column that people would rather keep: one with few values, by its name or the most even of them."""
    found: dict[str, tuple[bool, float]] = {}
    for name in copied.attributes:
        counts = np.bincount(copied.codes([name]))
        if name not in apart and 2 <= len(counts) <= _MOST_SECRETS:
            found[name] = (_sounds(name, _KEPT), -float(counts.max() / counts.sum()))
    return max(found, key=found.__getitem__, default=None)


def coarse(copied: TableCopy, name: str) -> tuple[Bits, int]:
    """Return at most `COARSE` codes of a column and their number: bins of equal width, or the most common values.

    Numbers and days are binned, with one bin for missing values; the most common other values keep their own code.
    """
    codes = copied.codes([name])
    many = int(codes.max(initial=0)) + 1
    if many <= COARSE:
        return codes, many
    amounts = numbers(copied.column(name))
    if amounts is None:
        places = np.full(many, COARSE - 1, np.int64)
        places[np.argsort(-np.bincount(codes), kind="stable")[: COARSE - 1]] = np.arange(COARSE - 1)
        return places[codes], COARSE
    missing = np.isnan(amounts)
    low, high = np.nanmin(amounts), np.nanmax(amounts)
    bins = np.floor((np.where(missing, low, amounts) - low) / (high - low) * (COARSE - 1)).astype(np.int64)
    return np.where(missing, COARSE - 1, np.minimum(bins, COARSE - 2)), COARSE


def numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a column of numbers or days as numbers, NaN where one is missing; None where it holds anything else."""
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    there = [value for value in values if value is not None]
    if there and all(isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in there):
        return np.array([np.nan if value is None else float(value) for value in values])
    if there and all(isinstance(value, date) for value in there):
        return np.array([np.nan if value is None else float(value.toordinal()) for value in values])
    return None


def _sounds(name: str, words: re.Pattern[str]) -> bool:
    """Tell whether a part of a name begins with one of the words."""
    return any(map(words.match, re.split(r"[^a-z]+", name.lower())))
