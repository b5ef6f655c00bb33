"""Exponential mechanism: one of several candidates, with odds exponential in their scores, drawn exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses import exponential
from discreet.account.numeric.checks import Number, whole
from discreet.core import rational
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import chances as _chances
from discreet.mechanisms.parts import tails
from discreet.mechanisms.parts.chances import Chances
from discreet.mechanisms.parts.lottery import Lottery
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.mechanisms.parts.selection import Selection, selection_trials
from discreet.noise.bits import current

_LARGEST_WEIGHT = 1 << 53


@dataclass(frozen=True, slots=True, init=False)
class Exponential(Selection):
    """Chooses candidate i with probability proportional to weight_i e^(epsilon score_i / (2 sensitivity)).

    Monotone scores drop the 2. `weights` are a public base measure, integers, all 1 if left out. No float decides:
    every probability is exactly as stated.

    Guarantee: pure epsilon, and bounded range (Durfee and Rogers 2019), so epsilon^2/8-zCDP. Bounded range also
    holds for monotone scores: neighbours move each score's exponent by between 0 and epsilon, in one direction.
    Error: the chosen score lies more than `error(beta)` below the best with probability at most beta; that is at most
    (2 sensitivity / epsilon)(ln candidates + ln 1/beta) (McSherry and Talwar 2007), and some scores attain it.
    """

    weights: tuple[int, ...] | None

    def __init__(
        self,
        *,
        epsilon: Number,
        sensitivity: rational.Number = 1,
        step: rational.Number = 1,
        monotone: bool = False,
        candidates: int | None = None,
        weights: Sequence[int] | None = None,
        relation: Relation = "add_remove",
    ) -> None:
        base = None if weights is None else tuple(whole("weights", weight) for weight in weights)
        if base is not None:
            if not base or max(base) >= _LARGEST_WEIGHT or candidates not in (None, len(base)):
                why = "there is one weight below 2**53 for each candidate"
                raise BadParameter("weights", weights, why=why, fix="give that many integers, 1 or more")
            candidates = len(base)
        Selection.__init__(
            self,
            epsilon=epsilon,
            sensitivity=sensitivity,
            step=step,
            monotone=monotone,
            candidates=candidates,
            relation=relation,
        )
        object.__setattr__(self, "weights", base)

    @property
    def loss(self) -> exponential.Exponential:
        """The loss of a mechanism of bounded range."""
        return exponential.Exponential(self.epsilon, relation=self.relation)

    def error(self, beta: Number = 0.05, *, candidates: int | None = None) -> float:
        """Return how far below the best the chosen score may lie, except with probability beta."""
        count = tails.public_size("candidates", self.candidates, candidates)
        if self.weights is None:
            return self._gap(beta, Fraction(count - 1))
        # At worst the best candidate is the one of least weight.
        return self._gap(beta, Fraction(sum(self.weights) - min(self.weights), min(self.weights)))

    def releases(self, exact: object, count: int) -> NDArray[np.int64]:
        """Return the indices chosen in `count` independent selections, for audits and simulations."""
        return self._lottery(exact).draw(current(), whole("count", count, least=0))

    def chances(self, exact: object) -> Chances:
        """Return bounds on the probability of every candidate."""
        lottery = self._lottery(exact)
        _chances.limited(lottery.size)
        return _chances.chances(_chances.shares(dict(enumerate(lottery.enclosed(_chances.BITS)))))

    def _lottery(self, exact: object) -> Lottery:
        base = None if self.weights is None else np.array(self.weights, dtype=np.int64)
        return Lottery(self.scores(exact), self.rate, base)


def trials() -> Trials:
    """Yield neighbours on which a selection loses nearly all of its epsilon."""
    yield from selection_trials(Exponential)
    weighted = Exponential(epsilon=1, weights=(1, 40, 3))
    yield Trial("base measure", weighted, [1, 0, 0], [0, 1, 1])
