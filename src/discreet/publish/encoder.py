"""Encoding: a custodian's own values as codes, to compare synthetic data with the table it was made from."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.column import Column

_EPOCH = dt.date(1970, 1, 1)


def encoded(column: Column, edges: tuple[int, ...] | None, values: object) -> NDArray[np.int64]:
    """Return the code of each value: clamped and rounded to the column's step, as engines do; nulls have the last.

    What the column cannot hold counts as null, and null has no code (-1) where the column was declared without.
    """
    listed = _plain(values)
    if edges is None:
        places: dict[Any, int] = {False: 0, True: 1} if column.kind == "flag" else {}
        places |= {key: place for place, key in enumerate(column.keys or ())}
        null = len(places) if column.nullable else -1
        return np.array([_place(places, value, null) for value in listed], np.int64)
    steps = np.array([_step(column, value) for value in listed], np.float64)
    low, high = column.steps
    there = ~np.isnan(steps)
    clamped = np.clip(np.floor(np.where(there, steps, low) + 0.5), low, high)
    found = np.searchsorted(np.array(edges, np.float64), clamped, side="right")
    return np.where(there, found, len(edges) + 1 if column.nullable else -1).astype(np.int64)


def _plain(values: object) -> list[Any]:
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
        return float(value) / float(column.step or 1)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    except Exception:  # no number: whatever it raises, one value decides nothing for the others
        return float("nan")
