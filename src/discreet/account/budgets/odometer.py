"""The odometer: how much privacy has been lost so far, true at every moment and for every way of asking."""

from __future__ import annotations

import math
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.account.budgets.cost import approximate_pure, approximate_renyi, tidy
from discreet.account.numeric.checks import Number, order, positive_failure
from discreet.account.numeric.rounding import decimal, precise, raised, up
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation, check_relation
from discreet.core.value import dataclass, replace

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss

# Low orders serve large losses, high orders small ones; each further order costs ln(orders) / (order - 1) only.
ORDERS: tuple[Number, ...] = (Fraction(3, 2), 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class Odometer:
    """A running bound on the privacy loss; `add` returns the odometer after a loss.

    Two figures, never to be mixed up:

    * `epsilon`, with `total_delta`, is *adaptive*: it holds at all times together, although each loss was chosen after
      seeing answers, and whatever made the reader look at it.
    * `fixed_in_advance(delta)` is the tightest accountant's figure for the list of losses. It holds only if that list
      was settled before the first answer, so it is for reports and never admits a question.

    Guarantee: with probability at least 1 - `total_delta`, at every moment the privacy loss of all answers so far is at
    most `epsilon` of that moment. At one Renyi order, exp((order - 1)(loss - sum of epsilon at that order)) is a
    non-negative supermartingale that starts at 1, and by Ville's inequality it ever reaches 1/slack with probability
    at most slack. The orders are fixed here and share `delta` equally, so the least of their bounds holds as well;
    the sum of pure epsilons needs no share. (Rogers et al. 2016 define odometers; Whitehouse et al. 2023 build theirs
    from such martingales.)
    """

    delta: Number
    orders: tuple[Number, ...] = ORDERS
    relation: Relation = field(default="add_remove", kw_only=True)
    losses: PrivacyLoss | None = field(default=None, kw_only=True)
    sums: tuple[Fraction, ...] = field(default=(), kw_only=True)
    # None once a loss without pure epsilon was added: from then on only the orders speak.
    pure: Fraction | None = field(default=Fraction(0), kw_only=True)
    approximate: Fraction = field(default=Fraction(0), kw_only=True)

    def __post_init__(self) -> None:
        positive_failure("delta", self.delta)
        check_relation(self.relation)
        if not self.orders:
            why, fix = "a bound needs at least one order", "leave orders out, or name some such as (2, 8, 32)"
            raise BadParameter("orders", self.orders, why=why, fix=fix)
        for each in self.orders:
            order("orders", each)
        if not self.sums:
            object.__setattr__(self, "sums", (Fraction(0),) * len(self.orders))

    def add(self, loss: PrivacyLoss) -> Odometer:
        """Return the odometer after one more loss."""
        if loss.relation != self.relation:
            why = f"this odometer counts losses under the relation {self.relation}"
            raise BadParameter("relation", loss.relation, why=why, fix=f"state the loss under {self.relation}")
        costs = [approximate_renyi(loss, each) for each in self.orders]
        pure = approximate_pure(loss).loss if self.pure is not None and loss.peak < math.inf else None
        return replace(
            self,
            losses=loss if self.losses is None else self.losses + loss,
            sums=tuple(tidy(total + cost.loss) for total, cost in zip(self.sums, costs, strict=True)),
            pure=None if self.pure is None or pure is None else tidy(self.pure + pure),
            approximate=tidy(self.approximate + costs[0].delta),
        )

    @property
    def epsilon(self) -> float:
        """The adaptive bound of this moment, rounded up."""
        if self.losses is None:
            return 0.0
        bounds = [self._bound(total, each) for total, each in zip(self.sums, self.orders, strict=True)]
        return min(bounds if self.pure is None else [up(self.pure), *bounds])

    @property
    def total_delta(self) -> float:
        """The probability with which the adaptive bound may ever fail: `delta` and the deltas of approximate parts."""
        return min(1.0, up(Fraction(self.delta) + self.approximate))

    def fixed_in_advance(self, delta: Number) -> float:
        """Return epsilon of all losses by the tightest accountant, valid only for losses settled before any answer."""
        return 0.0 if self.losses is None else self.losses.epsilon(delta=delta)

    def _bound(self, total: Fraction, alpha: Number) -> float:
        with precise():
            share = decimal(self.delta) / len(self.orders)
            return raised(decimal(total) - share.ln() / decimal(Fraction(alpha) - 1))
