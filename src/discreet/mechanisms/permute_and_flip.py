"""Permute-and-flip: one of several candidates, never worse than the exponential mechanism, drawn exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import Number, whole
from discreet.core.value import dataclass
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts import tails as _tails
from discreet.mechanisms.parts.chances import Chances
from discreet.mechanisms.parts.lottery import Lottery, gaps
from discreet.mechanisms.parts.mechanism import Trials
from discreet.mechanisms.parts.selection import MOST_ENTRIES, Selection, selection_trials
from discreet.noise import enclosure
from discreet.noise.bits import current
from discreet.noise.enclosure import Enclosure
from discreet.noise.uniform import uniform


@dataclass(frozen=True, slots=True, init=False)
class PermuteAndFlip(Selection):
    """Visits the candidates in random order and takes each with probability e^(-epsilon gap / (2 sensitivity)).

    The gap is how far a score lies below the best, so the best is taken when it is met. Monotone scores drop
    the 2. Coins do not depend on the order, so all are flipped at once and one of the heads is drawn evenly.

    Guarantee: pure epsilon (McKenna and Sheldon 2020, Theorem 1), and no more than pure: it has no bounded range. It is
    the noisy maximum with exponential noise (Ding et al. 2021), where candidate i wins if its noise exceeds a threshold
    that neighbours move by at most 2 sensitivities, or 1 if monotone; the chance of that falls by e^-rate a step.
    Error: never above the exponential mechanism's (McKenna and Sheldon 2020, Theorem 2), whose bound is stated.
    """

    @property
    def loss(self) -> Pure:
        """Pure epsilon."""
        return Pure(self.epsilon, relation=self.relation)

    def error(self, beta: Number = 0.05, *, candidates: int | None = None) -> float:
        """Return how far below the best the chosen score may lie, except with probability beta."""
        return self._gap(beta, Fraction(_tails.public_size("candidates", self.candidates, candidates) - 1))

    def releases(self, exact: object, count: int) -> NDArray[np.int64]:
        """Return the indices chosen in `count` independent selections, for audits and simulations."""
        lottery, source = Lottery(self.scores(exact), self.rate), current()
        rows = max(1, MOST_ENTRIES // lottery.size)
        parts = [
            _one_of(lottery.flip(source, min(rows, count - start)))
            for start in range(0, whole("count", count, least=0), rows)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    def chances(self, exact: object) -> Chances:
        """Return bounds on the probability of every candidate."""
        apart = gaps(self.scores(exact)).tolist()
        _chances.limited(len(apart) ** 3)
        top, bottom = self.rate
        coins = [enclosure.exp((top * gap, bottom), _chances.BITS) for gap in apart]
        return _chances.chances({i: _chosen(coin, coins[:i] + coins[i + 1 :]) for i, coin in enumerate(coins)})


def _one_of(heads: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Draw, in every row, one of the heads evenly; the best candidates always show heads, so there is one."""
    ranks = np.cumsum(heads, axis=1, dtype=np.int64)
    wanted = np.empty(len(heads), dtype=np.int64)
    for number in np.unique(ranks[:, -1]).tolist():
        rows = np.flatnonzero(ranks[:, -1] == number)
        wanted[rows] = uniform(number, len(rows))
    found: NDArray[np.int64] = np.argmax(ranks > wanted[:, None], axis=1)
    return found


def _chosen(coin: Enclosure, others: list[Enclosure]) -> Enclosure:
    """Enclose P(heads) E[1 / (1 + heads among the others)], which falls as the others' chances rise."""
    return _chances.times(coin, (_shared([high for _, high in others])[0], _shared([low for low, _ in others])[1]))


def _shared(coins: list[int]) -> Enclosure:
    """Enclose E[1 / (1 + K)], K the number of heads, for coins of exact biases."""
    law = [_chances.ONE]
    for coin in coins:
        heads, tails = (coin, coin), (_chances.ONE[0] - coin, _chances.ONE[0] - coin)
        stay, rise = [*law, _chances.NEVER], [_chances.NEVER, *law]
        law = [_plus(_chances.times(a, tails), _chances.times(b, heads)) for a, b in zip(stay, rise, strict=True)]
    return sum(low // (k + 1) for k, (low, _) in enumerate(law)), sum(
        -(-high // (k + 1)) for k, (_, high) in enumerate(law)
    )


def _plus(one: Enclosure, other: Enclosure) -> Enclosure:
    return one[0] + other[0], one[1] + other[1]


def trials() -> Trials:
    """Yield neighbours on which a selection loses nearly all of its epsilon."""
    yield from selection_trials(PermuteAndFlip)
