"""Alerts: entries that say that what is left of a limit has fallen below a share; computed from charges alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any

from discreet.account.budgets.filter import PrivacyFilter
from discreet.core import record as records
from discreet.core.log import logger
from discreet.core.value import dataclass
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.entry import Entry
from discreet.ledger.limit import LimitStep
from discreet.ledger.oversight.charge_policy import ChargePolicy, document_body
from discreet.ledger.store import Transaction

KIND = "alert"
_FIELDS = ("account", "analyst", "window", "below", "charge")


@dataclass(frozen=True, slots=True)
class BudgetAlert:
    """A charge after which less than a share of a limit was left: of an account, an analyst's cap, or a window.

    `analyst` and `window` are empty where the limit is shared, and for life.
    """

    at: str
    account: str
    analyst: str
    window: str
    below: Fraction
    charge: int

    @property
    def limit(self) -> str:
        """Which limit, in words."""
        whose = f"{self.analyst} on {self.account}" if self.analyst else self.account
        return f"{whose}, {self.window}" if self.window else whose

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {**{name: getattr(self, name) for name in _FIELDS}, "below": str(self.below)}


def left(filter_: PrivacyFilter) -> Fraction:
    """Return which share of a limit is left: of its fullest sum, or of its delta where there is less of that."""
    figures = filter_.figures
    delta = figures.budget.delta
    return min(figures.left, figures.remaining.delta / delta) if delta else figures.left


def raise_alerts(
    transaction: Transaction, policy: ChargePolicy, steps: Sequence[LimitStep], charge: int, now: datetime
) -> None:
    """Enter an alert for each limit that a charge took below a share of the policy; once for the lowest of them."""
    for step in steps:
        before, after = left(step.before), left(step.after)
        fallen = [share for share in policy.alerts if after < share <= before]
        if not fallen:
            continue
        limit = step.limit
        alert = BudgetAlert("", limit.account, limit.analyst, limit.label, min(fallen), charge)
        name = " ".join(filter(None, (limit.account, limit.analyst, limit.label, f"below {alert.below}")))
        enter(transaction, "document", document_body(transaction, KIND, name, alert.record(), written(now)))
        logger.warning("less is left of a budget than the share at which its custodian wants to be told")


def alerts_in(entries: Sequence[Entry]) -> list[BudgetAlert]:
    """Return the alerts among entries, the oldest first."""
    found = []
    for entry in entries:
        body = entry.record() if entry.kind == "document" else {}
        if body.get("kind") == KIND:
            told = records.fields(KIND, body["record"], _FIELDS)
            found.append(BudgetAlert(body["at"], **{**told, "below": Fraction(told["below"])}))
    return found
