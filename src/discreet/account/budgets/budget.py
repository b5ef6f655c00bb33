"""Budgets: how much privacy a table may lose in all, and the filter that sees to it."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.budgets.exceeded import BudgetExceeded as BudgetExceeded
from discreet.account.budgets.filter import PrivacyFilter, PureFilter, ZcdpFilter
from discreet.account.budgets.union import UnionFilter
from discreet.account.numeric.checks import failure, positive, positive_failure
from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written, typed
from discreet.core.unit import Relation
from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A promise, in one of three forms: `epsilon` alone, `epsilon` and `delta`, or `rho` (with a `delta` or without).

    A budget is declared, so a float means the decimal it prints: ten questions of Fraction(1, 10) fit epsilon=1.0.

    Guarantee: what the budget's filter admits is together epsilon-private, (epsilon, delta)-private, or rho-zCDP
    (delta-approximately, where a delta is given), however adaptively it was asked.
    """

    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise BadParameter(
                "epsilon, rho",
                (typed(self.epsilon), typed(self.rho)),
                why="a budget is counted in epsilon or in rho",
                fix="use Budget(epsilon=1), Budget(epsilon=1, delta=1e-6) or Budget(rho=0.1)",
            )
        if self.epsilon is not None:
            positive("epsilon", typed(as_written("epsilon", self.epsilon)))
        if self.rho is not None:
            positive("rho", typed(as_written("rho", self.rho)))
        if self.delta is not None:
            check = failure if self.epsilon is None else positive_failure
            check("delta", typed(as_written("delta", self.delta)))

    def filter(self, *, relation: Relation = "add_remove") -> PrivacyFilter:
        """Return the filter that enforces the budget from nothing spent."""
        delta = Fraction(0) if self.delta is None else as_written("delta", self.delta)
        if self.rho is not None:
            return ZcdpFilter(as_written("rho", self.rho), delta, relation=relation)
        assert self.epsilon is not None
        epsilon = as_written("epsilon", self.epsilon)
        return UnionFilter.of(epsilon, delta, relation=relation) if delta else PureFilter(epsilon, relation=relation)
