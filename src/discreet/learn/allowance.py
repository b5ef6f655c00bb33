"""Allowance of a training run: what may be spent, fixed in advance, and the noise that each part of it buys."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from discreet.account.budgets import calibrate
from discreet.account.budgets.budget import Budget
from discreet.account.losses.gaussian import GaussianDP
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.account.numeric.rounding import up
from discreet.core.errors import BadParameter
from discreet.core.rational import as_written
from discreet.core.unit import Relation
from discreet.core.value import dataclass
from discreet.mechanisms.clipped_sum import ClippedSum
from discreet.mechanisms.parts.calibration import root_up

Currency = Literal["mu_squared", "epsilon"]

# What a number of people costs that was not declared.
COUNT_SHARE = Fraction(1, 50)
# Beyond so much noise on a single count there is nothing to be learned, and numbers no longer fit where they are held.
MOST_NOISE = 10**12


@dataclass(frozen=True, slots=True)
class TrainingAllowance:
    """What a run may spend: in mu^2 of Gaussian privacy, which adds up over its rounds, or in pure epsilon.

    Guarantee: `loss`, for a run whose parts were fixed in advance, or follow from parts before them (mu^2 and epsilon
    of parts that are fixed amounts add up also where what is done with them depends on earlier answers).
    """

    currency: Currency
    amount: Fraction
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        least = Fraction(1, MOST_NOISE) ** (2 if self.currency == "mu_squared" else 1)
        if self.amount < least:
            why = "all of it buys one count with noise that no table outweighs, and there is nothing to learn"
            raise BadParameter("epsilon", float(self.amount), why=why, fix="use 0.1, or more")

    @classmethod
    def of(cls, budget: Budget, relation: Relation = "add_remove") -> TrainingAllowance:
        """Read a budget: pure epsilon, epsilon and delta by the exact curve of Gaussian noise, or rho."""
        if budget.rho is not None:
            return cls("mu_squared", 2 * as_written("rho", budget.rho), relation)
        assert budget.epsilon is not None
        epsilon = as_written("epsilon", budget.epsilon)
        if budget.delta is None:
            return cls("epsilon", epsilon, relation)
        mu = -up(-1 / Fraction(calibrate.gaussian(epsilon, as_written("delta", budget.delta))))
        return cls("mu_squared", Fraction(mu) ** 2, relation)

    @property
    def loss(self) -> PrivacyLoss:
        """What all of it costs."""
        if self.currency == "epsilon":
            return Pure(self.amount, relation=self.relation)
        return GaussianDP(root_up(self.amount), relation=self.relation)

    @property
    def is_pure(self) -> bool:
        """Whether it buys Laplace noise."""
        return self.currency == "epsilon"

    def noise(self, part: Fraction, *, l1: int, l2_squared: int, dimension: int, times: int = 1) -> ClippedSum:
        """Return the noise that so many sums cost together a part of the amount with."""
        if self.is_pure:
            return ClippedSum.by_epsilon(part, l1=l1, dimension=dimension, relation=self.relation, times=times)
        return ClippedSum.by_mu(part, l2_squared=l2_squared, dimension=dimension, relation=self.relation, times=times)

    def signal(self, part: Fraction, people: float, clip: float, length_squared: float, length_l1: float) -> float:
        """Return by how much all people together outweigh what one of them may add and the noise for it."""
        if self.is_pure:
            return float(part) * people / (clip * length_l1)
        return math.sqrt(part) * people / (clip * math.sqrt(length_squared))
