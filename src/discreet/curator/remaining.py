"""Remaining: what an analyst may still spend, limit by limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.account.exceeded import rounded_down
from discreet.curator.words import limit_words

if TYPE_CHECKING:
    from discreet.ledger.standing import Standing


@dataclass(frozen=True, slots=True, repr=False)
class Remaining:
    """The limits that questions of a session have to pass, as they stand; a question has to fit all of them."""

    standings: tuple[Standing, ...]

    def __iter__(self) -> Iterator[Standing]:
        return iter(self.standings)

    def __len__(self) -> int:
        return len(self.standings)

    def __getitem__(self, place: int) -> Standing:
        return self.standings[place]

    def __str__(self) -> str:
        return "\n".join(_line(standing) for standing in self.standings)

    __repr__ = __str__


def _line(standing: Standing) -> str:
    left, budget = standing.filter.remaining, standing.filter.budget
    share = float(100 * left.loss / budget.loss)
    text = f"{limit_words(standing)}: {share:.1f}% left ({rounded_down(left.loss)} of {rounded_down(budget.loss)}"
    delta = f", delta {rounded_down(left.delta)} of {rounded_down(budget.delta)}" if budget.delta else ""
    return f"{text} {standing.filter.currency}{delta})"
