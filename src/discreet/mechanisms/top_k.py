"""Top-k: the most frequent of declared keys, in order, drawn jointly by one exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.exponential import Exponential
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, positive, whole
from discreet.core.column import Key
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.exact import Exact
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.histogram import counts_of
from discreet.mechanisms.parts.keys import check_keys, tally
from discreet.mechanisms.parts.levels import Level, Leveled
from discreet.mechanisms.parts.mechanism import Chance, Trial, Trials
from discreet.mechanisms.parts.tails import chance

Counts = Sequence[int] | NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopK:
    """Releases k declared keys, the most frequent first, without their counts.

    All sequences of k different keys compete in one exponential mechanism (Gillenwater, Joseph, Munoz Medina, Ribero
    2022). The score of a sequence is minus the largest of its gaps: by how much the count of its i-th key falls short
    of the i-th largest count. Sequences of equal gap are counted, not listed.

    Sensitivity of the score: contributions under add_remove (all counts move the same way), twice that under replace.
    Guarantee: one exponential mechanism, Exponential(epsilon), whatever k is.
    Error: the largest gap, which exceeds (2 sensitivity / epsilon) ln(sequences / beta) with probability at most beta.
    """

    k: int
    keys: tuple[Key, ...]
    epsilon: Number
    relation: Relation = "add_remove"
    contributions: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", check_keys(self.keys))
        object.__setattr__(self, "epsilon", Fraction(positive("epsilon", self.epsilon)))
        if whole("k", self.k) > len(self.keys):
            why = f"there are only {len(self.keys)} declared keys"
            raise BadParameter("k", self.k, why=why, fix=f"use at most {len(self.keys)}")
        check_relation(self.relation)
        whole("contributions", self.contributions)

    @property
    def sensitivity(self) -> int:
        """How far one unit moves the score of a sequence."""
        return self.contributions * (1 if self.relation == "add_remove" else 2)

    @property
    def sequences(self) -> int:
        """How many sequences compete."""
        return math.perm(len(self.keys), self.k)

    @property
    def loss(self) -> PrivacyLoss:
        """That of one exponential mechanism."""
        return Exponential(self.epsilon, relation=self.relation)

    def error(self, beta: float = 0.05) -> float:
        """Return the gap that is exceeded with probability at most beta (McSherry and Talwar 2007)."""
        odds = math.log(self.sequences) - math.log(float(chance(beta)))
        return float(2 * self.sensitivity / Fraction(self.epsilon)) * odds

    def exact(self, values: Iterable[Any]) -> NDArray[np.int64]:
        """Return the counts, in the order of the keys."""
        return tally(self.keys, values)

    def release(self, exact: Exact[Counts] | Counts) -> tuple[Key, ...]:
        """Return k keys for exact counts of all keys.

        Guarantee: `loss`, under `relation`, for units of at most `contributions` rows.
        """
        ranking = self._ranking(opened(exact))
        return self._named(ranking, *self._leveled(ranking).draw())

    def releases(self, exact: Counts, count: int) -> NDArray[Any]:
        """Return many independent answers, one per row, for audits and simulations: each costs `loss`."""
        ranking = self._ranking(exact)
        candidates, drawn = self._leveled(ranking).draws(whole("count", count))
        return np.array([self._named(ranking, *each) for each in candidates])[drawn]

    def chances(self, exact: Counts) -> dict[tuple[Key, ...], Chance]:
        """Return rational bounds on the probability of every sequence."""
        ranking = self._ranking(exact)
        known = self._leveled(ranking).chances()
        return {self._named(ranking, level, place): chance for level, chance in known for place in range(level.size)}

    def __call__(self, values: Iterable[Any]) -> tuple[Key, ...]:
        """Return k keys for raw values.

        Guarantee: that of `release`.
        """
        return self.release(self.exact(values))

    def _ranking(self, exact: Counts) -> Ranking:
        counts = counts_of(exact, len(self.keys))
        order = sorted(range(len(counts)), key=lambda place: -counts[place])
        return Ranking(tuple(order), tuple(counts[place] for place in order), self.k)

    def _leveled(self, ranking: Ranking) -> Leveled:
        return Leveled(Fraction(self.epsilon) / (2 * self.sensitivity), self.sequences, ranking.levels)

    def _named(self, ranking: Ranking, level: Level, place: int) -> tuple[Key, ...]:
        return tuple(self.keys[ranking.order[rank]] for rank in ranking.sequence(level.deficit, place))


@dataclass(frozen=True, slots=True)
class Ranking:
    """Counts in falling order, and the key each belongs to."""

    order: tuple[int, ...]
    counts: tuple[int, ...]
    k: int

    def reach(self, gap: int) -> list[int]:
        """Return, for each of the k places, how many keys fall short of it by at most `gap`: the first so many."""
        reached, out = 0, []
        for place in range(self.k):
            while reached < len(self.counts) and self.counts[reached] >= self.counts[place] - gap:
                reached += 1
            out.append(reached)
        return out

    def levels(self, most: int) -> list[Level]:
        """Return the sequences of every largest gap up to `most`, counted.

        The keys allowed at one place are allowed at the next, so sequences of gaps up to g number the product of
        reach_i(g) - i over places i = 0 ... k - 1.
        """
        gaps = {self.counts[i] - count for i in range(self.k) for count in self.counts[i:]}
        found, before = [], 0
        for gap in sorted(gap for gap in gaps if gap <= most):
            up_to = math.prod(reached - place for place, reached in enumerate(self.reach(gap)))
            found.append(Level(gap, 0, up_to - before))
            before = up_to
        return [level for level in found if level.size]

    def sequence(self, gap: int, number: int) -> list[int]:
        """Return the ranks of one of the sequences whose largest gap is exactly `gap`, by its number.

        Sorted by the first place whose gap is the largest: places before it stay below the gap, those after need not.
        """
        inner, outer = self.reach(gap - 1), self.reach(gap)
        if gap == 0:
            return self._unrank(number, outer, [(0, reached) for reached in outer])
        for first in range(self.k):
            limits = [*inner[:first], *outer[first:]]
            radices = [reached - place for place, reached in enumerate(limits)]
            radices[first] = outer[first] - inner[first]
            if number < (size := math.prod(radices)):
                spans = [(0, reached) for reached in limits]
                spans[first] = (inner[first], outer[first])
                return self._unrank(number, limits, spans)
            number -= size
        raise AssertionError("a number below the size of its level")

    def _unrank(self, number: int, limits: list[int], spans: list[tuple[int, int]]) -> list[int]:
        chosen: list[int] = []
        for (start, _), reached in zip(spans, limits, strict=True):
            free = [rank for rank in range(start, reached) if rank not in chosen]
            number, digit = divmod(number, len(free))
            chosen.append(free[digit])
        return chosen


def trials() -> Trials:
    """Yield the worst neighbours: the winner and the runner-up nearer to each other, or changing places."""
    yield Trial("one vote more", TopK(k=1, keys=("A", "B", "C"), epsilon=1), [3, 3, 1], [3, 4, 1])
    yield Trial("two of four", TopK(k=2, keys=("A", "B", "C", "D"), epsilon=2), [2, 2, 2, 0], [3, 2, 2, 0])
    replace = TopK(k=2, keys=("A", "B", "C"), epsilon=1, relation="replace")
    yield Trial("a vote moves", replace, [3, 2, 0], [2, 3, 0])
