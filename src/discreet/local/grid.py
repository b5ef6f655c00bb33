"""The dyadic grid: probabilities that bits can draw exactly, rounded so that no report is dearer than asked."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from discreet.account.numeric.checks import positive
from discreet.account.numeric.rounding import DIGITS, decimal, precise, raised
from discreet.core.errors import BadParameter
from discreet.core.rational import Number, as_written

# Binary digits of every probability: a numerator fits an int64, and rounding costs about 1e-18 of epsilon.
BITS = 62
ONE = 1 << BITS


def asked(epsilon: Number) -> Fraction:
    """Return an epsilon as the exact number it is, refusing what no report can be made at."""
    exact = Fraction(positive("epsilon", as_written("epsilon", epsilon) if isinstance(epsilon, Decimal) else epsilon))
    if not Fraction(1, 10**9) <= exact <= 30:
        why = "between 1e-9 and 30 the grid of probabilities is fine enough to keep it"
        raise BadParameter("epsilon", epsilon, why=why, fix="use a usual epsilon, such as 1")
    return exact


def lie(epsilon: Fraction, others: int = 1) -> Fraction:
    """Return the probability q of each of so many lies, so the truth has 1 - others q and at most e^epsilon q.

    Guarantee: (1 - others q) / q <= e^epsilon, exactly, q being the least such number on the grid.
    """
    with precise(DIGITS + 40):
        odds = decimal(epsilon).exp()
        # Raised by far more than exp can err, and then to the next point of the grid: q is never too small.
        share = Decimal(ONE) / (odds * (1 - Decimal("1e-60")) + others)
    return Fraction(math.ceil(share), ONE)


def log_up(odds: Fraction) -> float:
    """Return the logarithm of likelihood odds, rounded up."""
    if odds <= 1:
        return 0.0
    with precise(DIGITS + 80):
        return raised(decimal(odds).ln(), Decimal(1))


def within(odds: Fraction, epsilon: Fraction) -> bool:
    """Return whether likelihood odds are at most e^epsilon."""
    with precise(DIGITS + 80):
        return decimal(odds).ln() <= decimal(epsilon)


def numerator(chance: Fraction) -> int:
    """Return how many of the grid's 2^62 parts a probability is, refusing one that is not on the grid."""
    parts = chance * ONE if isinstance(chance, Fraction) else Fraction(-1)
    if parts.denominator != 1 or not 0 <= parts <= ONE:
        why = f"it is no multiple of 2^-{BITS} in [0, 1]"
        raise BadParameter("probability", chance, why=why, fix="use the probabilities that the protocol chose")
    return int(parts)
