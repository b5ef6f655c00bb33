"""Standings: how much of each limit is spent now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from discreet.account.budgets.filter import PrivacyFilter

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
