"""Spending: how a method of publishing turns its budget into exact noise and exact choices, and never more of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np

from discreet.account.budgets.budget import Budget
from discreet.account.budgets.conversion import zcdp_budget
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.core.errors import BadParameter, Refusal
from discreet.core.exact import Exact
from discreet.core.rational import as_written
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.parts.grid import Released
from discreet.publish.code_table import Counts
from discreet.publish.domain import Clique
from discreet.publish.model.fit import NoisyMarginal

Currency = Literal["rho", "epsilon"]


# No table has as many cells; the noise of a marginal is that of a vector, however many it has.
_MOST_CELLS = 1 << 62

# Beyond so much noise on a single count there is nothing to be learned, and numbers no longer fit where they are held.
MOST_NOISE = 1e12


class Overspent(Refusal):
    """A method that asked for more than its share; nothing was drawn for it."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a method may spend, and how far one person reaches: `rows` rows, all of which may lie in one cell.

    A budget of epsilon alone buys Laplace noise and is spent in epsilon; one with a delta buys Gaussian noise, and is
    spent in rho, of which there is as much as stays within (epsilon, delta).
    """

    currency: Currency
    amount: Fraction
    rows: int = 1

    def __post_init__(self) -> None:
        if self.amount < self.part_for(MOST_NOISE):
            why = f"all of it buys one count with noise of more than {MOST_NOISE:.0e} rows, which no table has"
            raise BadParameter(self.currency, float(self.amount), why=why, fix="use 0.1, or more")

    @classmethod
    def of(cls, budget: Budget, rows: int = 1) -> Allowance:
        """Read a budget."""
        if budget.rho is not None:
            return cls("rho", as_written("rho", budget.rho), rows)
        assert budget.epsilon is not None
        epsilon = as_written("epsilon", budget.epsilon)
        if budget.delta is None:
            return cls("epsilon", epsilon, rows)
        return cls("rho", Fraction(zcdp_budget(epsilon, as_written("delta", budget.delta))), rows)

    @property
    def loss(self) -> PrivacyLoss:
        """What all of it costs, whether or not a method uses it up."""
        return Zcdp(self.amount) if self.currency == "rho" else Pure(self.amount)

    def scale(self, part: Fraction) -> float:
        """Return the standard deviation of the noise that a part of the allowance buys for each cell of a marginal."""
        if self.currency == "rho":
            return self.rows / math.sqrt(2 * part)
        return self.rows / float(part) * math.sqrt(2)

    def part_for(self, scale: float) -> Fraction:
        """Return how much of the allowance buys noise of a standard deviation."""
        exact = Fraction(self.rows) / Fraction(scale)
        return exact**2 / 2 if self.currency == "rho" else exact * Fraction(math.sqrt(2))

    def chosen_for(self, part: Fraction) -> Fraction:
        """Return the epsilon of a choice that a part buys: bounded range makes epsilon^2 / 8 of it (rounded down)."""
        if self.currency == "epsilon":
            return part
        square = 8 * part
        return Fraction(math.isqrt((square.numerator << 120) // square.denominator), 1 << 60)


@dataclass(slots=True)
class Spending:
    """An allowance in the hands of one method, which measures and chooses for parts of it.

    Guarantee: the parts add up to no more than the allowance, whatever the method does (sums of rho and of epsilon
    are filters: they stay valid when each part depends on what the ones before it gave).
    """

    allowance: Allowance
    spent: Fraction = field(default=Fraction(0))

    @property
    def left(self) -> Fraction:
        """What is not spent yet."""
        return self.allowance.amount - self.spent

    def measure(self, clique: Clique, exact: Exact[Counts], part: Fraction) -> NoisyMarginal:
        """Return an exact marginal with noise on each cell, for a part of the allowance.

        Guarantee: `part`, for marginals in which one person moves at most `rows` rows.
        """
        self._take(part)
        mechanism: Gaussian | Laplace
        if self.allowance.currency == "rho":
            mechanism = Gaussian(rho=part, sensitivity=self.allowance.rows, dimension=_MOST_CELLS)
        else:
            mechanism = Laplace(epsilon=part, sensitivity=self.allowance.rows)
        noisy: Released = mechanism.release(exact)
        return NoisyMarginal(clique, np.asarray(noisy, np.float64), self.allowance.scale(part))

    def choose(self, scores: Exact[Sequence[int] | Counts], moves: int, part: Fraction) -> int:
        """Return a candidate whose whole-number score is nearly the best, for a part of the allowance.

        Guarantee: `part`, for scores that one row moves by at most `moves`.
        """
        self._take(part)
        chosen = Exponential(epsilon=self.allowance.chosen_for(part), sensitivity=moves * self.allowance.rows)
        return chosen.release(scores)

    def count(self, part: Fraction) -> None:
        """Count a part that was spent before, by this purse in another process."""
        self._take(part)

    def _take(self, part: Fraction) -> None:
        if not 0 < part <= self.left:
            why = f"{float(self.left):.6g} {self.allowance.currency} of {float(self.allowance.amount):.6g} is left"
            raise Overspent(
                f"{float(part):.6g} {self.allowance.currency}", why=why, fix="spend what is left", value=part
            )
        self.spent += part
