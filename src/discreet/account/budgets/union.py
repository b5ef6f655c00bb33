"""The union of filters: a budget of epsilon and delta that admits a question while one of several sums has room for it.

A transcript belongs to a sum that admitted all of it, so several sums cost the sum of their deltas, and the sum of pure
epsilon costs none: an account with a delta admits all that one without it would.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from discreet.account.budgets.conversion import best_order, gaussian_budget, renyi_budget
from discreet.account.budgets.cost import NOTHING, Amount, Cost, exact_amount, tidy
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.account.budgets.privacy_filter import Figures, PrivacyFilter, exceeded, offered_delta
from discreet.account.budgets.sums import FilterSum, GaussianSum, PureSum, RenyiSum
from discreet.account.numeric.checks import Number, failure, positive, positive_failure
from discreet.core.errors import BadParameter
from discreet.core.unit import Relation
from discreet.core.value import dataclass, replace

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss

# How a delta is split: what turns mu^2 into (epsilon, delta); the same at Renyi orders 1 + t, by multiples of the t
# that buys the most rho; and the pool for approximate parts.
GAUSSIAN = Fraction(3, 8)
ORDERS = {Fraction(1): Fraction(5, 16), Fraction(3, 2): Fraction(1, 32), Fraction(3): Fraction(1, 32)}
POOL = Fraction(1, 4)

_DEAD = "inf"


@dataclass(frozen=True, slots=True)
class UnionCost(Amount):
    """An amount of each sum of a union, None where it is infinite, and the delta of approximate parts."""

    losses: tuple[Fraction | None, ...]
    delta: Fraction = Fraction(0)

    @property
    def loss(self) -> Fraction:
        """The amount of the first sum that has not ended: pure epsilon, while all that was asked has one."""
        for each in self.losses:
            if each is not None:
                return each
        raise BadParameter("loss", _DEAD, why="all its sums have ended", fix="look at losses, one for each sum")

    def __add__(self, other: UnionCost) -> UnionCost:
        pairs = zip(self.losses, other.losses, strict=True)
        losses = tuple(None if one is None or two is None else one + two for one, two in pairs)
        return UnionCost(losses, self.delta + other.delta)

    def __sub__(self, other: UnionCost) -> UnionCost:
        """Return what leads from an earlier amount to this one; a sum that has ended meanwhile was infinite."""
        pairs = zip(self.losses, other.losses, strict=True)
        losses = tuple(None if one is None or two is None else one - two for one, two in pairs)
        return UnionCost(losses, self.delta - other.delta)

    def reaches(self, least: UnionCost, share: Fraction) -> bool:
        """Whether it is nowhere below that share of another amount."""
        pairs = zip(self.losses, least.losses, strict=True)
        losses = all(one is None or (two is not None and one >= two * share) for one, two in pairs)
        return losses and self.delta >= least.delta * share

    def most(self, other: UnionCost) -> UnionCost:
        """Return the larger of each amount."""
        pairs = zip(self.losses, other.losses, strict=True)
        losses = tuple(None if one is None or two is None else max(one, two) for one, two in pairs)
        return UnionCost(losses, max(self.delta, other.delta))

    def texts(self) -> tuple[str, str]:
        """Return the amounts of all sums, and the delta, as they are stored."""
        return " ".join(_DEAD if loss is None else str(tidy(loss)) for loss in self.losses), str(tidy(self.delta))


@dataclass(frozen=True, slots=True)
class UnionFilter(PrivacyFilter):
    """An (epsilon, delta) budget: every question is added to every sum, and admitted while one sum still holds.

    `sums` are fixed here permanently, each with the part of delta that it costs; `pool` is for the deltas of
    approximate parts, and belongs to all sums but the pure one together. A loss that a sum cannot count is infinite
    there. A sum that was exceeded has ended for good: infinite, and stored so.

    Guarantee: all that is admitted is together (epsilon, delta)-differentially private, however it was chosen. Proof.
    (1) Without approximate parts: amounts only grow, so a complete transcript v was admitted throughout by each sum j
    that holds at its end, and there is one; let v belong to the first. Along a transcript that belongs to j the
    union admits just what the filter of j alone admits of the same questions (what it refused, it refused with j), so v
    has the same probabilities as under that filter, which is (epsilon, delta_j)-private. For every weight w of
    transcripts with 0 <= w <= 1 the sum of w (P - e^epsilon Q) over those that belong to j is thus at most delta_j;
    over all, at most the sum of delta_j. (2) With them: step i has the laws (1 - d_i) P' + d_i P'' and
    (1 - d_i) Q' + d_i Q'', with d_i a function of the answers before it and P', Q' as close as its loss says. Those
    d_i > 0 are infinite for the pure sum and taken from one pool, without which no other sum holds, so they add up to
    at most the pool on every path, and some P'' is drawn with at most that probability. The rest is (1), with P', Q'
    and the weight w = prod (1 - d_i): P(S) <= e^epsilon Q(S) + pool + sum of delta_j <= e^epsilon Q(S) + delta.
    """

    epsilon: Number
    delta: Number
    pool: Number
    sums: tuple[FilterSum, ...]
    spent: UnionCost = field(default=NOTHING, kw_only=True)  # type: ignore[assignment]  # settled in _check

    @classmethod
    def of(cls, epsilon: Number, delta: Number, *, relation: Relation = "add_remove") -> Self:
        """Return the filter of a budget: delta split as this module says, without orders that would buy nothing."""
        exact, best = Fraction(delta), best_order(epsilon, ORDERS[Fraction(1)] * Fraction(delta))
        sums: list[FilterSum] = [PureSum(epsilon)]
        for times, share in ORDERS.items():
            alpha = 1 + (best - 1) * times
            if renyi_budget(epsilon, share * exact, alpha) > 0:
                sums.append(RenyiSum(epsilon, alpha, share * exact))
        sums.append(GaussianSum(epsilon, gaussian_budget(epsilon, GAUSSIAN * exact), GAUSSIAN * exact))
        return cls(epsilon, delta, POOL * exact, tuple(sums), relation=relation)

    def _check(self) -> None:
        positive("epsilon", self.epsilon)
        positive_failure("delta", self.delta)
        failure("pool", self.pool)
        parts = Fraction(self.pool) + sum((each.delta for each in self.sums), Fraction(0))
        if not self.sums or parts > Fraction(self.delta):
            why, fix = "the parts of delta add up to more than delta", "split it into parts that do not"
            raise BadParameter("sums", float(parts), why=why, fix=fix)
        if any(each.epsilon != self.epsilon for each in self.sums):
            why, fix = "a sum converts to another epsilon", "give all sums the epsilon of the budget"
            raise BadParameter("sums", self.sums, why=why, fix=fix)
        if not isinstance(self.spent, UnionCost):
            object.__setattr__(self, "spent", self.nothing)

    @property
    def nothing(self) -> UnionCost:
        """What a union has spent that is new."""
        return UnionCost((Fraction(0),) * len(self.sums))

    @property
    def full(self) -> UnionCost:
        """What a union has spent that admits nothing more: all its sums have ended."""
        return UnionCost((None,) * len(self.sums))

    @property
    def states(self) -> tuple[tuple[FilterSum, Figures | None], ...]:
        """Return all sums with their figures, None for those that have ended."""
        pairs = zip(self.sums, self.spent.losses, strict=True)
        return tuple((each, None if spent is None else self._figures(each, spent)) for each, spent in pairs)

    @property
    def figures(self) -> Figures:
        """What is told of the filter: the sum of which the greatest part is left, or the first where all have ended."""
        living = [found for _, found in self.states if found is not None]
        ended = self._figures(self.sums[0], self.sums[0].room)
        return max(living, key=lambda each: each.left, default=ended)

    def cost(self, loss: PrivacyLoss) -> UnionCost:
        """Return what a loss costs in each sum, and the delta of its approximate parts; one for none is refused."""
        losses = tuple(each.cost(loss) for each in self.sums)
        if all(each is None for each in losses):
            next((each for each in self.sums if each.pooled), self.sums[0]).counted(loss)
        delta = sum((count * Fraction(part.slack) for part, count in loss.parts), Fraction(0))
        return UnionCost(losses, tidy(delta))

    def amount(self, loss: str, delta: str) -> UnionCost:
        """Read an amount that was stored as `UnionCost.texts`."""
        texts = loss.split(" ") if isinstance(loss, str) else []
        if len(texts) != len(self.sums):
            why, fix = "it has not one amount for each sum", "pass the text that to_json returned, unchanged"
            raise BadParameter("loss", loss, why=why, fix=fix)
        losses = tuple(None if text == _DEAD else exact_amount("loss", text) for text in texts)
        return UnionCost(losses, exact_amount("delta", delta))

    def charged(self, cost: Amount) -> Self | None:
        """Return the filter after a cost, added to every sum; None where no sum holds then."""
        assert isinstance(cost, UnionCost)
        after = self.holding(self.spent + cost)
        return None if all(loss is None for loss in after.spent.losses) else after

    def holding(self, spent: Amount) -> Self:
        """Return the filter with all that was ever charged to it: what exceeds a sum ends it."""
        assert isinstance(spent, UnionCost)
        pool = Fraction(self.pool)
        short = spent.delta > pool
        losses = tuple(
            None if loss is None or loss > each.room or (short and each.pooled) else min(tidy(loss), each.room)
            for each, loss in zip(self.sums, spent.losses, strict=True)
        )
        return replace(self, spent=UnionCost(losses, tidy(spent.delta) if short else min(tidy(spent.delta), pool)))

    def more(self, loss: PrivacyLoss) -> int:
        """Return how many more questions of a loss would be admitted, one after the other: as many as some sum holds.

        Every sum counts them from what it holds now, so the one that holds the most of them admits them all.
        """
        return max((found.more(cost) for _, found, cost in self._living(self.cost(loss))), default=0)

    def _living(self, cost: UnionCost) -> list[tuple[FilterSum, Figures, Cost]]:
        """Return the sums that can still count a cost, with their figures."""
        states = zip(self.states, cost.losses, strict=True)
        return [
            (each, found, Cost(loss, cost.delta))
            for (each, found), loss in states
            if found is not None and loss is not None
        ]

    def _figures(self, each: FilterSum, spent: Fraction) -> Figures:
        delta, pool = (self.spent.delta, Fraction(self.pool)) if each.pooled else (Fraction(0), Fraction(0))
        return Figures(each.currency, each.theorem, Cost(spent, delta), Cost(each.room, pool))

    def takes(self, loss: PrivacyLoss) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return what a loss takes of each sum that can count it, and how much that sum holds in all."""
        pairs = zip(self.cost(loss).losses, self.sums, strict=True)
        return tuple((cost, each.room) for cost, each in pairs if cost is not None)

    def _refused(self, cost: Amount) -> BudgetExceeded:
        """Return the refusal in the terms of the sum that holds most of such losses, or of the pool that is short."""
        assert isinstance(cost, UnionCost)
        pairs = zip(self.sums, cost.losses, strict=True)
        able = [(each, Cost(one, cost.delta)) for each, one in pairs if one is not None]
        for each, found, one in self._living(cost):
            if one.loss <= found.remaining.loss:
                left, pool = found.remaining.delta, found.budget.delta
                return exceeded("delta", one.delta, left, pool, theorem=each.theorem, offer=offered_delta)
        living = self._living(cost) or [(each, self._figures(each, each.room), one) for each, one in able]
        each, found, one = max(living, key=lambda state: state[1].remaining.loss / (state[2].loss or 1))
        amounts = one.loss, found.remaining.loss, found.budget.loss
        return exceeded(each.currency, *amounts, theorem=each.theorem, offer=each.offer)

    def _parameters(self) -> dict[str, Any]:
        amounts = {name: str(Fraction(getattr(self, name))) for name in ("epsilon", "delta", "pool")}
        return amounts | {"sums": [each.record() for each in self.sums]}

    @classmethod
    def _read(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        known = {name: exact_amount(name, parameters[name]) for name in ("epsilon", "delta", "pool")}
        listed = parameters["sums"] if isinstance(parameters["sums"], list) else []
        return known | {"sums": tuple(FilterSum.of_record(known["epsilon"], each) for each in listed)}
