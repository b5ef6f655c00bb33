"""Caps: the most that one analyst may spend of an account, over all their grants together.

A cap belongs to the analyst and not to a token: an analyst with three grants has one cap; it remains when all of them
have ended, until it is changed in so many words. A cap that is changed counts everything the analyst was ever charged,
in its own currency.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import takewhile
from typing import Any, Literal, get_args

from discreet.account.budgets.budget import Budget
from discreet.account.budgets.cost import Amount, Uncountable
from discreet.account.budgets.filter import ApproxFilter, PrivacyFilter, PureFilter, ZcdpFilter
from discreet.account.budgets.union import UnionFilter
from discreet.account.losses.loss import PrivacyLoss
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.value import dataclass
from discreet.ledger import limit
from discreet.ledger.entry import Entry
from discreet.ledger.refusals import Conflict, Tampered
from discreet.ledger.store import AnalystTally, Limit, Permit, Transaction
from discreet.ledger.window import charges, holds

# Characters that show nothing though Unicode calls them letters, marks or symbols: its Default_Ignorable_Code_Point
# beyond the categories below, and the empty pattern of Braille.
_INVISIBLE = (
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0xFE00, 0xFE10),
    *range(0xE0000, 0xE1000),
)
_UNSEEN = frozenset(map(chr, _INVISIBLE))
# Controls, formats, halves of characters, private and unassigned ones.
_OTHER = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lo"})
# By the first word of a letter's name in Unicode. Those of East Asia are written together, and with Latin ones.
_EAST = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "YI", "VERTICAL"})


def folded(name: str) -> str:
    """Return what is left of a name without case, kinds of blanks, and what nobody sees."""
    seen = "".join(each for each in unicodedata.normalize("NFKC", name) if not _is_unseen(each))
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())


def check_visible(analyst: str) -> None:
    """Refuse a name with a character that nobody sees, or one that depends on nothing: it would pass for another's."""
    if any(map(_is_unseen, analyst)):
        why = "it has a character that nobody sees, so that it would pass for another name"
        raise BadParameter("analyst", ascii(analyst)[1:-1], why=why, fix="type the name with visible characters only")
    if unicodedata.category(analyst[0]).startswith("M"):
        why = "it begins with a mark that belongs to the letter before it"
        raise BadParameter("analyst", ascii(analyst)[1:-1], why=why, fix="begin the name with a letter or a digit")


def check_script(analyst: str) -> None:
    """Refuse a name that mixes letters of scripts which look alike: it would pass for another's."""
    letters = [each for each in unicodedata.normalize("NFKC", analyst) if unicodedata.category(each) in _LETTERS]
    scripts = {unicodedata.name(each, "").partition(" ")[0] for each in letters}
    if len(scripts - _EAST) > 1 or (scripts & _EAST and scripts - _EAST - {"LATIN"}):
        found = " and ".join(sorted(script.capitalize() for script in scripts))
        why = (
            f"it mixes letters of different scripts, {found}, which look alike, so that it would pass for another name"
        )
        raise BadParameter("analyst", ascii(analyst)[1:-1], why=why, fix="type the name in one script")


def _is_unseen(character: str) -> bool:
    return character in _UNSEEN or unicodedata.category(character) in _OTHER


Existing = Literal["replace", "add", "end"]
Budgets = Mapping[str, Budget | None]


@dataclass(frozen=True, slots=True)
class Caps:
    """What a new grant does to the caps of its analyst, at a moment of the ledger.

    Guarantee: whatever an analyst is charged after a cap was set is, together with all that they were charged before,
    within the cap; a cap stays as it is, whatever becomes of grants, unless `existing` says what is to change.
    """

    transaction: Transaction
    analyst: str
    existing: Existing | None
    at: str

    def records(self, budgets: Budgets, period: str) -> dict[str, Any]:
        """Return the filter that each account's cap becomes, None for one that ends; others stay as they are."""
        found = {account: self._changed(account, budget, period) for account, budget in sorted(budgets.items())}
        return {account: change for account, (changes, change) in found.items() if changes}

    def _changed(self, account: str, budget: Budget | None, period: str) -> tuple[bool, dict[str, Any] | None]:
        ours = limit.account_filter(self.transaction, account)
        there = self.transaction.get(Limit, account, self.analyst, period)
        if budget is None:
            return there is not None and self.existing == "end", None
        if self.existing == "add":
            budget = self._topped_up(account, there, budget)
        elif there is not None and self.existing is None:
            raise self._ambiguous(account, there, period)
        new = limit.new_limit(account, self.analyst, period, filter_like(ours, budget), self.at, 0)
        return True, limit.filter_record(recounted(new, self.transaction, self.transaction.entries()))

    def _topped_up(self, account: str, there: Limit | None, budget: Budget) -> Budget:
        if there is None:
            why = f"{self.analyst} has no cap on {account!r} that it could be added to"
            raise BadParameter("existing", "add", why=why, fix="leave it out")
        return _sum(budget_of_filter(limit.filter_in(there)), budget)

    def _ambiguous(self, account: str, there: Limit, period: str) -> Conflict:
        amount = _words(budget_of_filter(limit.filter_in(there)))
        span = f" a {period}" if period else ""
        why = f"there is a cap of {amount}{span} already, which holds over all grants of one analyst, ended ones too"
        fix = "say what the new amount means: existing='replace' or existing='add'; or leave it out to keep the cap"
        return Conflict(f"a second cap for {self.analyst!r} on {account!r}", why=why, fix=fix, value=self.analyst)


def recounted(new: Limit, rows: Transaction, entries: Iterable[Entry]) -> PrivacyFilter:
    """Return the filter of a new cap with everything its analyst was charged; of a window, in its period.

    A cap below what was spent is full; of several sums, those below what was spent have ended. One that cannot count
    what was spent is refused.
    """
    return limit.filter_in(new).holding(_charged(new, rows, entries))


def _charged(new: Limit, rows: Transaction, entries: Iterable[Entry]) -> Amount:
    """Return what the analyst of a new cap was charged before, as its filter counts."""
    filter_, there = limit.filter_in(new), rows.get(Limit, new.account, new.analyst, new.period)
    spent = filter_.nothing
    if rows.get(AnalystTally, new.account, new.analyst) is None:
        return spent
    label = max(new.label, there.label if there else "")
    for each in charges(entries, new.account, new.analyst):
        if each.at[: len(label)] >= label:
            spent += _cost(filter_, each.loss, new)
    return spent


def check_recount(live: Transaction, derived: Transaction, entry: Entry) -> None:
    """Refuse a grant whose caps forget what its analyst had spent; `derived` has what follows up to its entry."""
    body = entry.record()
    for period, filters in (("", body["caps"]), ("month", body["monthly"])):
        for account, record in filters.items():
            if record is None or derived.get(AnalystTally, account, body["analyst"]) is None:
                continue
            stored = limit.filter_of(record)
            new = limit.new_limit(account, body["analyst"], period, stored.renewed(), body["at"], 0)
            earlier = takewhile(lambda each: each.sequence < entry.sequence, live.entries())
            if not holds(stored, _charged(new, derived, earlier)):
                raise Tampered("a cap", why="it forgets what its analyst had spent before")


def check_analyst(analyst: str, permits: Iterable[Permit]) -> None:
    """Refuse a name that differs from a known analyst's by nothing that one sees: one person would have two caps."""
    check_visible(analyst)
    check_script(analyst)
    for permit in permits:
        if permit.analyst != analyst and folded(permit.analyst) == folded(analyst):
            why = f"there is an analyst {permit.analyst!r}, and one analyst has one cap"
            raise BadParameter("analyst", analyst, why=why, fix=f"write {permit.analyst!r}, or another name")


def check_existing(value: object, *budgets: Budgets | None) -> Existing | None:
    """Return what a grant does to the caps there are, or refuse whatever says nothing about it."""
    given = any(budget is not None for each in budgets for budget in (each or {}).values())
    match value:
        case None | "end":
            return value
        case "replace" | "add" if given:
            return value
        case "replace" | "add":
            why = "there is no amount that could take a cap's place, or be added to one"
            raise BadParameter("existing", value, why=why, fix="give an amount, or end the caps with existing='end'")
    why = "an amount replaces a cap or is added to it, or the caps end"
    raise BadParameter("existing", value, why=why, fix=f"use one of {', '.join(get_args(Existing))}")


def filter_like(ours: PrivacyFilter, budget: Budget) -> PrivacyFilter:
    """Return the filter of a cap or a window: of the account's relation, and of its kind where it is an older one.

    An account that was made with one Renyi order keeps it, and what restricts it counts as it does.
    """
    made = budget.filter(relation=ours.relation)
    if isinstance(ours, ApproxFilter) and isinstance(made, UnionFilter):
        return ApproxFilter(made.epsilon, made.delta, relation=ours.relation)
    return made


def same_budget(one: PrivacyFilter, two: PrivacyFilter) -> bool:
    """Whether two filters make the same promise, however they count."""
    return (one.relation, budget_of_filter(one)) == (two.relation, budget_of_filter(two))


def budget_of_filter(filter_: PrivacyFilter) -> Budget:
    """Return the budget that a filter enforces."""
    match filter_:
        case PureFilter():
            return Budget(epsilon=Fraction(filter_.epsilon))
        case ApproxFilter() | UnionFilter():
            return Budget(epsilon=Fraction(filter_.epsilon), delta=Fraction(filter_.delta))
        case ZcdpFilter():
            delta = Fraction(filter_.delta)
            return Budget(rho=Fraction(filter_.rho), delta=delta) if delta else Budget(rho=Fraction(filter_.rho))
    raise UnknownName("filter", type(filter_).__name__, ("ApproxFilter", "PureFilter", "UnionFilter", "ZcdpFilter"))


def _cost(filter_: PrivacyFilter, loss: PrivacyLoss, new: Limit) -> Amount:
    try:
        return filter_.cost(loss)
    except Uncountable:
        why = f"past questions of {new.analyst} cannot be counted in {filter_.figures.currency}"
        fix = f"cap it in the currency of the account {new.account!r}"
        raise Conflict(f"a cap for {new.analyst!r} on {new.account!r}", why=why, fix=fix, value=new.analyst) from None


def _sum(old: Budget, new: Budget) -> Budget:
    kinds = [{name for name in ("epsilon", "delta", "rho") if getattr(each, name) is not None} for each in (old, new)]
    if kinds[0] != kinds[1]:
        why = f"the cap in force is {_words(old)}, and amounts of different kinds do not add up"
        raise BadParameter("budget", new, why=why, fix="add an amount of the same kind, or use existing='replace'")
    return Budget(**{name: _exact(old, name) + _exact(new, name) for name in kinds[0]})


def _exact(budget: Budget, name: str) -> Fraction:
    filter_ = budget.filter()
    return Fraction(getattr(filter_, name))


def _words(budget: Budget) -> str:
    named = (name for name in ("epsilon", "delta", "rho") if getattr(budget, name) is not None)
    return ", ".join(f"{name}={getattr(budget, name)}" for name in named)
