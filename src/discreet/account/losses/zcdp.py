"""Concentrated differential privacy, stated: divergences at most rho alpha (Bun and Steinke 2016)."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.losses.loss import PrivacyLoss, Unsupported, settle
from discreet.account.numeric.checks import Number, failure, nonnegative, whole
from discreet.account.numeric.pair import Array
from discreet.account.numeric.rounding import sloped
from discreet.core.unit import Relation
from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Zcdp(PrivacyLoss):
    """Any mechanism that is rho-zCDP, except for an event of probability delta.

    Guarantee: delta-approximate rho-zero-concentrated differential privacy, as stated.
    """

    rho0: Number
    delta0: Number

    def __init__(self, rho: Number, delta: Number = 0, *, relation: Relation = "add_remove") -> None:
        settle(self, relation, rho0=nonnegative("rho", rho), delta0=failure("delta", delta))

    @property
    def slack(self) -> Number:
        """The delta."""
        return self.delta0

    @property
    def peak(self) -> Number:
        """Unbounded, unless there is no loss at all."""
        return float("inf") if self.rho0 else 0

    @property
    def rho(self) -> Number:
        """The rho."""
        return self.rho0

    def divergence(self, alphas: Array) -> Array:
        """Return rho alpha."""
        return sloped(self.rho0, alphas)

    def group(self, k: int) -> PrivacyLoss:
        """Return k^2 rho (Bun and Steinke 2016, Proposition 1.9).

        Guarantee: holds for any k steps of the relation; there is no such theorem for delta > 0.
        """
        if self.delta0 and whole("k", k) > 1:
            why = "group privacy is proved for delta 0 only"
            raise Unsupported(f"{self!r}.group({k})", why=why, fix="state the loss of the group itself", value=self)
        return Zcdp(Fraction(self.rho0) * whole("k", k) ** 2, self.delta0, relation=self.relation)
