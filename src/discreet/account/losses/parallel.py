"""Parallel composition: losses on disjoint parts of the table, of which every person touches one."""

from __future__ import annotations

import numpy as np

from discreet.account.losses.loss import PrivacyLoss, Unsupported
from discreet.account.numeric.accountants import Method
from discreet.account.numeric.checks import Number, whole
from discreet.account.numeric.pair import Array, Pair, worst
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Parallel(PrivacyLoss):
    """Losses of which a neighbour meets one, whichever it is: the worst of them at every epsilon.

    Guarantee: under add_remove, for a partition that does not depend on the data and units that lie in one part each
    (rows, or people with max_groups=1).
    """

    among: tuple[PrivacyLoss, ...]

    def __post_init__(self) -> None:
        PrivacyLoss.__post_init__(self)
        if not self.among:
            raise BadParameter("among", self.among, why="nothing happened", fix="give at least one loss")
        for relation in (self.relation, *(loss.relation for loss in self.among)):
            if relation != "add_remove":
                why = "under replacement a person can move from one part to another, which affects both"
                fix = "state the losses under add_remove, or add the two most expensive of them"
                raise BadParameter("relation", relation, why=why, fix=fix)

    def epsilon(self, delta: Number, *, method: Method | None = None) -> float:
        """Return the largest epsilon of the parts.

        Guarantee: (epsilon, delta)-differential privacy, whichever part a neighbour meets.
        """
        return max(loss.epsilon(delta, method=method) for loss in self.among)

    def delta(self, epsilon: Number, *, method: Method | None = None) -> float:
        """Return the largest delta of the parts.

        Guarantee: (epsilon, delta)-differential privacy, whichever part a neighbour meets.
        """
        return max(loss.delta(epsilon, method=method) for loss in self.among)

    @property
    def slack(self) -> Number:
        """The largest."""
        return max(loss.slack for loss in self.among)

    @property
    def peak(self) -> Number:
        """The largest."""
        return max(loss.peak for loss in self.among)

    @property
    def rho(self) -> Number | None:
        """The largest."""
        return _most([loss.rho for loss in self.among])

    @property
    def mu(self) -> float | None:
        """The largest, if all are Gaussian."""
        most = _most([loss.mu for loss in self.among])
        return None if most is None else float(most)

    @property
    def response(self) -> float | None:
        """The largest, if all are randomized response."""
        most = _most([loss.response for loss in self.among])
        return None if most is None else float(most)

    @property
    def symmetric(self) -> bool:
        """Whether all are."""
        return all(loss.symmetric for loss in self.among)

    @property
    def exact(self) -> bool:
        """Whether all are."""
        return all(loss.exact for loss in self.among)

    @property
    def dominated(self) -> bool:
        """Whether all are."""
        return all(loss.dominated for loss in self.among)

    def pair(self, tail: float) -> Pair:
        """Return the worst pair."""
        return worst(loss.pair(tail) for loss in self.among)

    def pair_added(self, tail: float) -> Pair:
        """Return the worst pair."""
        return worst(loss.pair_added(tail) for loss in self.among)

    @property
    def orders(self) -> Array | None:
        """The special orders of all."""
        known = [loss.orders for loss in self.among if loss.orders is not None]
        return np.unique(np.concatenate(known)) if known else None

    @property
    def has_divergence(self) -> bool:
        """Whether all have."""
        return all(loss.has_divergence for loss in self.among)

    def divergence(self, alphas: Array) -> Array:
        """Return the largest divergences."""
        return np.asarray(np.max([loss.renyi(alphas) for loss in self.among], axis=0))

    def group(self, k: int) -> PrivacyLoss:
        """Refuse groups: their members may lie in several parts."""
        if whole("k", k) == 1:
            return self
        why = "members of a group may be in different parts, which affects all of them"
        raise Unsupported(
            f"{self!r}.group({k})", why=why, fix="add the losses of the k most expensive parts", value=self
        )


def parallel(*losses: PrivacyLoss) -> PrivacyLoss:
    """Return the loss of mechanisms that run on disjoint parts of the table: the worst of theirs.

    Guarantee: see `Parallel`.
    """
    known = {repr(loss): loss for loss in losses}
    among = tuple(known[key] for key in sorted(known))
    made = Parallel(among)
    return among[0] if len(among) == 1 else made


def _most(values: list[Number] | list[Number | None] | list[float | None]) -> Number | None:
    some = [value for value in values if value is not None]
    return max(some) if len(some) == len(values) else None
