"""Fuzzy linkage: a few facts about someone, not all of them right, scored against every record.

Narayanan and Shmatikov (2008, *Robust de-anonymization of large sparse datasets*) named subscribers in the ratings that
Netflix had published, by a handful of dated opinions from elsewhere. A rare item counts for more than a common one, by
1 / ln(support); a rating or a day that is a little off counts for a little less, by exp(-difference / width); a name is
claimed only where the best score stands out: (best - second) / standard deviation above `phi`. The attacker here also
knows how many of the facts may be wrong, and wants all others to agree, within the widths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter
from discreet.lab.attacks._coins import Coins, coins
from discreet.lab.attacks.linkage.columns import numbers
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Curves, GuideLine
from discreet.lab.table_copy import Bits, TableCopy

Numbers = NDArray[np.float64]
_Facts = list[tuple[Any, Any, Any]]  # an item, its rating and its day

RATING_WIDTH, DAY_WIDTH = 1.5, 30.0  # the widths of the paper
PHI = 1.5  # and its threshold
_VICTIMS = 300
_LEAST = 2  # facts that have to agree: one names nobody


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """Facts about people: who, what, how it was rated and on which day; sorted by item, for look-ups by item."""

    person: Bits
    item: Bits
    rating: Numbers
    day: Numbers
    starts: Bits  # where each item begins; the last is the end

    @classmethod
    def of(cls, person: object, item: object, rating: object = None, day: object = None) -> Sparse:
        """Sort facts by item; people and items are numbered 0, 1, ..."""
        who, what = np.asarray(person, np.int64), np.asarray(item, np.int64)
        order = np.argsort(what, kind="stable")
        zeros = np.zeros(len(what))
        rated, dated = (zeros if each is None else np.asarray(each, np.float64) for each in (rating, day))
        starts = np.concatenate([[0], np.cumsum(np.bincount(what, minlength=1))])
        return cls(who[order], what[order], rated[order], dated[order], starts)

    @classmethod
    def facts(cls, copied: TableCopy, columns: Sequence[str] | None = None) -> Sparse:
        """Take every value in a row for a fact about its person: an ordinary table, as a sparse one."""
        who = np.arange(copied.rows) if copied.identifier is None else copied.codes([copied.identifier])
        people, items, first = [], [], 0
        for name in columns or copied.attributes:
            codes, values = copied.codes([name]), copied.column(name)
            many = int(codes.max(initial=0)) + 1
            there = np.array([value is not None for value in values], bool) if values.dtype == object else slice(None)
            pairs = np.unique(who[there] * many + codes[there])
            people.append(pairs // many)
            items.append(pairs % many + first)
            first += many
        return cls.of(np.concatenate(people), np.concatenate(items))

    @classmethod
    def read(cls, copied: TableCopy, item: str, rating: str | None = None, day: str | None = None) -> Sparse:
        """Read facts from the columns of a table: whose (its identifier), about what, how rated, and when."""
        if copied.identifier is None:
            why = "a fact is about someone"
            raise BadParameter("identifier", None, why=why, fix="name the column that says whose a row is")
        rated, dated = (None if name is None else _amounts(copied, name) for name in (rating, day))
        return cls.of(copied.codes([copied.identifier]), copied.codes([item]), rated, dated)

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self.person.max(initial=-1)) + 1

    @property
    def most(self) -> int:
        """How many facts there are about the person of whom most are known."""
        return int(np.bincount(self.person, minlength=1).max())

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True)
class Point:
    """How an attacker fared who knows so many facts, of which `wrong` are not true, with days off by up to `days`."""

    known: int
    wrong: int
    days: int
    named: float  # the share of people named rightly
    misnamed: float  # named wrongly
    absent: float  # the share of people that are not in the table at all for whom a name was claimed

    def record(self) -> dict[str, Any]:
        """Return the point as plain JSON values."""
        shares = {"named": self.named, "misnamed": self.misnamed, "absent": self.absent}
        return {"known": self.known, "wrong": self.wrong, "days": self.days, **shares}


@dataclass(frozen=True, slots=True)
class Fuzzy:
    """A point for each number of facts known and each error of their days."""

    name: str
    people: int
    victims: int
    points: tuple[Point, ...]
    made: bool = False

    @property
    def best(self) -> Point:
        """The point at which the most is known: it is chosen before anyone was named, so luck chooses nothing."""
        return max(self.points, key=lambda point: (point.known, -point.days))

    @property
    def outcome(self) -> Outcome:
        """The verdict: of the people tried, how many were claimed rightly, against naming somebody at random."""
        best = self.best
        sentence = (
            f"With {best.known} facts about someone, {best.wrong} of them wrong, records among {self.people:,} were "
            f"scored: a wrong one stood out for {best.misnamed:.1%} of {self.victims:,} people tried, and any for "
            f"{best.absent:.1%} of them once their own was taken out."
        )
        figures = {"people": self.people, "victims": self.victims, "points": [point.record() for point in self.points]}
        chance = 1 / self.people if self.people else 1.0
        return Outcome(
            "linkage",
            f"{self.name}, facts not all right",
            Counted(round(best.named * self.victims), self.victims, "people whose record stood out"),
            chance,
            sentence,
            demonstration=self.made,
            figures=figures,
            picture=self.picture,
        )

    @property
    def picture(self) -> Curves:
        """A curve of people named for each error of the days, and of names claimed for people who are absent."""
        series: list[tuple[str, list[tuple[float, float]]]] = []
        for days in dict.fromkeys(point.days for point in self.points):
            mine = [point for point in self.points if point.days == days]
            word = f", days within {days}" if days else ""
            series.append((f"named{word}", [(point.known, point.named) for point in mine]))
            series.append((f"claimed though absent{word}", [(point.known, point.absent) for point in mine]))
        title, lines = (
            f"People of {self.name} named by a few facts, not all right",
            [GuideLine(1 / self.people, "chance")],
        )
        return Curves(title, series, "facts known", "share of people", lines, reach=(0.0, 1.02))


def fuzzy(
    sparse: Sparse,
    known: Sequence[int] = (2, 3, 4, 6, 8),
    *,
    days: Sequence[int] = (3, 14),
    wrong: int = 1,
    victims: int = _VICTIMS,
    phi: float = PHI,
    name: str = "the table",
) -> Fuzzy:
    """Attack people chosen at random, with so many facts of each, and days off by up to so much.

    `wrong` of the facts are about someone else. Each person is sought twice: in the table, and in the table without
    them, where whatever is claimed is wrong.
    """
    if not known or not days or wrong < 0:
        why = "an attacker knows some facts, of which none or some are wrong, with days that are off by some"
        raise BadParameter("known", (known, days, wrong), why=why, fix="use known=(2, 4, 8), days=(3, 14), wrong=1")
    many, most = whole("victims", victims), max(whole("known", each) for each in known)
    own = coins()
    counts = np.bincount(sparse.person, minlength=sparse.people)
    able = np.flatnonzero(counts >= most)
    if not len(able) or sparse.people < 2:
        why = f"it takes two people, one of whom has {most} facts in the table"
        raise BadParameter("known", most, why=why, fix="let the attacker know fewer")
    chosen = own.choice(able, min(many, len(able)), replace=False)
    everything = np.split(np.argsort(sparse.person, kind="stable"), np.cumsum(counts)[:-1])
    points = []
    for error in days:
        for facts in known:
            false = min(wrong, facts - 1)
            tally = np.zeros(3)
            for victim in chosen.tolist():
                learned = _learned(sparse, own.choice(everything[victim], facts, replace=False), false, error, own)
                tally += _claims(*_scores(sparse, learned), max(_LEAST, facts - false), victim, phi)
            points.append(Point(facts, false, error, *(tally / len(chosen)).tolist()))
    return Fuzzy(name, sparse.people, len(chosen), tuple(points))


def _learned(sparse: Sparse, facts: Bits, wrong: int, days: int, own: Coins) -> _Facts:
    """Take facts as an attacker has them: days are a little off, and some are facts about someone else."""
    facts[:wrong] = own.integers(0, len(sparse.item), wrong)
    off = own.integers(-days, days + 1, len(facts))
    return list(zip(sparse.item[facts], sparse.rating[facts], sparse.day[facts] + off, strict=True))


def _scores(sparse: Sparse, facts: _Facts) -> tuple[Numbers, Bits]:
    """Score every record, and count the facts that agree with it."""
    scores, agreed = np.zeros(sparse.people), np.zeros(sparse.people, np.int64)
    for item, rating, day in facts:
        mine = slice(sparse.starts[item], sparse.starts[item + 1])
        people, weight = sparse.person[mine], 1 / np.log(max(2, len(sparse.person[mine])))
        rated = np.abs(sparse.rating[mine] - rating) / RATING_WIDTH
        dated = np.abs(sparse.day[mine] - day) / DAY_WIDTH
        scores[people] += weight * (np.exp(-rated) + np.exp(-dated))
        agreed[people] += (rated <= 1) & (dated <= 1)
    return scores, agreed


def _claims(scores: Numbers, agreed: Bits, least: int, victim: int, phi: float) -> Numbers:
    """Return whether the victim is named, whether someone else is, and whether anyone is where the victim is not."""
    claimed = _claimed(scores, agreed, least, phi)
    without = scores.copy()
    without[victim] = 0.0
    absent = _claimed(without, agreed, least, phi)
    return np.array([claimed == victim, claimed not in (victim, None), absent is not None], np.float64)


def _claimed(scores: Numbers, agreed: Bits, least: int, phi: float) -> int | None:
    """Return whose score stands out, if one does and enough agrees with it."""
    best, spread = int(scores.argmax()), float(scores.std())
    if spread == 0 or agreed[best] < least:
        return None
    second = float(np.partition(scores, -2)[-2])
    return best if (float(scores[best]) - second) / spread > phi else None


def _amounts(copied: TableCopy, name: str) -> Numbers:
    """Return a column as numbers, days counting from a first one; what is missing is 0."""
    found = numbers(copied.column(name))
    if found is None:
        why = "ratings are numbers, and days are dates or numbers"
        raise BadParameter("column", name, why=why, fix="name a column of numbers or of dates")
    return np.nan_to_num(found)
