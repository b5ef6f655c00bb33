"""Renyi differential privacy, stated: a bound on the divergence at each of some orders (Mironov 2017)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from discreet.account.losses.loss import PrivacyLoss, settle
from discreet.account.numeric.checks import Number, nonnegative, order, whole
from discreet.account.numeric.pair import Array
from discreet.account.numeric.rounding import up
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation
from discreet.core.value import dataclass

RenyiPoints = tuple[tuple[Number, Number], ...]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Renyi(PrivacyLoss):
    """Any mechanism whose divergence of order alpha is at most curve[alpha], for every order that is given.

    Between given orders (alpha - 1) times the divergence is convex, so chords bound it; below the least one the
    divergence only falls, above the largest nothing is known. Order infinity is pure privacy.

    Guarantee: (alpha, curve[alpha])-Renyi differential privacy at every given order, as stated.
    """

    curve: RenyiPoints

    def __init__(self, curve: Mapping[Number, Number] | RenyiPoints, *, relation: Relation = "add_remove") -> None:
        given = dict(curve.items() if isinstance(curve, Mapping) else curve)
        if not given:
            why, fix = "a curve needs at least one order", "give epsilons by order, for example {2: 0.1, 8: 0.5}"
            raise BadParameter("curve", curve, why=why, fix=fix)
        known = ((_order(alpha), nonnegative("epsilon", epsilon)) for alpha, epsilon in given.items())
        settle(self, relation, curve=tuple(sorted(known)))

    @property
    def peak(self) -> Number:
        """The divergence of order infinity, if it is given."""
        alpha, epsilon = self.curve[-1]
        return epsilon if alpha == math.inf else math.inf

    @property
    def orders(self) -> Array:
        """The given orders that are finite."""
        return np.array([float(alpha) for alpha, _ in self.curve if alpha != math.inf])

    def divergence(self, alphas: Array) -> Array:
        """Return the least bounds that the given orders imply."""
        if not len(self.orders):
            return np.full(len(alphas), up(self.peak))
        values = np.array([up(epsilon) for alpha, epsilon in self.curve if alpha != math.inf])
        # A divergence is at most that of any higher order.
        values = np.minimum.accumulate(values[::-1])[::-1]
        knots, heights = np.append(1.0, self.orders), np.append(0.0, (self.orders - 1) * values)
        chords = np.interp(alphas, knots, heights) / (alphas - 1) * (1 + 2.0**-48)
        next_given = values[np.minimum(np.searchsorted(self.orders, alphas), len(values) - 1)]
        beyond = alphas > self.orders[-1]
        return np.asarray(np.where(beyond, up(self.peak), np.minimum(chords, next_given)))

    def group(self, k: int) -> PrivacyLoss:
        """Return the curve for 2^c >= k people: order alpha/2^c, 3^c times the divergence, for alpha >= 2^(c+1).

        Guarantee: Mironov 2017, Proposition 2, with the least power of two that is at least k.
        """
        doublings = (whole("k", k) - 1).bit_length()
        curve = {
            alpha if alpha == math.inf else Fraction(alpha) / 2**doublings: _grouped(alpha, Fraction(epsilon), k)
            for alpha, epsilon in self.curve
            if alpha >= 2 ** (doublings + 1) or doublings == 0
        }
        if not curve:
            why = f"the theorem needs an order of at least {2 ** (doublings + 1)}"
            raise BadParameter("k", k, why=why, fix="state the curve at higher orders, or a smaller group")
        return Renyi(curve, relation=self.relation)


def _grouped(alpha: Number, epsilon: Fraction, k: int) -> Fraction:
    return epsilon * (k if alpha == math.inf else 3 ** (k - 1).bit_length())


def _order(alpha: object) -> Number:
    return math.inf if alpha == math.inf else order("alpha", alpha)
