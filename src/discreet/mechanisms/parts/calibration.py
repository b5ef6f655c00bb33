"""Calibration of discrete Gaussian noise: the least sigma, in steps, whose own discrete loss keeps what was asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.account.budgets import calibrate
from discreet.account.losses.discrete_gaussian import DiscreteGaussian
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.zcdp import Zcdp
from discreet.account.numeric.checks import Number, positive, positive_failure
from discreet.account.numeric.rounding import up
from discreet.core.errors import BadParameter

# How far the discrete loss can push sigma beyond the continuous calibration before the search gives up on small steps.
_STEPS = [Fraction(1, 10**n) for n in (6, 5, 4, 3, 2, 1)]
_FUTILE = 256  # times the continuous calibration: beyond, delta is below what the loss can be computed to
_REFINED = 1000  # sigma up to which the last digits are worth a few more evaluations of the loss


def root_up(value: Fraction) -> Fraction:
    """Return a rational that is at least the root of a positive number, and close to it: a float, if one reaches it."""
    scale = 1 << max(0, 128 - value.numerator.bit_length() + value.denominator.bit_length())
    root = math.isqrt(math.ceil(value * scale * scale) - 1) + 1
    short = up(Fraction(root, scale))
    return Fraction(short) if short < math.inf else Fraction(root, scale)


def by_rho(moved: Fraction, rho: Number) -> Fraction:
    """Return the least sigma that is rho-zCDP for a squared distance: sqrt(moved / (2 rho))."""
    return root_up(moved / (2 * Fraction(positive("rho", rho))))


def classical(moved: Fraction, epsilon: Number, delta: Number) -> Fraction:
    """Return sqrt(2 ln(1.25/delta)) distance/epsilon (Dwork and Roth 2014, Theorem A.1), which needs epsilon <= 1."""
    target, failure = Fraction(positive("epsilon", epsilon)), Fraction(positive_failure("delta", delta))
    if target > 1:
        why = "the classical calibration is proved for epsilon <= 1 only, and is too small for large epsilon"
        raise BadParameter("epsilon", epsilon, why=why, fix="leave classical=True out, or use epsilon <= 1")
    logarithm = math.log(5 * failure.denominator) - math.log(4 * failure.numerator)
    wide = math.sqrt(2 * logarithm) * (1 + 1e-12)
    return Fraction(up(Fraction(wide) * root_up(moved) / target))


def check_classical(loss: PrivacyLoss, epsilon: Number | None, delta: Number | None) -> None:
    """Refuse the classical calibration where the noise that is really drawn would not keep it."""
    if epsilon is None or delta is None:
        why = "the classical calibration starts from epsilon and delta"
        raise BadParameter("classical", True, why=why, fix="give epsilon= and delta=, or leave it out")
    if loss.delta(epsilon) > delta:
        why = "the discrete noise of this sigma is not proved to keep epsilon and delta"
        raise BadParameter("classical", True, why=why, fix="leave it out: sigma is then chosen for the discrete noise")


def analytic(moved: Fraction, epsilon: Number, delta: Number, *, single: bool) -> Fraction:
    """Return a sigma whose loss is (epsilon, delta): a single number's discrete loss, or a vector's zCDP.

    It starts from the analytic Gaussian mechanism (Balle and Wang 2018), which is about continuous noise, and goes up
    until the loss of the discrete noise agrees.
    """
    target, failure = positive("epsilon", epsilon), positive_failure("delta", delta)
    if not single:
        return by_rho(moved, _rho(target, failure))
    distance = math.isqrt(int(moved))
    start = Fraction(calibrate.gaussian(target, failure)) * distance

    def enough(sigma: Fraction) -> bool:
        return DiscreteGaussian(sigma, sensitivity=distance).delta(target) <= failure

    found = _least(enough, start)
    if found is None:
        raise _never(delta)
    return found


def _least(enough: Callable[[Fraction], bool], start: Fraction) -> Fraction | None:
    """Return the least sigma that was seen to be enough; None where far more than the start is not."""
    if enough(start):
        return start
    # Rounded before they are tried: the bound on delta is not monotone to its last digits.
    low = start
    tried = (_rounded(start * (1 + step)) for step in _STEPS)
    high = next((sigma for sigma in tried if enough(sigma)), _rounded(start * 2))
    while not enough(high):
        low, high = high, high * 2
        if high > _FUTILE * start:
            return None
    for _ in range(12 if start <= _REFINED else 0):
        middle = _rounded((low + high) / 2)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _rounded(sigma: Fraction) -> Fraction:
    return Fraction(up(sigma))


def _rho(epsilon: Number, delta: Number) -> Fraction:
    """Return the largest rho, except for 2^-30 of it, whose zCDP is (epsilon, delta)."""
    low, high = Fraction(0), Fraction(epsilon)
    while Zcdp(high).delta(epsilon) <= delta:  # a large delta pays for a rho above epsilon
        low, high = high, 2 * high
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (middle, high) if Zcdp(middle).delta(epsilon) <= delta else (low, middle)
        if low and high - low <= low / 2**30:
            break
    if not low:
        raise _never(delta)
    return low


def _never(delta: Number) -> BadParameter:
    return BadParameter("delta", delta, why="no noise is proved to be enough", fix="use a larger epsilon or delta")
