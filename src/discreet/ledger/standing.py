"""Standings: how much of each limit is spent now."""

from __future__ import annotations

from typing import Literal

from discreet.account.budgets.filter import PrivacyFilter
from discreet.core.value import dataclass
from discreet.ledger import limit
from discreet.ledger.store import Limit

Scope = Literal["account", "grant", "window"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One limit: an account's for life, an analyst's cap over all grants, or a window of either, as it stands.

    `analyst` is None for what all analysts share; `window` is the current period, such as "2026-11".
    """

    scope: Scope
    account: str
    analyst: str | None
    filter: PrivacyFilter
    window: str | None = None

    @classmethod
    def of(cls, row: Limit, at: str) -> Standing:
        """Return a stored limit as it stands at a moment."""
        row, filter_ = limit.current(row, at)
        scope: Scope = "window" if row.period else "grant" if row.analyst else "account"
        return cls(scope, row.account, row.analyst or None, filter_, row.label or None)
