"""Accounts: which budget pays for a table, and that no source is ever paid from two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.account.budgets.budget import Budget
from discreet.ask.registered import Registered, budget_record, budget_text
from discreet.core.errors import BadParameter
from discreet.core.link import UNIQUE
from discreet.core.schema import Table
from discreet.curator.overlap import People
from discreet.curator.source_history import Past
from discreet.engines.source import Source, SourceMissing, same
from discreet.ledger.cap import budget_of_filter as budget_of_filter
from discreet.ledger.refusals import Conflict

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


Payer = Registered | Past
# The kind of the documents of public tables.
PUBLIC = "public"


def budgets_of(ledger: Ledger) -> dict[str, Budget]:
    """Return the lifetime budget of every account."""
    return {each.account: budget_of_filter(each.filter) for each in ledger.standing() if each.scope == "account"}


def payer(source: Source, tables: Iterable[Payer]) -> Payer | None:
    """Return a table that reaches the same rows as the source, or once did, if there is one."""
    return next((other for other in tables if _reaches(source, other)), None)


def _reaches(source: Source, other: Payer) -> bool:
    try:
        return same(source, other.source)
    except SourceMissing:
        if isinstance(other, Past):  # a database that was given up: nothing can be compared with it any more
            return False
        raise


def account_of(table: Table, source: Source | None, group: str | None, tables: Sequence[Payer]) -> str:
    """Return the account that pays for a new table: that of its source, of its group, or one of its own."""
    other = None if source is None else payer(source, tables)
    if other is not None:
        if group not in (None, other.account):
            why = f"its rows are those of {other.name!r}, which {other.account!r} pays for"
            raise BadParameter("group", group, why=why, fix=f"leave it out, or use group={other.account!r}")
        return other.account
    if group is None and any(each.account == table.name for each in tables):
        why = "a budget group of that name already pays for other tables"
        fix = f"use another name, or group={table.name!r} if the tables share people"
        raise BadParameter("name", table.name, why=why, fix=fix)
    return group or table.name


def check_source(before: Registered, source: Source, tables: Iterable[Payer]) -> None:
    """Refuse a new source for a table whose rows another account pays for."""
    other = payer(source, [each for each in tables if each.account != before.account])
    if other is not None:
        why = f"its rows are those of {other.name!r}, which {other.account!r} pays for and not {before.account!r}"
        fix = f"register it as a new table with group={other.account!r}"
        raise Conflict(f"the new source of {before.name!r}", why=why, fix=fix, value=source.path)


def check_account(account: str, table: Table, tables: Iterable[Registered], people: People | None) -> None:
    """Refuse a table whose neighbours are not those of the tables it would share an account with.

    Guarantee: all tables of an account protect the same unit: single rows, or people under one relation whom one
    identifier tells apart, by the same column name or by the custodian's word (`people="same"`), or a link to a table
    of the account (`curator.links`).
    """
    # The one whose identifier is the account's own first: those of others were declared to be the same. Linked tables
    # have no identifier, and their people are those of a table that has.
    shared = sorted((each for each in tables if each.account == account), key=lambda each: each.same)
    names = {(each.identifier or "").lower() for each in shared if each.table.unit.via is None}
    for other in shared:
        linked = table.unit.via is not None or other.table.unit.via is not None
        if not linked and (table.unit.identifier or "").lower() not in names:
            _check_unit(account, table, other, people)
        if other.table.unit.relation != table.unit.relation:
            relation = other.table.unit.relation
            why = (
                f"the budget of {account!r} is counted under {relation!r}, the relation of {other.name!r},"
                " and losses under two relations do not add up"
            )
            fix = f"declare the unit with relation={relation!r}, or use another group"
            raise BadParameter("relation", table.unit.relation, why=why, fix=fix)


def _check_unit(account: str, table: Table, other: Registered, people: People | None) -> None:
    identifier, theirs = table.unit.identifier, other.identifier
    if identifier and theirs and people == "same":
        return
    whom = "single rows" if theirs is None else f"people, identified by {theirs!r}"
    why = f"the budget of {account!r} is counted for {whom}, as {other.name!r} has it"
    fix = "use unit=row()" if theirs is None else f"use unit=person({theirs!r}, max_rows=20)"
    if identifier is None:
        why = f"{why}, and a person with many rows would lose many times that"
    elif theirs is not None:
        fix = f"{fix}, or people='same' if {identifier!r} has the same identifiers under another name"
    raise BadParameter("unit", identifier or "row", why=why, fix=fix)


def check_shared(
    other: Payer | None, budget: Budget | None, people: People | None, known: Mapping[str, Budget]
) -> None:
    """Refuse another budget, and other people, for a table that reads what another one reads, or once read."""
    if other is None:
        return
    same_rows = f"it reads the same source as {other.name!r}"
    if people == "distinct":
        why = f"{same_rows}, and so its people are those of {other.account!r}"
        raise BadParameter("people", people, why=why, fix="leave people out")
    if budget is not None and budget_record(budget) != budget_record(known[other.account]):
        stored = budget_text(budget_record(known[other.account]))
        why = f"{same_rows}, which {other.account!r} pays for with {stored}: a permanent guarantee to people"
        fix = "leave the budget out or repeat it; to allow an analyst less, cap the grant"
        raise Conflict(f"budget {budget_text(budget_record(budget))}", why=why, fix=fix, value=budget)


def check_budget(account: str, budget: Budget | None, known: Mapping[str, Budget]) -> None:
    """Refuse a new account without a budget, and another budget for an old account."""
    if account not in known:
        if budget is None:
            why = "without a budget a table would reveal everything in the end"
            raise BadParameter(
                "budget", None, why=why, fix="set the privacy loss it may incur: budget=Budget(epsilon=1)"
            )
        return
    if budget is not None and budget_record(budget) != budget_record(known[account]):
        stored = budget_text(budget_record(known[account]))
        why = f"{account!r} was registered with {stored}, which is a permanent guarantee to people"
        fix = "leave the budget out or repeat it; to allow an analyst less, cap the grant"
        raise Conflict(f"budget {budget_text(budget_record(budget))}", why=why, fix=fix, value=budget)


def check_copy(registered: Registered, digest: str, known: Mapping[str, tuple[str, str]]) -> None:
    """Refuse rows that another account pays for already; `known` has, by its digest, whose rows they are or were.

    This looks at data, and so only a custodian ever sees it.
    """
    name = registered.name
    other, paying = known.get(digest, (name, registered.account))
    if paying != registered.account:
        why = f"they are those of {other!r}, which {paying!r} pays for; a second budget would double their loss"
        fix = f"register it with group={paying!r}"
        if registered.version > 1:  # a refresh: the table has its account permanently
            fix = f"keep {name!r} as it is and register these rows as another table with group={paying!r}"
        raise Conflict(f"the rows of {name!r}", why=why, fix=fix, value=name)


def check_people(table: Table, source: Source, tables: Iterable[Payer]) -> None:
    """Refuse rows that another table has, or had, and counts by other people, or one by one.

    Anyone who has many rows in a table that protects single ones loses as often there, and their account does not tell.
    """
    mine = table.unit.whom
    for other in tables:
        if other.whom != mine and _reaches(source, other):
            whom = "single rows" if other.whom is None else f"people, identified by {other.whom!r}"
            why = f"its rows are those of {other.name!r}, and the budget of {other.account!r} is counted for {whom}"
            fix = "use unit=row()" if other.whom is None else f"use unit=person({other.whom!r}, max_rows=20)"
            if (other.whom or "").endswith(UNIQUE):
                fix = "declare the same link: unit=person(via=link(...), max_rows=20)"
            raise BadParameter("unit", mine or "row", why=why, fix=fix)


def check_terms(before: Registered, table: Table, group: str | None) -> None:
    """Refuse to change who is protected or what it is paid from."""
    for part in ("identifier", "relation", "via"):
        old, new = getattr(before.table.unit, part), getattr(table.unit, part)
        if old != new:
            why = f"{before.name!r} was registered with {part}={old!r}, and what it answered was counted under that"
            fix = "keep it: a guarantee to people is permanent"
            raise Conflict(f"{part}={new!r}", why=why, fix=fix, value=new)
    if group is not None and group != before.account:
        why = f"{before.name!r} is paid from {before.account!r}, and what it spent cannot be moved"
        raise Conflict(f"group={group!r}", why=why, fix="leave the group out", value=group)


def check_not_public(ledger: Ledger, name: str, source: Source) -> None:
    """Refuse a private table by the name of a public one, or with its rows: who asks was shown these already."""
    for document in ledger.list(PUBLIC):
        if document.name == name:
            why = "a public table has that name"
            raise BadParameter("name", name, why=why, fix="use another name")
        if same(source, Source.from_record(document.record["source"])):
            why = f"its rows are those of {document.name!r}, which is registered as public"
            fix = "if they need protection, begin a new vault without the public table"
            raise Conflict(f"the source of {name!r}", why=why, fix=fix, value=name)
