"""What RAPPOR costs: the exact odds of one report, and the epsilon of many reports of one permanent answer."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from discreet.account.numeric.rounding import DIGITS, decimal, precise, raised
from discreet.local.grid import log_up


def differences(bits: int, hashes: int, published: bool) -> tuple[int, int]:
    """Return how many bits only one, and only the other, of two strings may set at most.

    Ours sets exactly `hashes` bits, so both numbers are the same. The published client sets that many or fewer,
    but one at least, so one string may set all but a bit of the other.
    """
    if not published:
        return min(hashes, bits - hashes), min(hashes, bits - hashes)
    first = min(hashes, bits - 1)
    return first, min(hashes, bits - first)


def odds(zero: Fraction, one: Fraction, apart: tuple[int, int]) -> Fraction:
    """Return the largest ratio of a report's likelihoods under two strings; `zero`, `one`: the chances of a one.

    The bits that only the first string sets and those that only the second sets are each worth a ratio of their own,
    the better of what a one and a zero would say; bits are independent.
    """
    first, second = one / zero, (1 - zero) / (1 - one)
    if first < 1:
        first, second = 1 / first, 1 / second
    return max(first**a * second**b for a, b in (apart, apart[::-1]))


def forever(f: Fraction, apart: tuple[int, int]) -> float:
    """Return the epsilon of a permanent answer that is known outright, f being above 0."""
    return log_up(((1 - f / 2) / (f / 2)) ** sum(apart))


def after(f: Fraction, p: Fraction, q: Fraction, apart: tuple[int, int], reports: int) -> float:
    """Return the epsilon of so many reports of one permanent answer, f being above 0.

    A permanent bit is right with odds A : B, A = 1 - f/2 and B = f/2, and r equal reports multiply these odds by x^r, x
    being q/p for ones and (1-p)/(1-q) for zeros, so the bit is worth g(r ln x) = ln((A x^r + B) / (B x^r + A)).
    Other sequences of reports lie between r ones and r zeros, and g grows: no sequence is worth more. Bits are
    independent, so their worths add up.
    """
    low, high = sorted((p, q))
    ones = high / low if low else None
    zeros = (1 - low) / (1 - high) if high < 1 else None
    with precise(DIGITS + 80):
        worth = [_worth(ratio, reports, 1 - f / 2, f / 2) for ratio in (ones, zeros)]
        return raised(max(a * worth[0] + b * worth[1] for a, b in (apart, apart[::-1])), Decimal(1))


def _worth(ratio: Fraction | None, reports: int, kept: Fraction, turned: Fraction) -> Decimal:
    """Return ln((kept x + turned) / (turned x + kept)) for x = ratio^reports, which is infinite for None."""
    a, b = decimal(kept), decimal(turned)
    inverse = (-reports * decimal(ratio).ln()).exp() if ratio is not None else Decimal(0)
    return ((a + b * inverse) / (b + a * inverse)).ln()
