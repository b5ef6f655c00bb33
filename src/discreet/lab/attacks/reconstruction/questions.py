"""Questions of a reconstruction: random groups, all groups, or the groups that an analyst's WHERE clauses pick out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.lab.attacks._coins import Coins, coins
from discreet.lab.defence import Groups
from discreet.lab.table_copy import TableCopy

# How many columns a WHERE clause names at most: enough to identify people, and still what people write.
CLAUSES = 3


def random_groups(questions: int, people: int, share: float = 0.5) -> Groups:
    """Return groups that everyone is in with the same probability, by coins of their own."""
    if share != 0.5:  # a fair coin is one bit, any other takes several
        draw = coins()
        return np.array([draw.random(people, np.float32) < share for _ in range(questions)])
    width = -(-people // 8)
    packed = np.frombuffer(coins().bytes(questions * width), np.uint8).reshape(questions, width)
    return np.unpackbits(packed, axis=1, count=people).view(np.bool_)


def all_groups(people: int) -> Groups:
    """Return all groups there are: row number q holds those whose bit of q is set."""
    every = np.arange(1 << people, dtype=np.int64)
    groups: Groups = (every[:, None] >> np.arange(people)) & 1 == 1
    return groups


@dataclass(frozen=True, slots=True)
class Predicate:
    """A WHERE clause and whom of the copy it picks out."""

    text: str
    members: NDArray[np.bool_]


def predicates(public: TableCopy, columns: Sequence[str], questions: int) -> list[Predicate]:
    """Return WHERE clauses over public columns: ranges of numbers, sets of other values, and up to three together.

    A missing value satisfies no clause, as in SQL. A clause is as likely to be wide as narrow.
    """
    draw = coins()
    known = [_Column.read(name, public.column(name)) for name in columns]
    found = []
    for _ in range(questions):
        chosen = draw.permutation(len(known))[: 1 + int(draw.integers(min(CLAUSES, len(known))))]
        parts = [known[at].clause(draw) for at in chosen]
        members = np.logical_and.reduce([part.members for part in parts])
        found.append(Predicate(" AND ".join(part.text for part in parts), members))
    return found


@dataclass(frozen=True, slots=True)
class _Column:
    """A column as an analyst sees it: its values in order, and where each person's stands among them (-1: missing)."""

    name: str
    values: list[Any]
    places: NDArray[np.int64]

    @classmethod
    def read(cls, name: str, column: NDArray[Any]) -> _Column:
        cells = column.tolist()
        values = sorted({cell for cell in cells if cell is not None}, key=lambda cell: (str(type(cell)), cell))
        place = {value: at for at, value in enumerate(values)}
        return cls(name, values, np.array([place.get(cell, -1) for cell in cells], np.int64))

    def clause(self, draw: Coins) -> Predicate:
        """Return a range of an ordered column, or a set of an unordered one's values."""
        if not self.values:
            return Predicate(f"{self.name} IS NOT NULL", self.places >= 0)
        if not isinstance(self.values[0], str):
            low, high = np.sort(draw.integers(len(self.values), size=2)).tolist()
            text = f"{self.name} BETWEEN {self.values[low]} AND {self.values[high]}"
            return Predicate(text, (self.places >= low) & (self.places <= high))
        taken = draw.random(len(self.values)) < 0.5
        listed = ", ".join(f"'{value}'" for value, is_in in zip(self.values, taken, strict=True) if is_in)
        members = np.append(taken, False)[self.places]
        return Predicate(f"{self.name} IN ({listed})", members)
