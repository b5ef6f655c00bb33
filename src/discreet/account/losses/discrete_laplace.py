"""Discrete Laplace losses: integers plus two-sided geometric noise, what our mechanisms emit."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import response_divergence, response_rho
from discreet.account.numeric.checks import Number, positive, whole
from discreet.account.numeric.pair import Array, Pair, atoms, response
from discreet.account.numeric.rounding import excess, up
from discreet.core.value import dataclass
from discreet.noise.arrays import np

STEPS = 4096  # sensitivities up to which every loss is kept apart
BLOCKS = 1024
FLOATS = 1 << 53  # whole numbers that floats tell apart


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteLaplace(PrivacyLoss):
    """Noise on the integers with P(x) proportional to e^(-|x|/scale), for a sensitivity counted in integer steps.

    At sensitivity 1 its loss is exactly that of randomized response at epsilon = 1/scale: more than that of continuous
    noise, which is what a float would have pretended to add.

    Guarantee: epsilon-differential privacy with epsilon = sensitivity/scale, and all that follows from its exact loss.
    """

    scale: Number
    sensitivity: int = 1

    def __post_init__(self) -> None:
        PrivacyLoss.__post_init__(self)
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "sensitivity", whole("sensitivity", self.sensitivity))

    @property
    def peak(self) -> Number:
        """sensitivity/scale."""
        return self.sensitivity / Fraction(self.scale)

    @property
    def response(self) -> float | None:
        """1/scale, at sensitivity 1."""
        return up(self.peak) if self.sensitivity == 1 else None

    @property
    def rho(self) -> Number:
        """The divergence of order 1.

        In w = e^(2u/scale), u = alpha - 1/2, the moment of order alpha is A (1 + w^s) + w + ... + w^(s-1), except for a
        factor w^(-s/2), with s the sensitivity and A = 1/(1 - e^(-1/scale)) >= 1. A zero has w^s (A w - (A - 1)) =
        A - (A - 1) w, which is impossible off the unit circle; so all zeros in u are imaginary and, as for Laplace
        noise, divergence/alpha falls with alpha.
        """
        if self.sensitivity == 1:
            return response_rho(self.peak)
        pair = self.pair(1e-290)
        # E loss = E (loss - 1 + e^-loss), whose terms are all positive; far below 0 they are counted under Q.
        loss = pair.high
        far = pair.q * (1 - (1 - loss) * np.exp(np.minimum(loss, 0.0)))
        terms = np.where(loss < -1, far, pair.p * excess(np.minimum(-loss, 1.0)))
        return float(terms.sum()) * (1 + 2.0**-40)

    @property
    def dominated(self) -> bool:
        """By the noise around 0 and around the sensitivity."""
        return True

    def pair(self, _tail: float) -> Pair:
        """Return the pair of the noise around the sensitivity and around 0.

        A sensitivity beyond what floats count is looked at on a coarser grid, of g steps that divide it. Geometric
        noise of scale b is g times that of scale b/g plus an independent remainder below g; so the noise is g times
        that on the coarser grid plus the difference of two remainders, which is post-processing of it.
        """
        if self.sensitivity >= FLOATS:
            return self._coarser().pair(_tail)
        if self.sensitivity == 1:
            return response(up(self.peak))
        exact = self.sensitivity <= STEPS
        return _each(self._scale(), self.sensitivity) if exact else _blocks(self._scale(), self.sensitivity)

    def _coarser(self) -> DiscreteLaplace:
        """Return the loss on the finest grid of a power of two that floats can count; at worst that of one step."""
        steps = self.sensitivity & -self.sensitivity
        while steps > 1 and self.sensitivity // (steps // 2) < FLOATS:
            steps //= 2
        if self.sensitivity // steps >= FLOATS:
            steps = self.sensitivity
        return DiscreteLaplace(Fraction(self.scale) / steps, self.sensitivity // steps, relation=self.relation)

    def divergence(self, alphas: Array) -> Array:
        """Return the divergences, from the exact loss."""
        if self.sensitivity == 1:
            return response_divergence(up(self.peak), alphas)
        from discreet.account.numeric.bounded_losses import pair_divergence

        return pair_divergence(self.pair(1e-290), alphas)

    def group(self, k: int) -> DiscreteLaplace:
        """Return the loss at k times the sensitivity.

        Guarantee: a group of k moves the answer by at most k times as much.
        """
        return DiscreteLaplace(self.scale, self.sensitivity * whole("k", k), relation=self.relation)

    def _scale(self) -> float:
        return -up(-Fraction(self.scale))


def _each(scale: float, steps: int) -> Pair:
    """Return the pair with every loss (2x - steps)/scale, x = 0 ... steps, the outer ones with all beyond them."""
    ratio = math.exp(-1 / scale)
    x = np.arange(steps + 1.0)
    p = -math.expm1(-1 / scale) / (1 + ratio) * np.exp((x - steps) / scale)
    p[0], p[-1] = math.exp(-steps / scale) / (1 + ratio), 1 / (1 + ratio)
    return atoms((2 * x - steps) / scale, p, p[::-1].copy(), unit=1 / scale)


def _blocks(scale: float, steps: int) -> Pair:
    """Return the pair for many steps: inner losses in blocks, each divided between its ends, keeping P and Q."""
    ratio = math.exp(-1 / scale)
    weight = -math.expm1(-1 / scale) / (1 + ratio)
    cuts = np.unique(np.linspace(1, steps, BLOCKS + 1).astype(np.int64)).astype(float)
    first, size = cuts[:-1], np.diff(cuts)
    low, high = (2 * first - steps) / scale, (2 * (first + size) - steps) / scale
    # Sums of geometric series: e^((x - steps)/scale) under P and e^(-x/scale) under Q, over the block.
    series = weight * np.expm1(-size / scale) / math.expm1(-1 / scale)
    p = series * np.exp((first + size - 1 - steps) / scale)
    q = series * np.exp(-first / scale)
    # The upper end gets (p - q e^low)/span of P and e^-high times that of Q. e^low and e^-high are not computed by
    # themselves: for large losses they overflow, while every exponent that is left here is at most 0.
    span = -np.expm1(low - high)
    p_up = (p - series * np.exp((first - steps) / scale)) / span
    q_up = series * (np.exp(-(first + size + 1) / scale) - np.exp(-(first + 2 * size) / scale)) / span
    ends = np.array([-steps / scale, steps / scale])
    outer = np.array([math.exp(-steps / scale), 1.0]) / (1 + ratio)
    in_p = np.concatenate([outer, *_divided(p, p_up, span)])
    in_q = np.concatenate([outer[::-1], *_divided(q, q_up, span)])
    return atoms(np.concatenate([ends, low, high]), in_p, in_q)


def _divided(mass: Array, above: Array, span: Array) -> tuple[Array, Array]:
    """Return what the lower and the upper ends get, each raised by what dividing has magnified of its rounding."""
    slip = mass * 2.0**-48 / span
    return np.clip(mass - above + slip, 0.0, mass), np.clip(above + slip, 0.0, mass)
