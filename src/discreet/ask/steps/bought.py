"""Bought numbers: what a question in SQL compares with, paid for first, and a constant of the question from then on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from textwrap import shorten
from typing import TYPE_CHECKING

from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.ask.remaining import limit_words
from discreet.core.errors import BadParameter, Refusal
from discreet.core.value import dataclass, replace
from discreet.ledger.refusals import LimitExceeded
from discreet.plan.sql.scalars import settled_number

if TYPE_CHECKING:
    from discreet.account.budgets.price import Price
    from discreet.answers.answer import Answer
    from discreet.ask.preview import Preview
    from discreet.ask.priced import PricedQuestion

# Of the price, what all numbers that are bought first cost together.
SHARE = Fraction(1, 4)


@dataclass(frozen=True, slots=True)
class Bought:
    """A number that was bought: its subquery as it is written, its price, its answer, and the constant that it became.

    Guarantee: the constant is computed from the answer alone, so that a question about it is one about a public number.
    """

    written: str
    price: Price
    answer: Answer
    value: Fraction

    @classmethod
    def of(cls, written: str, price: Price, answer: Answer) -> Bought:
        """Return the constant that an answer becomes: its value, or the middle of its interval where it has none."""
        found = answer.cell()
        value, low, high = (_number(each) for each in (found.value, found.low, found.high))
        if value is None and low is not None and high is not None:
            value = (low + high) / 2
        if value is None:
            why = "its answer is withheld or has no end, so that there is nothing to compare with"
            raise BadParameter("subquery", written, why=why, fix="ask for it by itself, at a higher price")
        return cls(written, price, answer, settled_number(value))

    @property
    def words(self) -> str:
        """Say what was bought and for how much, and that the intervals take it as it is."""
        from discreet.answers.answer import NOT_HELD
        from discreet.answers.column import figure

        found = self.answer.cell()
        low, high = (_number(each) for each in (found.low, found.high))
        ends = "" if low is None or high is None else f" ({figure(float(low))} to {figure(float(high))})"
        written = shorten(self.written, 200, placeholder="...")
        return f"{NOT_HELD}how far off {written} is, bought first, for {self.price}: {figure(float(self.value))}{ends}"


def _number(value: object) -> Fraction | None:
    """Return a finite number exactly."""
    return Fraction(value) if isinstance(value, int | float) and math.isfinite(value) else None


def divided(price: Price, numbers: int) -> tuple[Price, Price]:
    """Return the price of a question and of each of the numbers that it compares with; these cost no delta.

    Guarantee: together they cost no more than the price.
    """
    if not numbers:
        return price, price
    return price.share(1 - SHARE), replace(price.share(SHARE / numbers), delta=Fraction(0))


def check_room(first: Sequence[PricedQuestion], rest: PricedQuestion) -> None:
    """Refuse a question that does not fit as a whole, before a number is paid for; what was answered costs nothing.

    Where the vault is behind a server, each part is checked there by itself.
    """
    query, losses = rest.report.query, [each.loss for each in (*first, rest)]
    try:
        desk = query.desk.access
    except Refusal:
        return
    for standing in desk.standings(query.accounts):
        try:
            standing.filter.admit(sum(losses[1:], losses[0]))
        except BudgetExceeded as refusal:
            raise LimitExceeded(refusal, limit=limit_words(standing), account=standing.account) from None


def with_bought(answer: Answer, bought: Sequence[Bought], price: Price) -> Answer:
    """Return an answer that says what was bought for it, and whose loss and price are those of all parts together."""
    if not bought:
        return answer
    loss = answer.loss
    for each in bought:
        loss = each.answer.loss if loss is None else loss if each.answer.loss is None else loss + each.answer.loss
    asked = {name: value for name, value in price.record().items() if value not in (None, "0")}
    return replace(answer, loss=loss, asked=asked, notes=(*answer.notes, *(each.words for each in bought)))


def previewed_together(first: Sequence[tuple[str, Preview]], found: Preview, price: Price) -> Preview:
    """Return the preview of a question with those of the numbers that are bought first, each under its subquery."""
    from discreet.ask.preview import remaining_after

    parts = [*(part for _, part in first), found]
    lines = [
        replace(line, column=shorten(written, 60, placeholder="...")) for written, part in first for line in part.lines
    ]
    asked = [part.asked for part in parts if part.asked is not None and not part.answered]
    losses = [each.loss for each in asked]
    left = remaining_after(asked[-1].report.query, sum(losses[1:], losses[0])) if asked else []
    many = "a number" if len(first) == 1 else f"{len(first)} numbers"
    note = f"{many} that it compares with {'is' if len(first) == 1 else 'are'} bought first, for a quarter of the price"
    return replace(
        found,
        lines=(*lines, *found.lines),
        price=str(price),
        remaining=tuple(left),
        notes=(note, *found.notes),
        sql=tuple(text for part in parts for text in part.sql),
        answered=all(part.answered for part in parts),
        failed=any(part.failed for part in parts),
    )
