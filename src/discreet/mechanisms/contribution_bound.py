"""Contribution bound: how many rows of one person to use, so that rows dropped and noise added balance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, positive, whole
from discreet.core.doors import opened
from discreet.core.exact import Exact
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts.keys import occurring
from discreet.mechanisms.parts.mechanism import Chance, Trial, Trials
from discreet.mechanisms.parts.raw_values import Grid, Steps
from discreet.mechanisms.parts.refinement import Counts, RefinementRequest
from discreet.mechanisms.quantile import Quantile

People = Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionBound:
    """Releases a whole number R from 1 to `most`: use at most R rows of each person in the question that follows.

    With x_i rows of person i, a bound R drops sum max(0, x_i - R) rows, and noise of scale R / answer_epsilon goes to
    each of so many `answers`. Their sum falls with R as long as more than answers / answer_epsilon people have more
    than R rows: the best bound is that order statistic from above (Amin, Kulesza, Munoz Medina, Vassilvitskii 2019). It
    is sought by the exponential mechanism, and not nearer to the top than that can tell data from empty space: with few
    people the bound comes out small, never large.

    Guarantee: an exponential mechanism, Exponential(epsilon), for people: one person has one number of rows.
    Error: in people (ranks), how far the bound may be from the one sought.
    """

    epsilon: Number
    most: int
    answer_epsilon: Number = 1
    answers: int = 1
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        whole("most", self.most, least=2)
        whole("answers", self.answers)
        object.__setattr__(self, "epsilon", Fraction(positive("epsilon", self.epsilon)))
        object.__setattr__(self, "answer_epsilon", Fraction(positive("answer_epsilon", self.answer_epsilon)))
        check_relation(self.relation)
        Grid.between(1, self.most, 1)

    @property
    def depth(self) -> int:
        """How many people shall have more rows than the bound."""
        return max(math.ceil(self.answers / Fraction(self.answer_epsilon)), math.ceil(self._highest(0).error(0.05)))

    @property
    def quantile(self) -> Quantile:
        """The quantile of rows per person that is released, for engines that search it in counts of people."""
        return self._highest(-self.depth)

    @property
    def loss(self) -> PrivacyLoss:
        """That of the quantile."""
        return self.quantile.loss

    def error(self, beta: float = 0.05) -> float:
        """Return the error in people: the number that has more rows than the bound is so near to `depth`."""
        return self.quantile.error(beta)

    def exact(self, people: Iterable[Any]) -> People:
        """Return how many people have each number of rows, given the person of every row; nulls are nobody."""
        rows: Counter[object] = Counter()
        for person, times in occurring(people):
            with suppress(Exception):  # who cannot be told apart by hashing is nobody
                rows[person] += times
        return Counter(rows.values())

    def release(self, exact: Exact[People] | People) -> int:
        """Return the bound, given how many people have each number of rows.

        Guarantee: `loss`, under `relation`, for people.
        """
        return int(self.quantile.search_steps(_tally(opened(exact), self.most), 1)[0, 0])

    def releases(self, exact: People, count: int) -> NDArray[np.int64]:
        """Return many independent bounds, for audits and simulations: each costs `loss`."""
        return self.quantile.releases(_listed(exact), count).astype(np.int64)

    def chances(self, exact: People) -> dict[int, Chance]:
        """Return rational bounds on the probability of every bound."""
        return {int(rows): chance for rows, chance in self.quantile.chances(_listed(exact)).items()}

    def _highest(self, offset: int) -> Quantile:
        return Quantile(q=1, low=1, high=self.most, step=1, epsilon=self.epsilon, relation=self.relation, offset=offset)


def _tally(exact: People, most: int) -> Counts:
    """Answer requests from how many people have each number of rows."""
    clamped = [(min(max(int(rows), 1), most), int(people)) for rows, people in exact.items()]

    def counts(requests: list[RefinementRequest]) -> list[dict[int, int]]:
        return [_cells(request, clamped) for request in requests]

    return counts


def _cells(request: RefinementRequest, clamped: list[tuple[int, int]]) -> dict[int, int]:
    found: dict[int, int] = {}
    for rows, people in clamped:
        cell = (rows - request.low) // request.width
        if 0 <= cell < request.cells:
            found[cell] = found.get(cell, 0) + people
    return found


def _listed(exact: People) -> Steps:
    return np.repeat(np.array(list(exact), dtype=np.int64), list(exact.values()))


def trials() -> Trials:
    """Yield the worst neighbours: one more person with the most rows, or with the fewest."""
    bound = ContributionBound(epsilon=1, most=6, answer_epsilon=2)
    yield Trial("a person of many rows", bound, {1: 12, 3: 4}, {1: 12, 3: 4, 6: 1})
    yield Trial("a person of one row", bound, {1: 2, 5: 11}, {1: 3, 5: 11})
    swapped = ContributionBound(epsilon=1, most=5, relation="replace")
    yield Trial("from one row to the most", swapped, {1: 10, 2: 3}, {1: 9, 2: 3, 5: 1})
