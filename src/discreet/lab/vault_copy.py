"""Vaulted: a real vault in front of a copy, marked as such, in a folder of its own and outside any other ledger."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from discreet.account.budgets.budget import Budget
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.account.numeric.checks import Number, positive
from discreet.core.schema import between
from discreet.core.unit import row
from discreet.curator.curator import Curator
from discreet.curator.session import Session
from discreet.lab.defence import Answers, Groups, Target
from discreet.lab.table_copy import Bits
from discreet.plan.aggregates import sum as sum_of

TABLE = "attacked_copy"


@dataclass(frozen=True, slots=True)
class Vaulted:
    """A vault whose account holds `total`, asked question by question until it refuses.

    Guarantee: pure `total` under add_remove of one row, over all answers; see the ledger.
    """

    total: Number
    each: Number | None = None  # by default the budget is divided over the planned questions

    def __post_init__(self) -> None:
        positive("epsilon", self.total)

    @property
    def name(self) -> str:
        """The promise, in words."""
        return f"a Discreet vault, epsilon {float(self.total):g} in all"

    @property
    def epsilon(self) -> float:
        """The promise about one row."""
        return float(self.total)

    def protect(self, values: Bits, questions: int, most: int = 1) -> Target:
        """Make the vault, register the copy in it, and open a session."""
        return _Target(values, most, self.total, self.each or positive("epsilon", self.total) / questions)


@dataclass(slots=True, weakref_slot=True)
class _Target:
    values: Bits
    most: int
    total: Number
    each: Number
    session: Session = field(init=False)

    def __post_init__(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="discreet-attacked-copy-")
        curator = Curator(Path(folder.name) / "attacked-copy.discreet")
        rows = len(self.values)
        curator.register(
            TABLE,
            {"row": list(range(rows)), "value": self.values.tolist()},
            unit=row(),
            columns={"row": between(0, max(1, rows - 1)), "value": between(0, self.most)},
            budget=Budget(epsilon=self.total),
        )
        token = curator.grant("attacker", TABLE, budget=Budget(epsilon=self.total))
        self.session = curator.session(token)
        finalize(self, _gone, curator, folder)

    def sums(self, groups: Groups) -> Answers:
        """Ask for each group in turn; once the account is spent, nothing is answered any more."""
        return np.array([self._sum(members) for members in groups], np.float64)

    def _sum(self, members: NDArray[np.bool_]) -> float:
        table = self.session.table(TABLE)
        # Few rows are named, and of many those that are left out: a question stays short.
        most = 2 * int(members.sum()) > len(members)
        named = table["row"].is_in(np.flatnonzero(members != most).tolist() or [-1])
        asked = table.where(~named if most else named).agg(sum=sum_of("value"))
        try:
            value = asked.release(epsilon=self.each, fresh=True).column("sum").cells[0].value
        except BudgetExceeded:
            return float("nan")
        assert isinstance(value, int | float)
        return float(value)


def _gone(curator: Curator, folder: tempfile.TemporaryDirectory[str]) -> None:
    curator.close()
    folder.cleanup()
