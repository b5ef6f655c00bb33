"""Report noisy maximum: the candidate whose score is highest after exact discrete Laplace noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.pure import Pure
from discreet.account.numeric.checks import Number, whole
from discreet.account.numeric.rounding import up
from discreet.core.value import dataclass
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts import tails as _tails
from discreet.mechanisms.parts.chances import Chances, Tails
from discreet.mechanisms.parts.grid import add
from discreet.mechanisms.parts.mechanism import Trials
from discreet.mechanisms.parts.selection import MOST_ENTRIES, Selection, selection_trials
from discreet.noise.enclosure import Enclosure
from discreet.noise.laplace import laplace


@dataclass(frozen=True, slots=True, init=False)
class NoisyMax(Selection):
    """Adds discrete Laplace noise of 2 sensitivity / epsilon to every score and reports where the largest is.

    Monotone scores drop the 2. Ties go to the first candidate, in the public order of the list.

    Guarantee: pure epsilon (Dwork and Roth 2014, Claim 3.9), and no more than pure. Ties cost nothing: with the other
    noises fixed, candidate i wins if its noise X is at least an integer T, in which the order is counted;
    neighbours move T by at most 2 sensitivities, or 1 if monotone; and P(X >= t + 1) >= e^(-1/scale) P(X >= t) for
    every whole t, because P(X = k + 1) >= e^(-1/scale) P(X = k) for every k.
    Error: a rival g below the best wins only if two noises differ by g, which gives `error(beta)` by the union bound.
    """

    @property
    def loss(self) -> Pure:
        """Pure epsilon."""
        return Pure(self.epsilon, relation=self.relation)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, in steps."""
        return 1 / Fraction(*self.rate)

    def error(self, beta: Number = 0.05, *, candidates: int | None = None) -> float:
        """Return how far below the best the chosen score may lie, except with probability beta."""
        rivals = _tails.public_size("candidates", self.candidates, candidates) - 1
        gap = _tails.laplace_difference(self.scale, _tails.chance(beta) / rivals) if rivals else 0
        return up(gap * self.step)

    def releases(self, exact: object, count: int) -> NDArray[np.int64]:
        """Return the indices chosen in `count` independent selections, for audits and simulations."""
        scores = self.scores(exact)
        rows = max(1, MOST_ENTRIES // len(scores))
        chosen = [
            np.argmax(add(scores, laplace(self.scale, (min(rows, count - start), len(scores)))), axis=1)
            for start in range(0, whole("count", count, least=0), rows)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *chosen])

    def chances(self, exact: object) -> Chances:
        """Return bounds on the probability of every candidate, except for far tails below 2**-72 of each."""
        scores = self.scores(exact).tolist()
        noise = _chances.laplace(self.scale)
        levels = range(min(scores) + min(noise), max(scores) + max(noise) + 1)
        _chances.limited(len(levels) * len(scores))
        tails = Tails(self.scale, len(levels) + 1)
        found = [_chances.NEVER] * len(scores)
        for level in levels:
            # Those before a winner have to stay below its noisy score, those after it may be as high.
            before = _running([tails.below(level - score) for score in scores])
            after = _running([tails.below(level - score + 1) for score in reversed(scores)])[::-1]
            for i, score in enumerate(scores):
                here = _chances.times(_chances.times(before[i], after[i]), noise.get(level - score, _chances.NEVER))
                found[i] = (found[i][0] + here[0], found[i][1] + here[1])
        rest = _chances.missing(noise)
        return _chances.chances({i: (low, high + rest) for i, (low, high) in enumerate(found)})


def _running(factors: list[Enclosure]) -> list[Enclosure]:
    """Return, for each place, the product of all factors before it."""
    return list(accumulate(factors[:-1], _chances.times, initial=_chances.ONE))


def trials() -> Trials:
    """Yield neighbours on which a selection loses nearly all of its epsilon."""
    yield from selection_trials(NoisyMax)
