"""Differencing through sums: what everyone has, less what everyone but one has, is what that one has."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.account.numeric.checks import Number, positive, whole
from discreet.core.errors import BadParameter
from discreet.lab.attacker_choice import Numbers, numbers
from discreet.lab.attacks.differencing.bound import halved
from discreet.lab.defence import Defence
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Curves
from discreet.lab.table_copy import Bits, TableCopy
from discreet.lab.vault_copy import Vaulted
from discreet.noise.uniform import uniform

_TRIES = 100


@dataclass(frozen=True, slots=True)
class Amounts:
    """The amounts of some people, as they are and as the differences of two sums told them.

    For the attack each person is given an amount drawn evenly from 0 to `most`, which is public, so only the answers
    tell it. An amount counts as learned where it is off by `within` or less; `chance` is how often the best guess is
    without any answer. Guarantee: under a promise of epsilon for the sum that a person is in, no attacker learns an
    amount more often than e^epsilon times `chance` (the same guess would have come without the person, except for that
    factor).
    """

    column: str
    target: str
    truth: tuple[int, ...]
    told: tuple[float, ...]  # NaN where there was no answer
    within: float
    chance: float
    ceiling: float | None

    @property
    def learned(self) -> int:
        """How many amounts were learned."""
        return int((np.abs(np.array(self.told) - np.array(self.truth)) <= self.within).sum())

    @property
    def success(self) -> float:
        """The share of people whose amount was learned."""
        return self.learned / len(self.truth)

    @property
    def typical(self) -> float:
        """The median distance between an amount and what was told of it; infinite where most were refused."""
        off = np.abs(np.array(self.told) - np.array(self.truth))
        return float(np.median(np.where(np.isfinite(off), off, np.inf)))

    @property
    def outcome(self) -> Outcome:
        """The attack on this target, in a sentence and a picture."""
        typical = (
            f"half of the differences are off by {self.typical:,.0f} or less"
            if math.isfinite(self.typical)
            else "most of the sums are refused"
        )
        points = [(float(x), float(y)) for x, y in zip(self.truth, self.told, strict=True) if math.isfinite(y)]
        ends = [(float(edge), float(edge)) for edge in (min(self.truth), max(self.truth))]
        return Outcome(
            attack="differencing",
            target=f"sums, {self.target}",
            evidence=Counted(self.learned, len(self.truth), f"amounts learned within {self.within:g}"),
            chance=self.chance,
            told=f"Two sums of {self.column}, with and without a person, were subtracted: {typical}.",
            ceiling=self.ceiling,
            figures={"within": self.within, "typical": self.typical if math.isfinite(self.typical) else None},
            picture=Curves(
                title=f"{self.column}, as two sums tell it: {self.target}",
                series=(("told", points), ("true", ends)),
                across=f"true {self.column}",
                up="difference of the two sums",
                dots=frozenset({"told"}),
            ),
        )


def amounts(
    copied: TableCopy, column: str, defence: Defence, *, tries: int | None = None, within: Number | None = None
) -> Amounts:
    """Learn the amounts of people chosen at random: for each, one sum with them and one without.

    Amounts are integers from 0 to the greatest, which is public here; what is missing counts as 0. Each person's own is
    drawn afresh, evenly, so that a coin's part of the success is known. `within` is a twentieth of the median amount
    unless it is given.
    """
    people = copied.people()
    values = _whole_amounts(column, numbers(people.column(column)))
    most = int(values.max(initial=0))
    near = (
        float(positive("within", within))
        if within is not None
        else max(0.5, round(float(np.median(values[values > 0])) / 20))
        if most
        else 0.5
    )
    count = whole("tries", tries) if tries is not None else 5 if isinstance(defence, Vaulted) else _TRIES
    rows = [int(uniform(people.rows)) for _ in range(count)]
    truth = [int(uniform(most + 1)) for _ in rows]
    told = [_told(defence, values, row, amount, most) for row, amount in zip(rows, truth, strict=True)]
    # Of the amounts from 0 to the greatest, all alike, a guess covers so many.
    chance, bound = min(1.0, (math.floor(2 * near) + 1) / (most + 1)), halved(defence)
    most_likely = None if bound is None else min(1.0, math.exp(min(bound[0], 700.0)) * chance + bound[1])
    return Amounts(column, defence.name, tuple(truth), tuple(told), near, chance, most_likely)


def _told(defence: Defence, values: Bits, row: int, amount: int, most: int) -> float:
    values = values.copy()
    values[row] = amount
    groups = np.ones((2, len(values)), bool)
    groups[1, row] = False
    both = defence.protect(values, 2, max(1, most)).sums(groups)
    return float(both[0] - both[1])


def _whole_amounts(column: str, values: Numbers | None) -> Bits:
    if values is None or not len(values):
        why = "its values are no numbers"
        raise BadParameter("column", column, why=why, fix="name a column of amounts, or guess a bit of this one")
    # A bound keeps sums within what floats tell apart.
    return np.rint(np.clip(np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0), 0, 1e9)).astype(np.int64)
