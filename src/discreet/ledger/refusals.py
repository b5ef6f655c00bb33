"""Refusals of the ledger: vaults that cannot be used or trusted, access that is not given, limits that are reached."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.core.errors import Refusal


class NotAVault(Refusal):
    """A path that holds no vault, or one that this release cannot read."""


class Unavailable(Refusal):
    """A vault that cannot be written or read now: locked, read-only, full, closed."""


class Frozen(Unavailable):
    """A vault that is older than a head it was shown: it previews and replays, and charges nothing."""


class Tampered(Refusal):
    """A vault that is not what its ledger wrote; `sequence` is the first entry found wrong, where there is one."""

    def __init__(self, what: str, *, why: str, fix: str | None = None, sequence: int | None = None) -> None:
        super().__init__(
            what,
            why=why,
            fix=fix or "stop answering from this vault, restore the newest copy whose head you know, and verify that",
            value=sequence,
        )
        self.sequence = sequence


class AccessRefused(Refusal):
    """A token or a grant that does not open what was asked for."""


class Conflict(Refusal):
    """A change or a key that contradicts what the vault already holds."""


class LeaseLost(Refusal):
    """An answer that came too late: another run has taken the question over, and this answer is discarded."""


class QuestionFailed(Refusal):
    """A question that was charged and failed: its final answer, with the same text for every cause."""

    def __init__(self) -> None:
        super().__init__(
            "the question",
            why="it was charged and could not be answered; the cause might reveal a record, and is withheld",
            fix="a retry is charged again: ask with fresh=True, or start a new session of private multiplicative "
            "weights; if it fails again, the custodian should check source and engine",
        )


class LimitExceeded(BudgetExceeded):
    """A charge that one limit does not cover; `limit` says which, `account` whose.

    The amounts (`requested`, `remaining`, `difference`) are exact, and `fits` says what would be admitted; `offer` is a
    price at which the same question would be, by its currency, where one was looked for and found.
    """

    def __init__(self, refusal: BudgetExceeded, *, limit: str, account: str) -> None:
        Refusal.__init__(self, f"{limit}: {refusal.what}", why=refusal.why, fix=refusal.fix, value=refusal.value)
        self.currency = refusal.currency
        self.requested = refusal.requested
        self.remaining = refusal.remaining
        self.difference = refusal.difference
        self.budget = refusal.budget
        self.theorem = refusal.theorem
        self.fits = refusal.fits
        self.limit = limit
        self.account = account
        self.offer: Mapping[str, str] = {}

    def reword(self, what: str, *, why: str, fix: str, offer: Mapping[str, str]) -> None:
        """Say the same refusal in the words of whoever asked, who knows the question; its amounts stay."""
        self.args = (what,)
        self.what, self.why, self.fix, self.offer = what, why, fix, offer
