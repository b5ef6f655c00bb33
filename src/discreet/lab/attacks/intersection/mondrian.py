"""Mondrian: make a table k-anonymous by cutting its people into boxes of at least k, and publishing the boxes.

LeFevre, DeWitt and Ramakrishnan 2006, strict and multidimensional: a box is cut at the median of its widest column,
people with equal values stay together, and no part has fewer than k people or, where it is asked for, fewer than l
distinct sensitive values (Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter
from discreet.lab.attacker_choice import Numbers, numbers, plain
from discreet.lab.attacks.intersection.cells import Generalized, generalized, text_of
from discreet.lab.table_copy import Bits, TableCopy


@dataclass(frozen=True, slots=True, eq=False)
class MondrianRelease:
    """A published table: classes of people who look alike, each with its cells and its sensitive values.

    `cells[c]` says what class c shows in the columns `quasi`; `values[c]` counts the sensitive values in it.
    """

    quasi: tuple[str, ...]
    sensitive: str
    cells: tuple[tuple[Generalized, ...], ...]
    values: tuple[dict[str, int], ...]
    written: tuple[tuple[str, ...], ...]

    @property
    def least(self) -> int:
        """The size of the smallest class: the k of k-anonymity that the table has."""
        return min((sum(counts.values()) for counts in self.values), default=0)

    @property
    def diversity(self) -> int:
        """The fewest distinct sensitive values in a class: the l of l-diversity."""
        return min((len(counts) for counts in self.values), default=0)

    def rows(self) -> dict[str, list[str]]:
        """Return the table as it is published: a row for each person, with the cells of the class."""
        out: dict[str, list[str]] = {name: [] for name in (*self.quasi, self.sensitive)}
        for written, counts in zip(self.written, self.values, strict=True):
            for value, times in sorted(counts.items()):
                for name, cell in zip(self.quasi, written, strict=True):
                    out[name] += [cell] * times
                out[self.sensitive] += [value] * times
        return out


def mondrian(
    copied: TableCopy, quasi: Sequence[str], sensitive: str, k: int = 5, *, diversity: int = 1
) -> tuple[MondrianRelease, Bits]:
    """Return a k-anonymous release of a table, a row for each person, and the class of every row of `copied`.

    Numbers are published as ranges, everything else as sets of values. Tables with fewer than k rows, or fewer than
    `diversity` sensitive values, cannot be released.
    """
    size, distinct = whole("k", k), whole("diversity", diversity)
    hidden = copied.codes([sensitive])
    if copied.rows < size or len(np.unique(hidden)) < distinct:
        why = f"the whole table has fewer than {size} rows, or fewer than {distinct} values of {sensitive}"
        raise BadParameter("k", k, why=why, fix="use a smaller k or diversity, or a larger table")
    placed = np.column_stack([_placed(copied.column(name)) for name in quasi])
    classes, waiting, done = np.zeros(copied.rows, np.int64), [np.arange(copied.rows)], 0
    while waiting:
        box = waiting.pop()
        parts = _cut(placed, hidden, box, size, distinct)
        if parts is None:
            classes[box] = done
            done += 1
        else:
            waiting += parts
    return _release(copied, quasi, sensitive, classes, done), classes


def release_of(copied: TableCopy, quasi: Sequence[str], sensitive: str) -> MondrianRelease:
    """Read a table that someone has generalized: rows with the same cells are a class."""
    classes = copied.codes(quasi)
    first = np.unique(classes, return_index=True)[1]
    written = [tuple(str(copied.column(name)[row]) for name in quasi) for row in first]
    cells = tuple(tuple(generalized(copied.column(name)[row]) for name in quasi) for row in first)
    counts = _counted(copied.column(sensitive), classes, len(first))
    return MondrianRelease(tuple(quasi), sensitive, cells, counts, tuple(written))


def _cut(
    placed: NDArray[np.float64], hidden: Bits, box: NDArray[np.intp], size: int, distinct: int
) -> list[NDArray[np.intp]] | None:
    """Cut a box in two at the median of the widest column that allows it."""
    inside = placed[box]
    for column in np.argsort(inside.min(0) - inside.max(0), kind="stable"):
        values = inside[:, column]
        low = values <= np.median(values)
        if low.all():  # the median is the greatest value: its people go to the other side
            low = values < values.max()
        parts = [box[low], box[~low]]
        if all(len(part) >= size and len(np.unique(hidden[part])) >= distinct for part in parts):
            return parts
    return None


def _placed(values: NDArray[Any]) -> Numbers:
    """Place a column's values between 0 and 1: numbers as they lie, others in the order of their texts."""
    found = numbers(values)
    if found is None or not np.isfinite(found).any():
        texts = np.array([str(each) for each in values], object)
        found = np.unique(texts.astype(str), return_inverse=True)[1].astype(np.float64)
    found = np.where(np.isfinite(found), found, np.nanmin(found[np.isfinite(found)]))
    low, high = float(found.min()), float(found.max())
    return (found - low) / (high - low) if high > low else np.zeros(len(found))


def _release(copied: TableCopy, quasi: Sequence[str], sensitive: str, classes: Bits, count: int) -> MondrianRelease:
    order = np.argsort(classes, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(classes, minlength=count))[:-1])
    shown = [[_shown(copied.column(name), rows) for name in quasi] for rows in members]
    cells = tuple(tuple(cell for cell, _ in each) for each in shown)
    written = tuple(tuple(text for _, text in each) for each in shown)
    return MondrianRelease(tuple(quasi), sensitive, cells, _counted(copied.column(sensitive), classes, count), written)


def _shown(values: NDArray[Any], rows: NDArray[np.intp]) -> tuple[Generalized, str]:
    """Return what a class shows of a column: a range of numbers, a set of texts, a star where a number is missing."""
    inside = values[rows]
    found = None if values.dtype.kind == "b" else numbers(inside)
    if found is None:
        texts = {text_of(each) for each in plain(inside)}
        return Generalized(values=frozenset(texts)), "|".join(sorted(texts))
    if not np.isfinite(found).all():
        return Generalized(), "*"
    low, high = float(found.min()), float(found.max())
    return Generalized(low, high), text_of(low) if low == high else f"{text_of(low)}..{text_of(high)}"


def _counted(values: NDArray[Any], classes: Bits, count: int) -> tuple[dict[str, int], ...]:
    found: tuple[dict[str, int], ...] = tuple({} for _ in range(count))
    for place, value in zip(classes.tolist(), plain(values), strict=True):
        text = str(value)
        found[place][text] = found[place].get(text, 0) + 1
    return found
