"""Averaging against a vault: answers that were given are given again, and the ledger stops the others."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.account.budgets.budget import Budget
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.account.numeric.checks import Number, positive, whole
from discreet.ask.query import Query
from discreet.core.schema import between
from discreet.core.unit import row
from discreet.curator.curator import Curator
from discreet.lab.attacks.averaging.majority import majority
from discreet.lab.defence import ceiling
from discreet.lab.outcome import ComputedShare, Outcome
from discreet.lab.picture import Bars
from discreet.lab.table_copy import TableCopy
from discreet.plan.aggregates import sum as sum_of

_TABLE = "attacked_copy"


@dataclass(frozen=True, slots=True)
class Ledgered:
    """What a vault did when the same question was asked again: plainly, and then for fresh noise until it refused.

    `replayed` answers were the first one again, at no cost, and `distinct` values were seen among them; `fresh` more
    were drawn and paid for before the ledger refused `refused` of them.
    """

    each: float
    total: float
    replayed: int
    distinct: int
    fresh: int
    refused: int
    spent: float

    @property
    def answers(self) -> int:
        """How many answers tell anything new."""
        return 1 + self.fresh

    @property
    def success(self) -> float:
        """How often the majority of the answers that were drawn tells whether a person is there (computed)."""
        return majority(self.each, self.answers)

    @property
    def outcome(self) -> Outcome:
        """The attack on the vault, in a sentence and a picture."""
        return Outcome(
            attack="averaging",
            target=f"a Discreet vault, epsilon {self.total:g} in all",
            evidence=ComputedShare(self.success, "the best guesses of a person from all answers together are right"),
            chance=0.5,
            told=f"Asked {self.replayed + 1} times, the vault drew one answer and gave it again for free "
            f"({self.distinct} distinct value); asked for fresh noise it gave {self.fresh} more answers, then refused: "
            f"epsilon {self.spent:g} of {self.total:g} was spent.",
            ceiling=ceiling(self.total),
            figures={
                "replayed": self.replayed,
                "distinct": self.distinct,
                "fresh": self.fresh,
                "refused": self.refused,
                "spent": self.spent,
            },
            picture=Bars(
                title=f"The same count, asked of a vault again: epsilon {self.spent:g} of {self.total:g} spent",
                names=("drawn and paid for", "replayed, free", "refused by the ledger"),
                values=(self.answers, self.replayed, self.refused),
                label="answers",
                kinds=("plain", "good", "good"),
            ),
        )


def ledgered(
    copied: TableCopy,
    secret: str,
    epsilon: Number = Fraction(1, 10),
    total: Number = Fraction(1),
    *,
    value: object = None,
    times: int = 10,
    tries: int = 3,
) -> Ledgered:
    """Put the copy into a vault of its own and ask for one count again and again.

    First `times` times as anyone would, which replays; then with `fresh=True`, which pays, until the account is spent
    and `tries` more questions are refused.

    Guarantee: the vault's: pure `total` under add_remove of one row, whatever is asked.
    """
    bits = copied.people().bits(secret, value)
    budget = Budget(epsilon=positive("total", total))
    with tempfile.TemporaryDirectory(prefix="discreet-attacked-copy-") as folder:
        curator = Curator(Path(folder) / "attacked-copy.discreet")
        with closing(curator):
            columns = {"value": between(0, 1)}
            curator.register(_TABLE, {"value": bits.tolist()}, unit=row(), columns=columns, budget=budget)
            table = curator.session(curator.grant("attacker", _TABLE, budget=budget)).table(_TABLE)
            again = whole("times", times)
            plain = [_asked(table, epsilon, fresh=False) for _ in range(again + 1)]
            fresh = refused = 0
            while refused < whole("tries", tries):
                answered = _asked(table, epsilon, fresh=True) is not None
                fresh, refused = fresh + answered, refused + (not answered)
            spent = float(curator.ledger.spent(curator.table(_TABLE).account).loss)
    return Ledgered(float(epsilon), float(total), again, len(set(plain)), fresh, refused, spent)


def _asked(table: Query, epsilon: Number, *, fresh: bool) -> float | None:
    try:
        answer = table.agg(sum=sum_of("value")).release(epsilon=epsilon, fresh=fresh)
    except BudgetExceeded:
        return None
    value = answer.column("sum").cells[0].value
    assert isinstance(value, int | float)  # a sum of a declared column is a number
    return float(value)
