"""Forfeits: what a vault spends that has lost entries, so that nothing of it is spent a second time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from discreet.account.budgets.filter import PrivacyFilter
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.ledger import debit, limit
from discreet.ledger.clock import written
from discreet.ledger.derivation import enter
from discreet.ledger.entry import Head
from discreet.ledger.integrity import freeze
from discreet.ledger.lease import Lease
from discreet.ledger.refusals import Conflict
from discreet.ledger.store import Attempt, Check, Debit, Limit, Transaction

if TYPE_CHECKING:
    from discreet.ledger.integrity.attestation import Attestation

# So many entries may be missing: more than any vault was seen to have.
MOST_LOST = 10_000_000


@dataclass(frozen=True, slots=True)
class Forfeited:
    """What was given up: the entry that says so, the last entry that is accounted for, and what each account kept.

    `left` has the currency and the exact amounts that remain, by account; `failed` counts questions that were waiting
    for their answers.
    """

    sequence: int
    upto: int
    left: Mapping[str, Mapping[str, str]]
    failed: int


def newest(transaction: Transaction, heads: Sequence[Head], shown: Sequence[Attestation]) -> Mapping[str, list[str]]:
    """Return what accounts had spent at the newest of the heads, by the attestations that were made there.

    An attestation that is older than a known head is refused: what it shows left may have been spent since.
    """
    last = max((head.sequence for head in heads), default=0)
    found: dict[str, list[str]] = {}
    for each in shown:
        if each.sequence < last:
            why = f"it is of entry {each.sequence}, and a head was signed at entry {last}: more may be spent since"
            fix = "show the newest receipt, or none, and everything is forfeited"
            raise Conflict("the receipt", why=why, fix=fix, value=each.sequence)
        found |= {name: [*amounts] for name, amounts in each.spent.items()}
    others = {each.place for each in shown}
    if len(others) > 1:
        why, fix = "they are of different heads, of which one alone is the newest", "show the newest receipt alone"
        raise Conflict("the receipts", why=why, fix=fix, value=sorted(each.sequence for each in others))
    known = {each.account for each in transaction.all(Limit)}
    return {name: amounts for name, amounts in found.items() if name in known}


def forfeit(
    transaction: Transaction, heads: Sequence[Head], spent: Mapping[str, list[str]], now: datetime
) -> Forfeited:
    """Spend everything but what was left at the newest head, settle what waits as failed, and pass the lost numbers.

    Guarantee: whatever the lost entries have charged to an account is, together with all that is charged from now on,
    within its budget, if `spent` is what they had spent in the end. Caps and windows, of which no head tells, are full.
    A head of a lost entry is never one of this chain, since its number is passed; and later heads are greater.
    """
    last = transaction.head().sequence
    upto = max((head.sequence for head in heads), default=last)
    if upto - last > MOST_LOST:
        raise BadParameter("head", upto, why="it is too far from the end of the vault", fix="show a newer copy of it")
    failed = sum(1 for each in [*transaction.all(Debit)] if each.settled is None and _fail(transaction, each, now))
    body: dict[str, Any] = {"upto": max(upto, last), "limits": [*_after(transaction, spent)], "at": written(now)}
    entry = enter(transaction, "forfeit", body)
    while transaction.head().sequence < upto:
        enter(transaction, "lost", {"at": written(now)})
    if (shown := transaction.get(Check, freeze.SHOWN)) is not None:
        transaction.delete(shown)
    accounts = [each for each in transaction.all(Limit) if not each.analyst and not each.period]
    left = {each.account: limit.remaining(limit.filter_in(each)) for each in accounts}
    return Forfeited(entry.sequence, body["upto"], left, failed)


def _fail(transaction: Transaction, waiting: Debit, now: datetime) -> bool:
    """Settle a question as failed: another copy of the vault may have drawn for it, and told the answer."""
    held, attempt = transaction.get(Lease, waiting.key), transaction.get(Attempt, waiting.key)
    for row in (held, attempt):
        if row is not None:
            transaction.delete(row)
    debit.settle(transaction, waiting, held.fence if held else 0, now, None)
    return True


def _after(transaction: Transaction, spent: Mapping[str, list[str]]) -> Iterator[list[Any]]:
    """Yield every limit with its filter after the forfeit."""
    for each in transaction.all(Limit):
        filter_ = limit.filter_in(each)
        attested = spent.get(each.account) if not each.analyst and not each.period else None
        after = _full(filter_) if attested is None else _spent(filter_, attested)
        yield [each.account, each.analyst, each.period, limit.filter_record(after)]


def _full(filter_: PrivacyFilter) -> PrivacyFilter:
    return filter_.holding(filter_.full.most(filter_.spent))


def _spent(filter_: PrivacyFilter, attested: Sequence[str]) -> PrivacyFilter:
    """Return a filter that has spent what was attested, and nowhere less than it has already."""
    try:
        loss, delta = attested
        amount = filter_.amount(loss, delta)
    except (TypeError, ValueError):  # also a refusal of what is no amount
        return _full(filter_)
    return filter_.holding(amount.most(filter_.spent))
