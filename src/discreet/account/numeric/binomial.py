"""The exact privacy curve of k-fold randomized response: binomial sums in many digits.

Randomized response at epsilon tells the truth with odds e^epsilon : 1. Over k answers, l of which lie, the privacy loss
is (k - 2l) epsilon, and l is binomial: P_l = C(k, l) x^l / (1 + x)^k with x = e^-epsilon. For e* between
(k - 2i) epsilon and (k - 2i + 2) epsilon the losses above e* are those of l < i, so

    delta(e*) = A_i - e^(e* - (k - 2i) epsilon) C_i,    A_i = sum_{l<i} P_l,    C_i = sum_{l<i} P_l x^(2(i - l)),

which is Kairouz, Oh, Viswanath 2015, Theorem 3.3, at its grid points e* = (k - 2i) epsilon, and is solved for e* in
closed form between them. Every term is positive and at most 1: nothing overflows, whatever k and epsilon.
"""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction

from discreet.account.numeric.checks import Number
from discreet.account.numeric.rounding import DIGITS, decimal, precise, raised, up, zeros
from discreet.core.errors import BadParameter

MOST = 10**8  # compositions that are summed within a few seconds

# Bernoulli numbers B_2, B_4, ... of Stirling's series.
_BERNOULLI = [
    Fraction(*pair)
    for pair in [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798)]
]
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def optimal_epsilon(k: int, epsilon: Number, slack: Number) -> float:
    """Return the least e* with delta(e*) <= slack for k-fold randomized response at epsilon, rounded up."""
    if epsilon == 0 or slack == 0:
        return up(k * Fraction(epsilon))
    if k > MOST:
        why = f"exact sums over more than {MOST} compositions take too long"
        raise BadParameter("k", k, why=why, fix="use advanced(), or losses and their Renyi or numerical accountants")
    with precise(DIGITS + zeros(epsilon) + len(str(k))):
        each, target = decimal(epsilon), decimal(slack)
        if BinomialCurve.is_silent(k, each):
            # e^-epsilon is negligible: A_1 <= 1 and the only loss that matters is k epsilon.
            return raised(max(k * each + (1 - target).ln(), (k - 2) * each, Decimal(0)))
        return BinomialCurve(k, each).epsilon(target)


class BinomialCurve:
    """delta as a function of epsilon, for k-fold randomized response; lives inside one `precise` context."""

    def __init__(self, k: int, epsilon: Decimal) -> None:
        self.k = k
        self.each = epsilon
        self.x = (-epsilon).exp()
        self.mode = int((k + 1) * self.x / (1 + self.x))
        self.cut = Decimal(10) ** -(getcontext().prec - 10)

    @staticmethod
    def is_silent(k: int, epsilon: Decimal) -> bool:
        """Whether a single lie among k answers is less likely than any digit that is carried."""
        return epsilon > 3 * getcontext().prec + Decimal(k).ln()

    def epsilon(self, slack: Decimal) -> float:
        """Return the least e* >= 0 whose delta is at most `slack`, rounded up."""
        low, high = 0, (self.k + 1) // 2 + 1  # the curve at i = low is at most slack; high is beyond e* = 0
        while high - low > 1:
            middle = (low + high) // 2
            above, beyond = self.sums(middle)
            low, high = (middle, high) if above - beyond < slack else (low, middle)
        above, beyond = self.sums(high)
        if above <= slack:
            return 0.0
        found = (self.k - 2 * high) * self.each + ((above - slack) / beyond).ln()
        return max(0.0, raised(found, abs(found) + self.each))

    def sums(self, i: int) -> tuple[Decimal, Decimal]:
        """Return A_i and C_i, each summed away from its largest term."""
        peak = min(i - 1, self.mode)
        above = self._sum(peak, -1, 0, Decimal(1))
        if peak < i - 1:
            above += self._sum(peak + 1, 1, i - 1, Decimal(1))
        square = self.x * self.x
        return above, square * self._sum(i - 1, -1, 0, square)

    def _sum(self, start: int, step: int, last: int, factor: Decimal) -> Decimal:
        """Return the sum of P_l factor^|l - start| from l = start towards last, less what is negligible."""
        k, x = self.k, self.x
        total = term = self.mass(start)
        for lies in range(start, last, step):
            ratio = factor * (lies / ((k - lies + 1) * x) if step < 0 else (k - lies) * x / (lies + 1))
            term *= ratio
            total += term
            # The ratios fall from here on, so all that is left is below a geometric series.
            if term < self.cut * total * (1 - ratio):
                break
        return total

    def mass(self, lies: int) -> Decimal:
        """Return P_l."""
        k = self.k
        ways = log_factorial(k) - log_factorial(lies) - log_factorial(k - lies)
        return (ways - lies * self.each - k * (1 + self.x).ln()).exp()


def log_factorial(n: int) -> Decimal:
    """Return ln n!, to the digits of the present context: exactly for small n, by Stirling's series beyond."""
    if n < 4000:
        return (+Decimal(math.factorial(n))).ln()
    total = (n + Decimal("0.5")) * Decimal(n).ln() - n + (2 * _PI).ln() / 2
    for index, number in enumerate(_BERNOULLI, 1):
        total += decimal(number / (2 * index * (2 * index - 1))) / Decimal(n) ** (2 * index - 1)
    return total
