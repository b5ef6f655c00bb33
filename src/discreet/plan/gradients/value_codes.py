"""Value codes: the codes of values that a caller holds in memory, read as an engine reads a column."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.column import Column

Codes = NDArray[np.int64]

_EPOCH = dt.date(1970, 1, 1)


def step_codes(column: Column, values: object) -> Codes:
    """Return the code of each value, counted from 0: a key's place, or whole steps from the lower bound; -1 for null.

    Guarantee: no value makes anything here fail, and none decides how another is read. Numbers are clamped and rounded
    to the column's step, as engines do; what the column cannot hold counts as null.
    """
    if column.kind in ("flag", "category"):
        return keyed(column, values, -1)
    low, high = column.steps
    found = in_steps(column, values)
    there = ~np.isnan(found)
    clamped = np.clip(np.floor(np.where(there, found, low) + 0.5), low, high)
    return np.where(there, clamped - low, -1).astype(np.int64)


def keyed(column: Column, values: object, null: int) -> Codes:
    """Return the place of each value among the keys of a category, or of a flag; `null` for everything else."""
    places: dict[Any, int] = {False: 0, True: 1} if column.kind == "flag" else {}
    places |= {key: place for place, key in enumerate(column.keys or ())}
    return np.array([_place(places, value, null) for value in plain(values)], np.int64)


def in_steps(column: Column, values: object) -> NDArray[np.float64]:
    """Return numbers and dates counted in steps, as floats; NaN for what is none."""
    array = values if isinstance(values, np.ndarray) else getattr(values, "values", None)
    if column.kind == "number" and isinstance(array, np.ndarray) and array.dtype.kind in "iuf":
        with np.errstate(all="ignore"):  # a warning would tell that somebody's number is odd
            found: NDArray[np.float64] = array.astype(np.float64) / float(column.step or 1)
        return found
    return np.array([_step(column, value) for value in plain(values)], np.float64)


def plain(values: object) -> list[Any]:
    """Return a column as a list of Python's own values."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, name):
            found: list[Any] = getattr(values, name)()
            return found
    return [*values]  # type: ignore[misc]  # a list, or what can be made one


def _place(places: dict[Any, int], value: object, null: int) -> int:
    try:
        return places.get(value, null)
    except Exception:  # a list has no hash, and what others raise when compared is theirs to choose
        return null


def _step(column: Column, value: Any) -> float:  # noqa: ANN401  (whatever a cell holds)
    try:
        if column.kind == "date":
            day = value.date() if isinstance(value, dt.datetime) else value
            return float((day - _EPOCH).days)
        if isinstance(value, complex) and not value.imag:  # a column of them may be one because of another's value
            value = value.real
        return float(value) / float(column.step or 1)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    except Exception:  # no number: whatever it raises, one value decides nothing for the others
        return float("nan")
