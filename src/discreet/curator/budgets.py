"""Budgets as they stand: what a custodian sees, what an analyst sees, and what a grant amounts to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from discreet.account.budgets.budget import Budget
from discreet.ask.registered import Registered, budget_record
from discreet.curator.accounts import budget_of_filter
from discreet.ledger.refusals import Conflict

if TYPE_CHECKING:
    from discreet.ledger.grant import Grant
    from discreet.ledger.ledger import Ledger
from discreet.ledger.standing import Standing

Amounts = Mapping[str, str | None] | None
Caps = Mapping[str, tuple[Amounts, Amounts]]


def visible(ledger: Ledger, grant: Grant | None, tables: Iterable[Registered]) -> list[Standing]:
    """Return the limits that someone may see: all of them, or an analyst's own and those that everyone shares.

    Standings depend on what was asked, never on data.
    """
    standings = ledger.standing()
    if grant is None or grant.role == "custodian":
        return list(standings)
    paying = {table.account for table in tables if grant.covers(table.name)}
    return [each for each in standings if each.account in paying and each.analyst in (None, grant.analyst)]


def holds(
    ledger: Ledger,
    analyst: str,
    tables: Iterable[str],
    accounts: Iterable[str],
    budget: Budget | None,
    monthly: Budget | None,
) -> bool:
    """Whether the analyst has a grant to just these tables under these caps; another one is refused.

    Caps that are left out are as they are: an analyst keeps a cap until it is changed in so many words.
    """
    now = ledger.now()
    live = [grant for grant in ledger.grants() if grant.analyst == analyst and not grant.ended(now)]
    wanted = {account: (_amounts(budget), _amounts(monthly)) for account in accounts}
    for grant in live:
        if set(grant.tables) == set(tables) and _agree(wanted, _caps(ledger, analyst, wanted)):
            return True
    if live:
        why = "one exists for other tables or with other caps, and an issued token is not changed"
        raise Conflict(f"a grant for {analyst!r}", why=why, fix=f"run discreet revoke {analyst} first", value=analyst)
    return False


def _agree(wanted: Caps, found: Caps) -> bool:
    pairs = ((want, have) for account in wanted for want, have in zip(wanted[account], found[account], strict=True))
    return all(want in (None, have) for want, have in pairs)


def _caps(ledger: Ledger, analyst: str, accounts: Iterable[str]) -> Caps:
    found: dict[str, list[Amounts]] = {account: [None, None] for account in accounts}
    for each in ledger.standing(analyst=analyst):
        if each.account in found:
            found[each.account][each.scope == "window"] = _amounts(budget_of_filter(each.filter))
    return {account: (cap, window) for account, (cap, window) in found.items()}


def _amounts(budget: Budget | None) -> Amounts:
    return None if budget is None else budget_record(budget)
