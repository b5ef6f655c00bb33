"""The best of Discreet's mechanisms for many counts at once, and what it promises against tracing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.account.budgets.conversion import zcdp_budget
from discreet.account.numeric.checks import Number, positive, whole
from discreet.lab.defence import DELTA, Defence, GaussianDefence, LaplaceDefence, Target, ceiling
from discreet.lab.table_copy import Bits


def least_noise(questions: int, epsilon: Number = 1, delta: Number = DELTA) -> LaplaceDefence | GaussianDefence:
    """Return the defence that errs least on so many counts for (epsilon, delta) in all.

    Laplace noise has the standard deviation sqrt(2) k / epsilon and needs no delta; the Gaussian's is sqrt(k / 2 rho),
    for the largest rho that implies (epsilon, delta). From about a dozen questions on the Gaussian errs less.

    Guarantee: (epsilon, delta) in all, under add_remove of one row (pure epsilon where it is the Laplace mechanism).
    """
    asked, rho = whole("questions", questions), zcdp_budget(epsilon, delta)
    return (
        GaussianDefence(rho)
        if math.sqrt(asked / (2 * rho)) < math.sqrt(2) * asked / float(epsilon)
        else LaplaceDefence(epsilon)
    )


def most(defence: Defence) -> float | None:
    """Return the area under the curve that no tracer can expect to exceed, or None where nothing is promised.

    Take a member and an outsider: were they exchanged, each answer would move by at most one, as when one of them
    leaves, so the promise about one row covers the exchange. Whoever tells the two apart, right with probability
    A, would be wrong about the exchanged table with probability 1 - A, and A <= exp(epsilon) (1 - A) + delta. (The area
    under any curve with TPR <= exp(epsilon) FPR in both directions is the same exp(epsilon) / (1 + exp(epsilon)).) For
    rho-zCDP, Pinsker's inequality gives A <= 1/2 + sqrt(rho / 8), as the divergence of order 1 is at most rho.
    """
    if isinstance(defence, GaussianDefence):
        return min(1.0, 0.5 + math.sqrt(float(defence.rho) / 8))
    return ceiling(defence.epsilon)


@dataclass(frozen=True, slots=True)
class Forgetful:
    """Laplace noise of `each` for every question by itself: a custodian who does not account for composition.

    Guarantee: pure `each` times the number of questions, under add_remove of one row: as good as none.
    """

    each: Number
    questions: int

    def __post_init__(self) -> None:
        positive("each", self.each)
        whole("questions", self.questions)

    @property
    def name(self) -> str:
        """The noise, and what it adds up to, in words."""
        return f"epsilon {float(self.each):g} for each of {self.questions:,} questions"

    @property
    def epsilon(self) -> float:
        """The promise about one row, over all questions."""
        return float(self.each) * self.questions

    def protect(self, values: Bits, questions: int, most: int = 1) -> Target:
        """Answer so many questions, each as if it were the only one."""
        return LaplaceDefence(self.each * questions).protect(values, questions, most)
