"""Remaining: what an analyst may still spend, in the terms it was declared in, and which price would still fit.

Under a filter of several sums no single epsilon is "left": what a question takes depends on its noise. What is exact is
the share that is left of the sum that has most, and how many more questions like the last one that is enough for.
All of it is a function of the limits and of the question; no data is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.account.budgets.exceeded import BudgetExceeded, rounded_down, rounded_up
from discreet.account.budgets.filter import ApproxFilter
from discreet.account.budgets.union import UnionFilter
from discreet.answers.answer import NOT_HELD
from discreet.core.errors import Refusal
from discreet.core.value import dataclass, replace
from discreet.plan.keys import MOST_KEYS

if TYPE_CHECKING:
    from discreet.account.budgets.price import Price
    from discreet.account.budgets.privacy_filter import Figures, PrivacyFilter
    from discreet.account.budgets.sums import FilterSum
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.ask.priced import PricedQuestion, Rows
    from discreet.ask.question import QueryBase
    from discreet.ledger.refusals import LimitExceeded
    from discreet.ledger.standing import Standing


def limit_words(standing: Standing) -> str:
    """Say which limit: the budget of visits, your cap, your month 2026-11."""
    of = f"of {standing.account}"
    if standing.scope == "account":
        return f"the budget {of}"
    if standing.scope == "grant":
        return f"your cap {of}"
    return f"{'your' if standing.analyst else 'the'} window {standing.window} {of}"


def notes_of(asked: PricedQuestion) -> tuple[str, ...]:
    """Say what the declared bounds did, whatever the data are."""
    from discreet.measures.reach import clamped_words, number_or_none
    from discreet.plan.aggregates import Sum

    notes = []
    for _, aggregate in asked.report.aggregates:
        if isinstance(aggregate, Sum) and aggregate.per_person is not None:
            of, words = aggregate.expressions[0], clamped_words(aggregate.per_person)
            notes.append(f"each person's total of {of!r}, of all their rows in a group, counts as {words}")
        for expression in aggregate.expressions:
            column = number_or_none(expression, asked.reach)
            if column is None or column.bounds is None:
                continue
            low, high = column.bounds
            least, most = _plain(low), _plain(high)
            notes.append(f"values of {expression!r} below {least} count as {least}, above {most} as {most}")
    if not asked.unit.is_row:
        notes += _bounded(asked)
    if asked.report.query.keys is not None:
        notes.append("rows whose key is missing or was not declared are in no group")
        if asked.selection is not None and asked.report.query.keys.room < MOST_KEYS:
            notes.append(f"of the keys that are selected the first {asked.report.query.keys.room:,} are shown")
    return tuple(dict.fromkeys([*asked.withheld, *notes]))


def _bounded(asked: PricedQuestion) -> list[str]:
    """Say which rows of people were left out, whoever they are: by the question, by their tables, by joins."""
    from discreet.ask.priced import partners_words
    from discreet.plan.stability import has_one_each

    tables, rows = asked.report.query.tables, asked.unit.max_rows
    notes = partners_words(asked.report.query.plan, tables)
    if has_one_each(asked.report.query.plan):
        return [
            *notes,
            "each person is one row, whose sums and counts are clamped to their declared bounds",
            f"{NOT_HELD}what clamping each person's sums and counts cut off",
        ]
    totals = [getattr(each, "per_person", None) is not None for _, each in asked.report.aggregates]
    if asked.unit.bound == "query" and all(totals):
        return [*notes, f"{NOT_HELD}what clamping each person's total cut off"]  # every row counts
    kept = {name: table.unit.max_rows for name, table in tables.items()}
    if asked.unit.bound == "query":
        notes.append(f"whoever has more than {rows} rows counts for {rows} of them")
    elif len(kept) == 1:
        notes += [f"{most} rows of each person were kept, once for the whole table" for most in kept.values()]
    else:
        notes += [f"{most} rows of each person were kept of {name}, once for it" for name, most in kept.items()]
    return [*notes, *_cut_off(asked)]


def _cut_off(asked: PricedQuestion) -> list[str]:
    """Say what intervals do not hold: what bounding people cut off, of rows or, where people are counted, of groups."""
    keys, unit = asked.report.query.keys, asked.unit
    found = []
    if any(each.kind != "people" for each in asked.measures):
        rows = "one row" if unit.max_rows == 1 else f"{unit.max_rows:,} rows"
        cap = asked.reach.cap()
        rows += "" if cap is None else f", and to {cap.each:,} in each group,"
        found.append(f"{NOT_HELD}what bounding each person to {rows} cut off")
    elif keys is not None and (keys.selected or unit.max_groups < keys.size):
        groups = "one group" if unit.max_groups == 1 else f"{unit.max_groups:,} groups"
        found.append(f"{NOT_HELD}what bounding each person to {groups} cut off")
    return found


def _plain(bound: object) -> str:
    return f"{float(bound):,.10g}" if isinstance(bound, Fraction) else str(bound)


# Prices are looked for among those of three digits: 900 of them in each power of ten, down to a millionth.
_DIGITS = Context(prec=3, rounding=ROUND_FLOOR)
_DECADE = 900
_LEAST = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True, repr=False)
class Remaining:
    """The limits that questions of a session have to pass, as they stand; a question has to fit all of them."""

    standings: tuple[Standing, ...]

    def __iter__(self) -> Iterator[Standing]:
        return iter(self.standings)

    def __len__(self) -> int:
        return len(self.standings)

    def __getitem__(self, place: int) -> Standing:
        return self.standings[place]

    def __str__(self) -> str:
        return "\n".join(
            f"{limit_words(each)}: {percent(share_left(each.filter))}{' of its delta' * delta_is_short(each.filter)}"
            f" left ({figures(each.filter)})"
            for each in self.standings
        )

    __repr__ = __str__


# What is left of one limit -------------------------------------------------------------------------------------------


def share_left(limit: PrivacyFilter) -> Fraction:
    """Return which part of a limit is left, of its loss or of its delta, whichever is shorter.

    Of several sums it is the one of which the greatest part is left: while it holds, questions are admitted.
    """
    figures = limit.figures
    delta = figures.budget.delta
    return min(figures.left, figures.remaining.delta / delta) if delta else figures.left


def delta_is_short(limit: PrivacyFilter) -> bool:
    """Whether less is left of a limit's delta, which few questions use, than of its loss."""
    return share_left(limit) < limit.figures.left


def percent(share: Fraction) -> str:
    """Write a share for a person, rounded down: what is said to be left is there."""
    thousandths = share * 1000 // 1
    return "less than 0.1%" if share > 0 and not thousandths else _percent(thousandths)


def percent_up(share: Fraction) -> str:
    """Write a share for a person, rounded up: what a question is said to take is enough."""
    return _percent(-(-share * 1000 // 1)) if share <= 10 else "more than 1,000%"


def _percent(thousandths: int) -> str:
    whole, tenth = divmod(thousandths, 10)
    return f"{whole:,}.{tenth}%" if tenth else f"{whole:,}%"


def declared(limit: PrivacyFilter) -> str:
    """Write the budget of a limit as it was declared: epsilon=20, delta=1e-06."""
    from discreet.ask.registered import budget_record, budget_text
    from discreet.ledger.cap import budget_of_filter

    return budget_text(budget_record(budget_of_filter(limit)))


def figures(limit: PrivacyFilter) -> str:
    """Write how much is left in the declared currency, or, where it is counted in another, what was declared."""
    return f"of {declared(limit)}" if isinstance(limit, ApproxFilter | UnionFilter) else _amounts(limit.figures)


def counted(limit: PrivacyFilter) -> str:
    """Say in what a limit is counted where that is not what was declared, with the exact figures; else nothing."""
    if isinstance(limit, UnionFilter):
        held = "; ".join(_state(each, found) for each, found in limit.states)
        return f"counted in {len(limit.sums)} sums, of which one has to hold: {held}{_pool(limit)}"
    if not isinstance(limit, ApproxFilter):
        return ""
    order = rounded_up(Fraction(limit.alpha))
    left = _amounts(limit.figures).replace(f" {limit.currency}", " left")
    return f"counted in {limit.currency} of order {order}, in which questions add up: {left}"


def _state(counting: FilterSum, found: Figures | None) -> str:
    if found is None:
        return f"{counting.currency} has ended"
    return f"{rounded_down(found.remaining.loss)} of {rounded_down(counting.room)} {counting.currency} left"


def _pool(limit: UnionFilter) -> str:
    left = max(Fraction(0), Fraction(limit.pool) - limit.spent.delta)
    return f"; delta {rounded_down(left)} of {rounded_down(Fraction(limit.pool))} for approximate parts"


def _amounts(limit: Figures) -> str:
    left, budget = limit.remaining, limit.budget
    delta = f", delta {rounded_down(left.delta)} of {rounded_down(budget.delta)}" if budget.delta else ""
    return f"{rounded_down(left.loss)} of {rounded_down(budget.loss)} {limit.currency}{delta}"


# What that is enough for ---------------------------------------------------------------------------------------------


def enough_for(times: int) -> str:
    """Say how many more questions like one fit."""
    enough = "no more questions" if not times else "1 more question" if times == 1 else f"{times:,} more questions"
    return f"{enough} like this one"


def left_after(query: QueryBase, loss: PrivacyLoss) -> str:
    """Say what is left now of the limit that will be the first to refuse more questions of such a loss.

    Nothing is said where the vault cannot be read: the answer, which is paid, matters more.
    """
    with suppress(Refusal):
        standings = query.desk.access.standings(query.accounts)
        first = min(standings, key=lambda each: (each.filter.more(loss), share_left(each.filter)))
        of = "the delta of " * delta_is_short(first.filter)
        left = f"{percent(share_left(first.filter))} of {of}{limit_words(first)}"
        return f"{left} ({enough_for(first.filter.more(loss))})"
    return ""


# What would fit ------------------------------------------------------------------------------------------------------


def reworded(refusal: LimitExceeded, question: PricedQuestion, max_rows: Rows) -> None:
    """Say a refusal in the terms of the budget, with the price at which the same question would be admitted."""
    loss, query = question.loss, question.report.query
    standings = query.desk.access.standings(query.accounts)
    refusing = [each for each in standings if each.account == refusal.account and _refused(refusal, each.filter, loss)]
    if not refusing:  # it changed since: a window began anew, or others have paid
        return
    least = refusing[0]
    what = f"{limit_words(least)}: {question.price} requested"
    name, found = _paid(question.price)[0], fitting(question, max_rows, standings)
    fix = f"{name}={found} would fit" if found else none_fits(question, standings)
    why = f"{too_little(least.filter, loss)}: {enough_for(0)} ({refusal.theorem})"
    refusal.reword(what, why=why, fix=fix, offer={name: found} if found else {})


def _refused(refusal: LimitExceeded, limit: PrivacyFilter, loss: PrivacyLoss) -> bool:
    """Whether it is this limit that a refusal speaks of, by its exact amounts."""
    try:
        limit.admit(loss)
    except BudgetExceeded as own:
        amounts = (own.currency, own.requested, own.remaining)
        return amounts == (refusal.currency, refusal.requested, refusal.remaining)
    return False


def none_fits(question: PricedQuestion, standings: Sequence[Standing]) -> str:
    """Say that no price would be admitted, and what else may be done."""
    loss = question.loss
    delta = any(_refusal(each.filter, loss).currency == "delta" for each in standings if not each.filter.fits(loss))
    said = f"no {_paid(question.price)[0]} would fit{' with this delta' * delta}"
    return f"{said}; ask the custodian for more, or ask again what was answered before, which is free"


def too_little(limit: PrivacyFilter, loss: PrivacyLoss) -> str:
    """Say how much of a limit a question takes, and how much of it there is."""
    refusal = _refusal(limit, loss)
    if refusal.currency == "delta" or not isinstance(limit, ApproxFilter | UnionFilter):
        return _short(refusal.currency, refusal.requested, refusal.remaining, refusal.budget)
    takes = percent_up(refusal.requested / refusal.budget)
    return f"it takes {takes} of {declared(limit)}, and {percent(refusal.remaining / refusal.budget)} is left"


def _refusal(limit: PrivacyFilter, loss: PrivacyLoss) -> BudgetExceeded:
    """Return the refusal of a question by a limit that has no room for it."""
    try:
        limit.admit(loss)
    except BudgetExceeded as refusal:
        return refusal
    raise AssertionError("the limit admits it")


def _short(currency: str, cost: Fraction, left: Fraction, budget: Fraction) -> str:
    return f"{rounded_down(left)} of {rounded_down(budget)} {currency} remains, {rounded_up(cost - left)} too little"


def fitting(question: PricedQuestion, max_rows: Rows, standings: Sequence[Standing]) -> str | None:
    """Return a price of three digits at which all limits admit the same question, and hardly a larger one; else None.

    What is returned was tried. Small prices may be refused where larger ones are not: with a delta Gaussian noise is
    the better at some of them, and a budget of epsilon alone has no room for it. So prices are halved until one fits,
    and only the gap above that is bisected.
    """
    if any(each.filter.figures.remaining.loss <= 0 for each in standings):
        return None
    _, wanted = _paid(question.price)
    high = _place(min(wanted, _most(standings))) + 1
    least = min(_LEAST, wanted / 10**6)
    low = high - 1
    while not _fits(question, _at(low), max_rows, standings):
        low, high = _place(_at(low) / 2), low
        if _at(low) < least:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(question, _at(middle), max_rows, standings) else (low, middle)
    return rounded_down(_at(low))


def _most(standings: Sequence[Standing]) -> Fraction:
    """Return a price that is far too high for limits of these budgets, from which to come down."""
    return 10 * (1 + max(each.filter.figures.budget.loss for each in standings))


def _fits(question: PricedQuestion, amount: Fraction, max_rows: Rows, standings: Sequence[Standing]) -> bool:
    from discreet.ask.priced import asked

    price = question.price
    tried = replace(price, epsilon=amount) if price.epsilon is not None else replace(price, rho=amount)
    try:
        loss = asked(question.report, tried, max_rows).loss
        return all(each.filter.fits(loss) for each in standings)
    except Refusal:  # a price for which there is no such noise
        return False


def _paid(price: Price) -> tuple[str, Fraction]:
    if price.epsilon is not None:
        return "epsilon", price.epsilon
    assert price.rho is not None
    return "rho", price.rho


def _place(amount: Fraction) -> int:
    """Return the place of the largest number of three digits that is not above an amount."""
    digits = _DIGITS.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    power = digits.adjusted() - 2
    return power * _DECADE + int(digits.scaleb(-power)) - 100


def _at(place: int) -> Fraction:
    power, digits = divmod(place, _DECADE)
    return (100 + digits) * Fraction(10) ** power
