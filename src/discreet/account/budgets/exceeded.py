"""BudgetExceeded: the refusal of a question that the privacy budget does not cover."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from discreet.core.errors import Refusal


class BudgetExceeded(Refusal):
    """A loss that a filter will not admit: what was requested, what remains, and by how much the one exceeds the other.

    `currency` says in what the budget is counted; the three amounts are exact.
    """

    def __init__(
        self, currency: str, requested: Fraction, remaining: Fraction, *, budget: Fraction, theorem: str, fits: str
    ) -> None:
        self.currency = currency
        self.requested = requested
        self.remaining = remaining
        self.difference = requested - remaining
        self.budget = budget
        self.theorem = theorem
        self.fits = fits
        super().__init__(
            f"{currency} {rounded_up(requested)} requested",
            why=(
                f"{rounded_down(remaining)} of {rounded_down(budget)} remains,"
                f" {rounded_up(self.difference)} too little ({theorem})"
            ),
            fix=fits,
            value=requested,
        )


def rounded_up(amount: Fraction) -> str:
    """Write an amount for a person in six digits, not below itself."""
    return _rounded(amount, ROUND_CEILING)


def rounded_down(amount: Fraction) -> str:
    """Write an amount for a person in six digits, not above itself."""
    return _rounded(amount, ROUND_FLOOR)


def _rounded(amount: Fraction, rounding: str) -> str:
    digits = Context(prec=6, rounding=rounding).divide(Decimal(amount.numerator), Decimal(amount.denominator))
    return f"{digits.normalize():f}" if -7 < digits.adjusted() < 16 else f"{digits.normalize():e}"
