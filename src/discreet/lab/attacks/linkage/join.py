"""Joins: rows of a table without names, given the names of the only people on a list who have the same values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import BadParameter
from discreet.lab.attacks.linkage.uniqueness import crowds
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Bars
from discreet.lab.table_copy import Bits, TableCopy

_UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """What a join gave: for each match a row of the release and a row of the list; `right` where the truth is known."""

    released: str
    known: str
    on: tuple[str, ...]
    total: int  # people (or rows) in the release
    alone: int  # of whom the release has nobody else like them
    listed: int  # people (or rows) on the list
    rows: Bits = field(repr=False)
    names: Bits = field(repr=False)
    right: int | None

    @property
    def matches(self) -> int:
        """How many were given a name."""
        return len(self.rows)

    @property
    def precision(self) -> float | None:
        """The share of names that are right, where the truth is known and there are any."""
        return None if self.right is None or not self.matches else self.right / self.matches

    @property
    def outcome(self) -> Outcome:
        """The verdict: how many of the names are right, where the truth is known; without it nothing is shown."""
        judged = Counted(self.right or 0, 0 if self.right is None else self.matches, "names whose truth is known")
        untold = " Which of these names are right is undecided: neither table says." if self.right is None else ""
        sentence = (
            f"Joined on {', '.join(self.on)}, {self.matches:,} of {self.total:,} in {self.released} "
            f"({self.matches / max(1, self.total):.1%}) match exactly one entry of {self.known} and are matched by it."
            f"{untold}"
        )
        figures = {
            "on": [*self.on],
            "total": self.total,
            "alone": self.alone,
            "matches": self.matches,
            "right": self.right,
        }
        names, counts = ["in the release", "alone in it", "given a name"], [self.total, self.alone, self.matches]
        chance = 1 / self.listed if self.listed else 1.0
        found = Outcome("linkage", f"{self.released} without names", judged, chance, sentence, figures=figures)
        kinds = ["quiet", "plain", found.kind]
        return replace(found, picture=Bars(f"{self.released} joined to {self.known}", names, counts, "how many", kinds))


def linkage(released: TableCopy, known: TableCopy, on: Sequence[str]) -> Linked:
    """Join a release to a list on columns that both have, and keep what is unique on both sides.

    Where a table has an identifier, people are counted, else rows; where both have one, it is taken for the truth that
    says which matches are right. What is missing matches nothing.
    """
    if not on:
        why = "tables are joined on columns that both have"
        raise BadParameter("on", [*on], why=why, fix="name some, such as birth_date,sex,zip")
    here, there = aligned(released, known, on)
    mine, theirs = _single(here, _people(released)), _single(there, _people(known))
    _, first, second = np.intersect1d(here[mine], there[theirs], assume_unique=True, return_indices=True)
    rows, names = mine[first], theirs[second]
    who = _people(released)
    once = np.unique(who[rows], return_index=True)[1]  # anyone who is alone in several rows is named once
    rows, names = rows[once], names[once]
    right = None
    if released.identifier is not None and known.identifier is not None:
        truth, claimed = _texts(released.column(released.identifier)), _texts(known.column(known.identifier))
        right = int((truth[rows] == claimed[names]).sum())
    alone = len(np.unique(who[mine]))
    listed = len(np.unique(_people(known)))
    return Linked(released.name, known.name, tuple(on), len(np.unique(who)), alone, listed, rows, names, right)


def _people(copied: TableCopy) -> Bits:
    return np.arange(copied.rows) if copied.identifier is None else copied.codes([copied.identifier])


def _single(codes: Bits, people: Bits) -> Bits:
    """Return a row of each class that one person alone is in; rows whose code is unknown are in none."""
    if not len(codes):
        return codes
    crowd = crowds(codes + 1, people)
    values, rows = np.unique(codes, return_index=True)
    found: Bits = rows[(crowd[values + 1] == 1) & (values != _UNKNOWN)]
    return found


def aligned(one: TableCopy, other: TableCopy, on: Sequence[str]) -> tuple[Bits, Bits]:
    """Return codes of the rows of both tables, equal where rows agree in all columns; -1 where a value is missing."""
    both, missing = {}, np.zeros(one.rows + other.rows, bool)
    for name in on:
        values = np.concatenate(_alike(one.column(name), other.column(name)))
        both[name] = values
        if values.dtype == object:
            missing |= np.array([value is None for value in values], bool)
    codes = np.where(missing, _UNKNOWN, TableCopy("both", both).codes([*on]))
    return codes[: one.rows], codes[one.rows :]


def _alike(one: NDArray[Any], other: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two columns so that equal values are equal: numbers as they are, and texts where the types differ."""
    if one.dtype.kind in "iuf" and other.dtype.kind in "iuf":
        return one, other
    return _texts(one), _texts(other)


def _texts(values: NDArray[Any]) -> NDArray[Any]:
    found = np.empty(len(values), object)
    found[:] = [_text(value) for value in values.tolist()] if values.dtype.kind != "M" else _days(values)
    return found


def _text(value: object) -> str | None:
    """Write a value as any file would: 2139.0 as 2139, and a day without its midnight."""
    if isinstance(value, float | Decimal) and value == value.__trunc__():
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return None if value is None else str(value)


def _days(values: NDArray[Any]) -> list[str | None]:
    days = values.astype("datetime64[D]")
    whole = bool((days == values)[~np.isnat(values)].all())
    return [None if np.isnat(each) else str(each) for each in (days if whole else values)]
