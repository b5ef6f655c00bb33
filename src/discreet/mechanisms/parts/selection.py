"""Private selection: what choosing one of several candidates by score has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import Number, positive, whole
from discreet.account.numeric.rounding import up
from discreet.core import rational
from discreet.core.doors import opened
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass
from discreet.mechanisms.parts import tails
from discreet.mechanisms.parts.grid import integers, on_grid, positive_as_written, whole_steps
from discreet.mechanisms.parts.mechanism import Trial, Trials
from discreet.noise.enclosure import Ratio
from discreet.noise.inversion import Integers

MOST_ENTRIES = 1 << 19  # numbers held at once while a selection is repeated


@dataclass(frozen=True, slots=True, init=False)
class Selection(ABC):
    """Chooses a candidate whose score is nearly the best; scores are whole numbers of `step`.

    `sensitivity` is the most that one unit can move *any one* score by, under `relation`. `monotone=True` promises that
    between neighbours all scores move in the same direction, as counts do when a person is added; half the noise is
    then enough. (Under replace, counts of different groups move against each other: that is not monotone.)
    `candidates` declares their number, which is public.
    """

    epsilon: Fraction
    sensitivity: Fraction
    step: Fraction
    monotone: bool
    candidates: int | None
    relation: Relation

    def __init__(
        self,
        *,
        epsilon: Number,
        sensitivity: rational.Number = 1,
        step: rational.Number = 1,
        monotone: bool = False,
        candidates: int | None = None,
        relation: Relation = "add_remove",
    ) -> None:
        if not isinstance(monotone, bool):
            raise BadParameter("monotone", monotone, why="scores move together or not", fix="use True or False")
        object.__setattr__(self, "epsilon", Fraction(positive("epsilon", epsilon)))
        object.__setattr__(self, "sensitivity", positive_as_written("sensitivity", sensitivity))
        object.__setattr__(self, "step", positive_as_written("step", step))
        object.__setattr__(self, "monotone", monotone)
        object.__setattr__(self, "candidates", None if candidates is None else whole("candidates", candidates))
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    @abstractmethod
    def loss(self) -> PrivacyLoss:
        """What one selection costs."""

    @abstractmethod
    def error(self, beta: Number = 0.05, *, candidates: int | None = None) -> float:
        """Return how far below the best the chosen score may lie, except with probability beta."""

    @abstractmethod
    def releases(self, exact: object, count: int) -> NDArray[np.int64]:
        """Return the indices chosen in `count` independent selections, for audits and simulations."""

    def exact(self, values: object) -> int | Integers:
        """Return real scores in whole steps: rounded to the nearest, and never refused.

        The declared sensitivity of each score covers this rounding.
        """
        return on_grid(values, self.step)

    def release(self, exact: object) -> int:
        """Return the index of the chosen candidate, given all scores in whole steps.

        Guarantee: `loss`, for scores whose sensitivity under the relation is as declared.
        """
        return int(self.releases(opened(exact), 1)[0])

    @property
    def rate(self) -> Ratio:
        """How fast the logarithm of a candidate's weight falls with each step of its score."""
        # Two neighbours can part two scores by twice the sensitivity, unless all move in one direction.
        moved = whole_steps(self.sensitivity, self.step) * (1 if self.monotone else 2)
        return (self.epsilon / moved).as_integer_ratio()

    def scores(self, exact: object) -> Integers:
        """Return the scores as an array of integers, as many as were declared."""
        found = integers(exact)
        if isinstance(found, int) or found.ndim != 1 or not found.size:
            raise BadParameter(
                "exact", np.shape(found), why="a selection needs a list of scores", fix="pass one for each candidate"
            )
        if self.candidates is not None and len(found) != self.candidates:
            why = f"{self.candidates} candidates were declared"
            raise BadParameter("exact", f"{len(found)} scores", why=why, fix="pass one for each candidate")
        return found

    def _gap(self, beta: Number, rivals: Fraction) -> float:
        """Return the least gap exceeded with probability at most beta, when all rivals weigh `rivals` times the best.

        With rivals a gap g below, one of them is chosen with probability w/(1 + w), w = rivals e^(-rate g); no scores
        are worse.
        """
        chance = tails.chance(beta)
        bits = 192 + chance.denominator.bit_length() + rivals.denominator.bit_length()

        def holds(gap: int) -> bool:
            weight = rivals * tails.power(self.rate, gap + 1, bits)[1]
            return weight <= chance * (1 + weight)

        return up(tails.least(holds) * self.step)


def selection_trials(kind: type[Selection]) -> Trials:
    """Yield neighbours on which a selection loses nearly all of its epsilon: one score up, all others down."""
    rivals = 40
    yield Trial("one against many", kind(epsilon=1, candidates=rivals + 1), [1] + [0] * rivals, [0] + [1] * rivals)
    yield Trial("two candidates", kind(epsilon=2, sensitivity=2, candidates=2), [5, 3], [3, 5])
    yield Trial(
        "monotone counts", kind(epsilon=1, monotone=True, candidates=rivals + 1), [3] + [3] * rivals, [3] + [4] * rivals
    )
    yield Trial("monotone winner", kind(epsilon=1, monotone=True, candidates=3), [4, 2, 2], [3, 2, 2])
    yield Trial("grid of 0.5", kind(epsilon=1, step=0.5, candidates=4), [2, 0, 0, 1], [0, 2, 2, 3])
