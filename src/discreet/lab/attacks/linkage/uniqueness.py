"""Uniqueness: who is alone with what others know of them, column after column.

Of 54,805 voters of Cambridge, Massachusetts, 12% had a birth date that no other had, 29% with the sex, 69% with a ZIP
code of five digits and 97% with all nine (Sweeney 1997, *Weaving technology and policy together to maintain
confidentiality*): anyone who has the list can name them in any table that has those columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter
from discreet.lab.outcome import Counted, Outcome, percent
from discreet.lab.picture import Bars
from discreet.lab.table_copy import Bits, TableCopy

FEW = 5  # a class of fewer is one in which a guess is as good as a name, by the custom of statistical offices
_MOST = 6
_ROOMY = 4  # classes for each row, up to which a table of all is faster than sorting


@dataclass(frozen=True, slots=True)
class UniquenessStep:
    """Who is how alone by some columns; a person with several rows counts by the row that singles them out most."""

    columns: tuple[str, ...]
    total: int
    unique: int
    few: int  # in classes of fewer than FEW
    smallest: int  # the k of k-anonymity
    classes: int

    @property
    def share(self) -> float:
        """The share that is alone."""
        return self.unique / self.total if self.total else 0.0

    def record(self) -> dict[str, Any]:
        """Return the step as plain JSON values."""
        counts = {"total": self.total, "unique": self.unique, "few": self.few, "smallest": self.smallest}
        return {"columns": [*self.columns], "share": self.share, **counts, "classes": self.classes}


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """A step for each number of columns; `searched` where the columns were chosen to single out the most."""

    name: str
    who: str
    steps: tuple[UniquenessStep, ...]
    searched: bool

    @property
    def whole(self) -> UniquenessStep:
        """The step with all columns."""
        return self.steps[-1]

    @property
    def outcome(self) -> Outcome:
        """The verdict: everyone who is alone is pointed at, and each of these claims is right."""
        last, columns = self.whole, ", ".join(self.whole.columns)
        sentence = (
            f"Anyone who knows {columns} of a person in {self.name} can point at the rows of {last.unique:,} of "
            f"{last.total:,} {self.who} ({percent(last.share)}), whose values nobody else has. "
            f"{last.few:,} are among fewer than {FEW}; the smallest class has {last.smallest:,}."
        )
        chance = 1 / last.total if last.total else 1.0
        figures = {"who": self.who, "searched": self.searched, "steps": [step.record() for step in self.steps]}
        return Outcome(
            "linkage",
            f"{self.name} without names",
            Counted(last.unique, last.unique, "claims of whose row it is"),
            chance,
            sentence,
            figures=figures,
            picture=self.picture,
        )

    @property
    def picture(self) -> Bars:
        """A bar for each number of columns."""
        first, *rest = self.steps
        names = [", ".join(first.columns), *(f"+ {step.columns[-1]}" for step in rest)]
        shares = [step.share for step in self.steps]
        kinds = ["bad" if share else "good" for share in shares]
        title = f"How many {self.who} of {self.name} are alone with what is known of them"
        return Bars(title, names, shares, "share that is unique", kinds, percent=True, most=1.0)


def uniqueness(copied: TableCopy, quasi: Sequence[str] | None = None, *, most: int = _MOST) -> Uniqueness:
    """Say who is alone by the first column, by the first two, and so on to all of `quasi`.

    Without `quasi`, columns are sought one after the other, up to `most` of them, each the one that singles out the
    most together with those before (all columns but the identifier are candidates). Where the copy has an identifier,
    people are counted, else rows.
    """
    people = None if copied.identifier is None else copied.codes([copied.identifier])
    who = "rows" if people is None else "people"
    found = _searched(copied, whole("most", most), people) if quasi is None else tuple(quasi)
    if not found:
        why = "uniqueness needs at least one column in addition to the identifier"
        raise BadParameter("quasi", list(found), why=why, fix=f"name some of {', '.join(copied.columns)}")
    steps, codes = [], np.zeros(copied.rows, np.int64)
    for place, name in enumerate(found):
        codes = paired(codes, copied.codes([name]))
        steps.append(_step(found[: place + 1], codes, people))
    return Uniqueness(copied.name, who, tuple(steps), quasi is None)


def paired(one: Bits, other: Bits) -> Bits:
    """Return a code for every row, 0, 1, ...: equal where rows agree in both."""
    both = one * (int(other.max(initial=0)) + 1) + other
    found: Bits = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return found


def crowds(codes: Bits, people: Bits | None) -> Bits:
    """Return how many people (or rows) have each code."""
    if people is None:
        return np.bincount(codes)
    many = int(people.max(initial=0)) + 1
    pairs = np.sort(codes * many + people)  # faster than np.unique, which hashes
    return np.bincount(pairs[np.flatnonzero(np.diff(pairs, prepend=-1))] // many)


def _step(columns: tuple[str, ...], codes: Bits, people: Bits | None) -> UniquenessStep:
    crowd = crowds(codes, people)
    own = crowd[codes]
    if people is not None and len(codes):
        order = np.argsort(people, kind="stable")
        starts = np.flatnonzero(np.diff(people[order], prepend=-1))
        own = np.minimum.reduceat(own[order], starts)
    smallest = int(own.min()) if len(own) else 0
    return UniquenessStep(
        columns, len(own), int((own == 1).sum()), int((own < FEW).sum()), smallest, int((crowd > 0).sum())
    )


def _searched(copied: TableCopy, most: int, people: Bits | None) -> tuple[str, ...]:
    """Add columns greedily, each the one that singles out the most; stop when everyone is alone or none helps.

    Rows that are alone stay alone whatever is added, so only the others are looked at again.
    """
    columns = {name: copied.codes([name]) for name in copied.attributes}
    chosen: list[str] = []
    codes = np.zeros(copied.rows, np.int64)
    who = np.arange(copied.rows) if people is None else people
    found = np.zeros(int(who.max(initial=0)) + 1, bool)
    while columns and len(chosen) < most and len(codes):
        gains = {name: _gain(codes, each, who, found) for name, each in columns.items()}
        best = max(gains, key=gains.__getitem__)
        if chosen and gains[best] == (0, int(codes.max()) + 1):
            break
        chosen.append(best)
        codes = paired(codes, columns.pop(best))
        first, last = _ends(codes, who)
        left = (first != last)[codes]
        found[who[~left]] = True
        columns = {name: each[left] for name, each in columns.items()}
        codes, who = paired(codes[left], np.zeros_like(codes[left])), who[left]
    return tuple(chosen)


def _gain(codes: Bits, more: Bits, who: Bits, found: NDArray[np.bool_]) -> tuple[int, int]:
    """Return how many more people are alone with one more column and, to break ties, into how many classes it cuts."""
    both = codes * (int(more.max(initial=0)) + 1) + more
    if int(both.max(initial=0)) > _ROOMY * len(both):
        both = np.unique(both, return_inverse=True)[1]
    first, last = _ends(both, who)
    alone = np.zeros_like(found)
    alone[first[first == last]] = True  # a class of one person, however many rows
    return int((alone & ~found).sum()), int((last >= 0).sum())


def _ends(codes: Bits, who: Bits) -> tuple[Bits, Bits]:
    """Return the least and the greatest of those in each class: equal where there is one; apart where there is none."""
    classes = int(codes.max(initial=0)) + 1
    first, last = np.full(classes, int(who.max(initial=0)) + 1), np.full(classes, -1)
    np.minimum.at(first, codes, who)
    np.maximum.at(last, codes, who)
    return first, last
