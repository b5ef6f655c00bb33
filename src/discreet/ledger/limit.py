"""Limits: every filter that a charge has to pass, taken together or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.account.budgets.cost import Amount
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.account.budgets.filter import PrivacyFilter
from discreet.account.losses.loss import PrivacyLoss
from discreet.core import record as records
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.value import dataclass, replace
from discreet.ledger.refusals import LimitExceeded, Tampered
from discreet.ledger.store import AnalystTally, Limit, Transaction

# How much of a moment written as 2026-11-15T... names the period it falls into; the empty period is for life.
PERIODS: Mapping[str, int] = {"": 0, "day": len("2026-11-15"), "month": len("2026-11"), "year": len("2026")}

# A later release may compute a cost with other last digits; less than this fraction is no sign of tampering.
_LAST_DIGITS = 1 - Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class LimitStep:
    """One limit, its filter before and after a charge, and what the charge took from it."""

    limit: Limit
    before: PrivacyFilter
    after: PrivacyFilter
    cost: Amount

    @classmethod
    def between(cls, limit: Limit, before: PrivacyFilter, after: PrivacyFilter) -> LimitStep:
        """Return the step from one filter to the next; its cost, added to what was spent, is exactly what is then."""
        return cls(limit, before, after, after.spent - before.spent)

    @property
    def for_life(self) -> bool:
        """Whether this is the account's own limit, which always enforces."""
        return not self.limit.analyst and not self.limit.period


def check_period(period: object) -> str:
    """Return the period of a window, or refuse whatever is not one."""
    if isinstance(period, str) and period and period in PERIODS:
        return period
    raise BadParameter("period", period, why="windows are of a day, a month or a year", fix="use 'month'")


def new_limit(account: str, analyst: str, period: str, filter_: PrivacyFilter, at: str, sequence: int) -> Limit:
    """Return the row of a new limit: an account's with nothing spent, or a cap with what the analyst has spent."""
    return Limit(account, analyst, period, at[: PERIODS[period]], filter_.to_json(), sequence)


def current(limit: Limit, at: str) -> tuple[Limit, PrivacyFilter]:
    """Return a limit and its filter at a moment: a window starts again with a later period, never with an earlier one.

    A clock that was set back thus stays in the newest period seen; windows only restrict, so this is safe.
    """
    filter_, label = _read(limit.state), at[: PERIODS[limit.period]]
    if label > limit.label:
        return replace(limit, label=label), filter_.renewed()
    return limit, filter_


def admit(transaction: Transaction, losses: Mapping[str, PrivacyLoss], analyst: str, at: str) -> list[LimitStep]:
    """Return the steps of a charge that every limit admits, or refuse for the tightest that does not.

    Guarantee: what all steps together spend is within every account's budget, however the losses were chosen.
    """
    steps, refusals = [], []
    for limit, before in _touched(transaction, losses, analyst, at):
        try:
            steps.append(LimitStep.between(limit, before, _admitted(limit, before, losses[limit.account])))
        except LimitExceeded as refusal:
            refusals.append(refusal)
    if refusals:
        # What would fit the tightest fits them all, where they count alike; an account comes before its caps.
        raise min(refusals, key=lambda each: (each.currency != refusals[0].currency, each.remaining))
    return steps


def repeat(
    transaction: Transaction, losses: Mapping[str, PrivacyLoss], analyst: str, at: str, costs: Sequence[Sequence[str]]
) -> list[LimitStep]:
    """Return the steps of a charge as it was recorded, refusing one that took less than its loss costs, or too much."""
    touched = list(_touched(transaction, losses, analyst, at))
    if len(touched) != len(costs):
        raise Tampered("a charge", why=f"{len(costs)} limits were charged, and {len(touched)} apply")
    steps = []
    for (limit, before), (loss, delta) in zip(touched, costs, strict=True):
        try:
            cost = before.amount(loss, delta)
        except BadParameter:
            raise Tampered("a charge", why=f"what {_name(limit)} was charged is no amount of its filter") from None
        if not cost.reaches(_cost(before.renewed(), losses[limit.account]), _LAST_DIGITS):
            raise Tampered("a charge", why=f"{_name(limit)} was charged less than the loss costs")
        after = before.charged(cost)
        if after is None:
            raise Tampered("a charge", why=f"{_name(limit)} does not cover it")
        steps.append(LimitStep(limit, before, after, cost))
    return steps


def spend(transaction: Transaction, sequence: int, steps: Sequence[LimitStep], analyst: str | None) -> None:
    """Store what the steps spend, and count it for the analyst."""
    for step in steps:
        transaction.put(replace(step.limit, state=_written(step.after), sequence=sequence))
        if analyst is not None and step.for_life:
            total = tally(transaction, step.limit.account, analyst, step.after) + step.cost
            transaction.put(AnalystTally(step.limit.account, analyst, *total.texts(), sequence))


def tally(transaction: Transaction, account: str, analyst: str, filter_: PrivacyFilter) -> Amount:
    """Return what an analyst has spent of an account, as its filter counts."""
    found = transaction.get(AnalystTally, account, analyst)
    return filter_.amount(found.loss, found.delta) if found else filter_.nothing


def account_filter(transaction: Transaction, account: str) -> PrivacyFilter:
    """Return the account's filter for life, or refuse an account that does not exist."""
    found = transaction.get(Limit, account, "", "")
    if found is None:
        known = [limit.account for limit in transaction.all(Limit) if not limit.analyst and not limit.period]
        raise UnknownName("account", account, known)
    return _read(found.state)


def same_promise(there: Limit, filter_: PrivacyFilter) -> bool:
    """Whether a limit makes the promise of a filter, whatever it has admitted since."""
    return _read(there.state).renewed() == filter_


def remaining(filter_: PrivacyFilter) -> dict[str, str]:
    """Return what a filter has left as plain texts: its currency and exact amounts; of several sums, the fullest's."""
    figures = filter_.figures
    left = figures.remaining
    return {"currency": figures.currency, "loss": str(left.loss), "delta": str(left.delta)}


def filter_in(there: Limit) -> PrivacyFilter:
    """Return the filter of a stored limit."""
    return _read(there.state)


def filter_record(filter_: PrivacyFilter) -> dict[str, Any]:
    """Return a filter as plain JSON values."""
    found: dict[str, Any] = json.loads(filter_.to_json())["filter"]
    return found


def filter_of(record: Mapping[str, Any]) -> PrivacyFilter:
    """Read what `filter_record` returned."""
    return PrivacyFilter.from_json(records.write("filter", record))


def _touched(
    transaction: Transaction, losses: Mapping[str, PrivacyLoss], analyst: str, at: str
) -> Iterator[tuple[Limit, PrivacyFilter]]:
    for account in losses:
        limits = transaction.limits(account, analyst)
        if not limits or limits[0].analyst or limits[0].period:
            account_filter(transaction, account)  # refuses the unknown account
        yield from (current(limit, at) for limit in limits)


def _admitted(limit: Limit, before: PrivacyFilter, loss: PrivacyLoss) -> PrivacyFilter:
    try:
        return before.admit(loss)
    except BudgetExceeded as refusal:
        raise LimitExceeded(refusal, limit=_name(limit), account=limit.account) from None


def _name(limit: Limit) -> str:
    """Say which limit, in words."""
    account = f"account {limit.account!r}"
    if limit.analyst:
        whose = f"{limit.analyst} on {account}"
        return f"the {limit.period} {limit.label} of {whose}" if limit.period else f"the cap of {whose}"
    return f"the {limit.period} {limit.label} of {account}" if limit.period else account


# Reading a filter checks it again, which takes longer than all else in a charge; a text always means the same filter.
_FILTERS: dict[str, PrivacyFilter] = {}
_MOST_FILTERS = 1024


def _read(text: str) -> PrivacyFilter:
    return _FILTERS.get(text) or _remembered(text, PrivacyFilter.from_json(text))


def _written(filter_: PrivacyFilter) -> str:
    text = filter_.to_json()
    _remembered(text, filter_)
    return text


def _remembered(text: str, filter_: PrivacyFilter) -> PrivacyFilter:
    if len(_FILTERS) >= _MOST_FILTERS:
        _FILTERS.clear()
    _FILTERS[text] = filter_
    return filter_


@lru_cache(maxsize=4096)
def _cost(filter_: PrivacyFilter, loss: PrivacyLoss) -> Amount:
    """Return what a loss costs at a filter that has spent nothing."""
    return filter_.cost(loss)
