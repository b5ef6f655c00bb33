"""Choices an attacker makes by looking at a table: a secret bit, an amount, the columns that many people know."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.lab.table_copy import TableCopy
from discreet.noise.uniform import uniform

Numbers = NDArray[np.float64]
_FEW = 30  # values that a category may have
_SEVERAL = 100  # values that a sensitive column may have
_COMMON = 0.95  # a value that more people have tells nobody apart
_MANY = 10  # different amounts that a column of them has at least
_NEAR = 0.1  # so near are shares that are nearly alike


def numbers(values: NDArray[Any]) -> Numbers | None:
    """Return a column as numbers, NaN where one is missing; None where something else stands in it."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind != "O":
        return None
    odd = str | bytes | bool | np.bool_
    if not all(each is None or (np.isscalar(each) and not isinstance(each, odd)) for each in values.tolist()):
        return None
    try:
        return np.array([np.nan if each is None else float(each) for each in values.tolist()], np.float64)
    except (TypeError, ValueError):
        return None


def plain(values: NDArray[Any]) -> list[Any]:
    """Return a column as Python's own numbers and texts; dates and the like become texts."""
    return values.tolist() if values.dtype.kind in "biufO" else [str(each) for each in values]


def crowd(copied: TableCopy, most: int = 20_000) -> TableCopy:
    """Return one row for each person, of so many people at most: attacks are shown on a crowd, not on a nation."""
    people = copied.people()
    if people.rows <= most:
        return people
    keep = np.argsort(np.asarray(uniform(1 << 40, people.rows)), kind="stable")[:most]
    return people.taken(np.sort(keep))


def secret(copied: TableCopy) -> str | None:
    """Return a column whose most common value is nearly as good as a coin, or None where no column has two values."""
    found = {}
    for name in copied.attributes:
        counts = np.bincount(copied.codes([name]))
        if 2 <= len(counts) <= _FEW:
            found[name] = abs(float(counts.max()) / copied.rows - 0.5)
    # The last of those: what is sensitive tends to stand behind what identifies.
    return next((name for name in reversed(found) if found[name] <= min(found.values()) + _NEAR), None)


def amount(copied: TableCopy) -> str | None:
    """Return the column of numbers, zero or more and many of them different, whose median is largest, or None."""
    found = {}
    for name in copied.attributes:
        values = numbers(copied.column(name))
        finite = values[np.isfinite(values)] if values is not None else np.zeros(0)
        if len(finite) and finite.min() >= 0 and len(np.unique(finite)) >= _MANY:
            found[name] = float(np.median(finite))
    return max(found, key=lambda name: found[name]) if found and max(found.values()) > 0 else None


def sensitive(copied: TableCopy) -> str | None:
    """Return the column of several values that is hardest to guess, past the first third of them, or None."""
    found = {}
    for name in copied.attributes[len(copied.attributes) // 3 :]:
        counts = np.bincount(copied.codes([name]))
        if 3 <= len(counts) <= min(_SEVERAL, copied.rows // 2):
            found[name] = float(counts.max()) / copied.rows
    return min(found, key=lambda name: found[name]) if found else secret(copied)


def known(copied: TableCopy, apart: str, most: int = 4) -> list[str]:
    """Return the first columns that identify people, except for one: what an attacker may know of someone."""
    told = {name: np.bincount(copied.codes([name])).max() for name in copied.attributes if name != apart}
    return [name for name, most_alike in told.items() if most_alike <= _COMMON * copied.rows][:most]
