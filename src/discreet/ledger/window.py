"""Windows after a correction of the clock: counted again from the entries, with what each of them held before.

A window that met a time of the future forgot what was spent in the present one. When the time is set back, it counts
all that was charged since its present period began: what is dated later was charged by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import takewhile
from typing import Any

from discreet.account.budgets.cost import Amount, Uncountable
from discreet.account.budgets.filter import PrivacyFilter
from discreet.account.losses.loss import PrivacyLoss
from discreet.core.value import dataclass, replace
from discreet.ledger import limit
from discreet.ledger.charge import read_losses
from discreet.ledger.entry import Entry
from discreet.ledger.refusals import Tampered
from discreet.ledger.store import Limit, Transaction

# A later release may compute a cost with other last digits; less than this fraction is no sign of tampering.
LAST_DIGITS = 1 - Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class TimedCharge:
    """What a charge took from an account, when, and since which entry."""

    sequence: int
    at: str
    loss: PrivacyLoss


def charges(entries: Iterable[Entry], account: str, analyst: str) -> list[TimedCharge]:
    """Return the charges to an account, of one analyst or of all; none is dated after a correction that followed it."""
    found: list[TimedCharge] = []
    for entry in entries:
        if entry.kind == "clock":
            at = entry.record()["at"]
            found = [replace(each, at=min(each.at, at)) for each in found]
        elif entry.kind == "charge":
            body = entry.record()
            if account in body["losses"] and analyst in ("", body["analyst"]):
                loss = read_losses({account: body["losses"][account]})[account]
                found.append(TimedCharge(entry.sequence, body["at"], loss))
    return found


def corrected(rows: Transaction, entries: Sequence[Entry], at: str) -> list[list[Any]]:
    """Return account, analyst, period and filter of every window that is ahead of a moment, as it is counted then.

    Guarantee: what a window has spent is at least all that was charged to it since the period of that moment began.
    """
    return [
        [each.account, each.analyst, each.period, limit.filter_record(_recounted(each, entries, at))]
        for each in _ahead(rows, at)
    ]


def correct(transaction: Transaction, sequence: int, body: Mapping[str, Any]) -> None:
    """Put windows of the future back into the present, as the entry of a correction counts them."""
    found = {(account, analyst, period): record for account, analyst, period, record in body["windows"]}
    ahead = [*_ahead(transaction, body["at"])]
    if len(found) != len(body["windows"]) or {*found} != {(each.account, each.analyst, each.period) for each in ahead}:
        raise Tampered("a correction", why="it counts other windows than those that are ahead of it")
    for each in ahead:
        filter_ = limit.filter_of(found[each.account, each.analyst, each.period])
        if not limit.same_promise(each, filter_.renewed()):
            raise Tampered("a correction", why="it changes the budget of a window")
        label = body["at"][: limit.PERIODS[each.period]]
        transaction.put(replace(each, label=label, state=filter_.to_json(), sequence=sequence))


def check_correction(live: Transaction, derived: Transaction, entry: Entry) -> None:
    """Refuse a correction by which a window forgets what was spent; `derived` has what follows up to its entry."""
    body = entry.record()
    earlier = [*takewhile(lambda each: each.sequence < entry.sequence, live.entries())]
    stored = {tuple(key): limit.filter_of(record) for *key, record in body["windows"]}
    for *key, record in corrected(derived, earlier, body["at"]):
        if tuple(key) not in stored or not holds(stored[tuple(key)], limit.filter_of(record).spent):
            raise Tampered("a correction", why="a window forgets what was spent in it")


def _ahead(rows: Transaction, at: str) -> Iterator[Limit]:
    for each in [*rows.all(Limit)]:
        if each.label > at[: limit.PERIODS[each.period]]:
            yield each


def _recounted(there: Limit, entries: Sequence[Entry], at: str) -> PrivacyFilter:
    """Return the filter of a window with what was charged since its period began, and at least what it holds."""
    filter_, label = limit.filter_in(there), at[: limit.PERIODS[there.period]]
    since = 0 if there.analyst else max((each.sequence for each in entries if _makes(each, there)), default=0)
    spent = filter_.nothing
    for each in charges(entries, there.account, there.analyst):
        if each.sequence > since and each.at[: len(label)] >= label:
            spent += _cost(filter_, each.loss)
    return filter_.holding(spent.most(filter_.spent))


def _makes(entry: Entry, there: Limit) -> bool:
    """Whether an entry makes an account's window anew."""
    if entry.kind != "window":
        return False
    body = entry.record()
    return (body["account"], body["period"]) == (there.account, there.period)


def holds(stored: PrivacyFilter, charged: Amount) -> bool:
    """Whether a stored filter has spent what was charged before, but for last digits.

    A sum that has ended stays ended: one that what was charged exceeds, and that is stored as going on, is refused.
    """
    return stored.spent.reaches(stored.holding(charged).spent, LAST_DIGITS)


def _cost(filter_: PrivacyFilter, loss: PrivacyLoss) -> Amount:
    """Return what a charge takes; one from before a cap that could not count it fills it."""
    try:
        return filter_.cost(loss)
    except Uncountable:
        return filter_.full
