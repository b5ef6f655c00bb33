"""Words: limits, and what declared bounds did, as people say them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.plan.keys import MOST_KEYS

if TYPE_CHECKING:
    from discreet.ask.priced import PricedQuestion
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
    from discreet.measures.reach import number_or_none

    notes = []
    for _, aggregate in asked.report.aggregates:
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
    return tuple(dict.fromkeys(notes))


def _bounded(asked: PricedQuestion) -> list[str]:
    """Say which rows of people were left out, whoever they are: by the question, by their tables, by joins."""
    from discreet.ask.stability_words import partners_words

    tables, rows = asked.report.query.tables, asked.unit.max_rows
    notes = partners_words(asked.report.query.plan, tables)
    if asked.unit.bound == "query":
        return [*notes, f"whoever has more than {rows} rows counts for {rows} of them"]
    kept = {name: table.unit.max_rows for name, table in tables.items()}
    if len(kept) == 1:
        return [*notes, *(f"{most} rows of each person were kept, once for the whole table" for most in kept.values())]
    return [*notes, *(f"{most} rows of each person were kept of {name}, once for it" for name, most in kept.items())]


def _plain(bound: object) -> str:
    return f"{float(bound):,.10g}" if isinstance(bound, Fraction) else str(bound)
