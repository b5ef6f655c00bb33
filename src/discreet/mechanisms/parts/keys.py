"""Declared keys, and how often each occurs among raw values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.column import Key
from discreet.core.errors import BadParameter
from discreet.core.schema import one_of
from discreet.mechanisms.parts.raw_values import column


def check_keys(keys: object) -> tuple[Key, ...]:
    """Return keys that are text or integers, each listed once."""
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise BadParameter(
            "keys", keys, why="keys are a list of what may occur", fix="use keys=('A', 'B'), for example"
        )
    declared = one_of(*keys).keys
    assert declared is not None
    return declared


def tally(keys: Iterable[Key], values: Iterable[Any]) -> NDArray[np.int64]:
    """Count every declared key; nulls and what was not declared are left out, and no value raises."""
    counts: dict[object, int] = dict.fromkeys(keys, 0)
    for value, times in occurring(values):
        try:
            if value in counts:
                counts[value] += times
        except Exception:  # noqa: S112  # a value that cannot be looked up is no declared key
            continue
    return np.array(list(counts.values()), dtype=np.int64)


def occurring(values: Iterable[Any]) -> list[tuple[object, int]]:
    """Return the values that are not null, with how often each stands there; arrays of one kind are gathered first."""
    array, present = column(values)
    if array.dtype.kind == "O":
        return [(value, 1) for value in array[present]]
    found, counts = np.unique(array[present], return_counts=True)
    return list(zip(found.tolist(), counts.tolist(), strict=True))
